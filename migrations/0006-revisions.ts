import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Revisions that people, reviews and checks asked for, until a run takes them up. */
export class Revisions1764115200000 implements MigrationInterface {
  name = 'Revisions1764115200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table revisions (
        id text primary key,
        task_id text not null references tasks on delete cascade,
        source text not null check (source in ('person', 'review', 'checks', 'conflict')),
        -- Each cause counts once, even if it is reported several times.
        cause text unique,
        text text not null,
        asked_by text references users on delete set null,
        -- The run that took it up; none again when that run fails or is cancelled.
        run_id text references runs on delete set null,
        -- On GitHub the review that asked was answered.
        answered_at timestamptz,
        created_at timestamptz not null default now()
      );
      create index revisions_task on revisions (task_id, created_at);
      create index revisions_run on revisions (run_id);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table revisions');
  }
}
