import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit log: one record for each change that a person makes and for each status that the system gives a task. */
export class Audit1765497600000 implements MigrationInterface {
  name = 'Audit1765497600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table audit_records (
        id text primary key,
        -- The order of the records.
        number bigint generated always as identity unique,
        at timestamptz not null default clock_timestamp(),
        -- Without foreign keys, because a record outlives what it is about.
        project_id text,
        actor_id text,
        actor_login text,
        via text not null check (via in ('token', 'session', 'comment', 'label', 'review', 'system')),
        action text not null,
        object_type text not null,
        object_id text not null,
        detail jsonb not null default '{}'
      );
      create index audit_records_project on audit_records (project_id, number);
      create index audit_records_at on audit_records (at);

      create function keep_audit_record() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' and current_setting('deckhand.audit_retention', true) = 'on'
           and old.at < now() - interval '1 day' then
          return old;
        end if;
        raise exception 'the audit log is append-only: % is refused', tg_op using errcode = 'insufficient_privilege';
      end $$;
      create trigger audit_records_kept before update or delete on audit_records
        for each row execute function keep_audit_record();
      create trigger audit_records_not_truncated before truncate on audit_records
        for each statement execute function keep_audit_record();

      -- The only way to delete records. The setting is in force while the function runs. As an attribute of the function
      -- it would need a superuser.
      create function delete_old_audit_records(days integer, most integer) returns integer language plpgsql as $$
      declare deleted integer;
      begin
        perform set_config('deckhand.audit_retention', 'on', true);
        delete from audit_records where id in (
          select id from audit_records where at < now() - make_interval(days => days) order by at limit most);
        get diagnostics deleted = row_count;
        perform set_config('deckhand.audit_retention', 'off', true);
        return deleted;
      end $$;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop function delete_old_audit_records;
      drop table audit_records;
      drop function keep_audit_record`);
  }
}
