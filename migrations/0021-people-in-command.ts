import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What people say to runs, and pauses that people ask for. */
export class PeopleInCommand1765411200000 implements MigrationInterface {
  name = 'PeopleInCommand1765411200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- What people say to a run. Its agent reads it before its next turn.
      create table run_messages (
        id text primary key,
        run_id text not null references runs on delete cascade,
        -- As the model reads it, with who said it.
        text text not null,
        said_by text references users on delete set null,
        at timestamptz not null default clock_timestamp(),
        -- The turn before which the model read it; null until then.
        turn integer
      );
      create index run_messages_unread on run_messages (run_id, at) where turn is null;
      -- Why a running run pauses before its next turn; null unless somebody asked for it.
      alter table runs add column pause_text text;
      create index runs_waiting_since on runs (waiting_since) where status = 'waiting';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index runs_waiting_since;
      alter table runs drop column pause_text;
      drop table run_messages;`);
  }
}
