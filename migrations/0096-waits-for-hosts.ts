import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Runs wait for a git host, or GitHub, that is unavailable for longer than a run may hold its slot. */
export class WaitsForHosts1771804800000 implements MigrationInterface {
  name = 'WaitsForHosts1771804800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table runs drop constraint runs_wait_reason_check,
        add constraint runs_wait_reason_check
          check (wait_reason in ('plan', 'question', 'push', 'paused', 'model', 'host')),
        -- The host for which the run waits, or waited last; null if its wait ends only at a time.
        add column wait_host text,
        -- Pauses for a host since the last turn, and since when no step has succeeded.
        add column host_pauses integer not null default 0,
        add column host_away_since timestamptz;
      create index runs_waiting_for_host on runs (wait_host) where status = 'waiting' and wait_reason = 'host';
      -- A run that waits for its model or for a host needs no person.
      create or replace function reason_of_run(status text, wait_reason text) returns text language sql immutable as $$
        select case when status = 'waiting' and wait_reason not in ('model', 'host') then wait_reason end
      $$;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create or replace function reason_of_run(status text, wait_reason text) returns text language sql immutable as $$
        select case when status = 'waiting' and wait_reason <> 'model' then wait_reason end
      $$;
      drop index runs_waiting_for_host;
      -- They continue, and fail if the host is still unavailable.
      update runs set status = 'queued', resume_at = null, wait_id = null, wait_reason = null, wait_text = null,
        wait_options = null, waiting_since = null where wait_reason = 'host';
      alter table runs drop column host_away_since, drop column host_pauses, drop column wait_host,
        drop constraint runs_wait_reason_check,
        add constraint runs_wait_reason_check check (wait_reason in ('plan', 'question', 'push', 'paused', 'model'));`);
  }
}
