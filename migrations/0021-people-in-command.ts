import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What people say to runs, pauses that people ask for, plans and changes that people approve. */
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
      create table plans (
        -- The id of the wait for its approval.
        id text primary key,
        task_id text not null references tasks on delete cascade,
        run_id text not null references runs on delete cascade,
        markdown text not null,
        files jsonb not null,
        checks jsonb not null,
        at timestamptz not null default now(),
        approved_at timestamptz,
        approved_by text references users on delete set null
      );
      create index plans_task on plans (task_id, approved_at);
      -- Null for the setting of the repository.
      alter table tasks add column plan_first boolean;
      -- Changes that wait for approval, or were approved. A run pushes exactly what was approved.
      create table held_changes (
        run_id text primary key references runs on delete cascade,
        task_id text not null references tasks on delete cascade,
        -- The git trees by the id of their repository.
        trees jsonb not null,
        -- What GET /tasks/:id/diff shows meanwhile.
        branch_name text not null,
        base_branch text not null,
        files jsonb not null,
        truncated boolean not null,
        at timestamptz not null default now(),
        approved_at timestamptz,
        approved_by text references users on delete set null
      );
      create index held_changes_task on held_changes (task_id);
      alter table projects add column push text not null default 'free' check (push in ('free', 'approved'));
      create index runs_waiting_since on runs (waiting_since) where status = 'waiting';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index runs_waiting_since;
      alter table projects drop column push;
      drop table held_changes;
      alter table tasks drop column plan_first;
      drop table plans;
      alter table runs drop column pause_text;
      drop table run_messages;`);
  }
}
