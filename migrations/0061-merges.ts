import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What GitHub does to merge pull requests when they are ready: its auto-merge, and its merge queue. */
export class Merges1768867200000 implements MigrationInterface {
  name = 'Merges1768867200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table merges (
        repository_id text not null,
        number integer not null,
        -- Null when GitHub does not merge it now, because that was taken back or dropped, or is about to begin.
        state text check (state in ('waiting', 'queued')),
        since timestamptz,
        reason text,
        -- Who asked for it here; null when somebody asked on GitHub.
        asked_by text references users on delete set null,
        -- The commit that they asked for.
        head_sha text,
        -- How many times the branch was brought up to date since.
        updates integer not null default 0,
        -- Why GitHub, or we, stopped it.
        dropped text,
        primary key (repository_id, number),
        foreign key (repository_id, number) references pull_requests on delete cascade,
        check ((state is null) = (since is null) and (state is null) = (reason is null))
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table merges;');
  }
}
