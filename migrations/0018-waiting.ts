import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Runs that wait, and what the prompts of a run leave out of its conversation. */
export class Waiting1765152000000 implements MigrationInterface {
  name = 'Waiting1765152000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table runs
        add column wait_id text,
        add column wait_reason text check (wait_reason in ('plan', 'question', 'push', 'paused', 'model')),
        add column wait_text text,
        add column wait_options jsonb,
        add column waiting_since timestamptz,
        add column resume_at timestamptz,
        add column waited_seconds integer not null default 0,
        add column model_pauses integer not null default 0,
        add column model_pause_seconds integer not null default 0,
        drop constraint runs_status_check,
        add constraint runs_status_check
          check (status in ('queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled')),
        add constraint runs_wait_check check (status <> 'waiting'
          or num_nulls(wait_id, wait_reason, wait_text, wait_options, waiting_since) = 0);
      drop index runs_live_task;
      create unique index runs_live_task on runs (task_id) where status in ('queued', 'running', 'waiting');
      create index runs_resume on runs (resume_at) where status = 'waiting';

      create table run_contexts (
        run_id text primary key references runs on delete cascade,
        -- The first messages of the conversation. json, because jsonb would reorder the keys, and a prompt that changed
        -- by a byte is not read from the model server's cache.
        opening json not null,
        -- Which messages prompts leave out, and the summary in their place.
        cut json,
        -- The length that the model accepts, learned from its refusals.
        limit_chars integer
      );
      -- For the same reason, and because what a server sent is sent back unchanged.
      alter table run_turns alter column messages type json using messages::json;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table run_turns alter column messages type jsonb using messages::jsonb;
      drop table run_contexts;
      update runs set status = 'failed', finished_at = now() where status = 'waiting';
      drop index runs_resume, runs_live_task;
      create unique index runs_live_task on runs (task_id) where status in ('queued', 'running');
      alter table runs
        drop constraint runs_wait_check,
        drop constraint runs_status_check,
        add constraint runs_status_check check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
        drop column wait_id, drop column wait_reason, drop column wait_text, drop column wait_options,
        drop column waiting_since, drop column resume_at, drop column waited_seconds, drop column model_pauses,
        drop column model_pause_seconds;`);
  }
}
