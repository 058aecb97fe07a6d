import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Checks whose result differed between two tries on the same files. */
export class FlakyCommands1770854500000 implements MigrationInterface {
  name = 'FlakyCommands1770854500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- How often two tries of a check on the same files were compared, and how often they differed.
      create table compared_checks (
        repository_id text not null references repositories on delete cascade,
        command text not null,
        seen integer not null default 0,
        compared integer not null default 0,
        -- When they differed last.
        last_at timestamptz,
        -- The single tests that differed last, where the output names them.
        tests jsonb not null default '[]',
        -- The commit on which a check of another service differed last, so that it counts once.
        last_sha text,
        primary key (repository_id, command),
        check ((seen = 0) = (last_at is null))
      );
      create index compared_checks_flaky on compared_checks (repository_id, last_at desc) where seen > 0;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table compared_checks');
  }
}
