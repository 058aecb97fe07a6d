import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Budgets of tasks, runs that continue a conversation, and the inbox: the tasks that need a person. */
export class NeedsAPerson1765584000000 implements MigrationInterface {
  name = 'NeedsAPerson1765584000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tasks
        add column budget jsonb,
        -- Since when the task has its status.
        add column status_since timestamptz not null default now();
      -- Nobody has to hear of the new column.
      alter table tasks disable trigger tasks_event;
      update tasks t set status_since = coalesce(t.done_at,
        (select max(r.finished_at) from runs r where r.task_id = t.id), t.updated_at);
      alter table tasks enable trigger tasks_event;
      -- The run whose conversation this one continues.
      alter table runs add column continues_run_id text references runs on delete set null;
      create index runs_continues on runs (continues_run_id) where continues_run_id is not null;

      create index tasks_failed on tasks (project_id) where failure is not null;
      create index runs_awaiting on runs (project_id) where status = 'waiting';

      -- Why a task needs a person while no run of it waits; null when it does not.
      create function reason_of_task(status text, failure jsonb) returns text language sql immutable as $$
        select case when failure is not null then 'failed' when status = 'in_review' then 'review' end
      $$;
      -- Why a run needs a person. A run that waits for its model does not.
      create function reason_of_run(status text, wait_reason text) returns text language sql immutable as $$
        select case when status = 'waiting' and wait_reason <> 'model' then wait_reason end
      $$;

      alter table project_events drop constraint project_events_kind_check,
        add constraint project_events_kind_check check (kind in ('task', 'run', 'sprint', 'inbox'));

      -- Each member also gets a notification of their own, so that one stream covers all projects of a person.
      create function note_inbox_event(project text, task text, reason text) returns void language plpgsql as $$
      begin
        insert into project_events (project_id, kind, object_id, status)
          values (project, 'inbox', task, coalesce(reason, 'done'));
        perform pg_notify('changes', 'project ' || project);
        perform pg_notify('changes', 'inbox ' || m.user_id) from members m where m.project_id = project;
      end $$;

      create function note_inbox_of_task() returns trigger language plpgsql as $$
      declare
        changed record := coalesce(new, old);
        before text := reason_of_task(old.status, old.failure);
        after text := reason_of_task(new.status, new.failure);
      begin
        if before is distinct from after
          or after is not null and (old.title, old.status_since) is distinct from (new.title, new.status_since)
        then perform note_inbox_event(changed.project_id, changed.id, after); end if;
        return null;
      end $$;
      create trigger tasks_inbox after insert or update or delete on tasks
        for each row execute function note_inbox_of_task();

      create function note_inbox_of_run() returns trigger language plpgsql as $$
      declare
        before text := reason_of_run(old.status, old.wait_reason);
        after text := reason_of_run(new.status, new.wait_reason);
      begin
        if before is distinct from after or after is not null and old.wait_id is distinct from new.wait_id
        then perform note_inbox_event(new.project_id, new.task_id, after); end if;
        return null;
      end $$;
      create trigger runs_inbox after update of status, wait_id on runs
        for each row execute function note_inbox_of_run();

      create function note_inbox_of_member() returns trigger language plpgsql as $$
      declare changed record := coalesce(new, old);
      begin
        perform pg_notify('changes', 'inbox ' || changed.user_id);
        return null;
      end $$;
      create trigger members_inbox after insert or delete on members
        for each row execute function note_inbox_of_member();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger members_inbox on members;
      drop trigger runs_inbox on runs;
      drop trigger tasks_inbox on tasks;
      drop function note_inbox_of_member(), note_inbox_of_run(), note_inbox_of_task(),
        note_inbox_event(text, text, text), reason_of_run(text, text), reason_of_task(text, jsonb);
      delete from project_events where kind = 'inbox';
      alter table project_events drop constraint project_events_kind_check,
        add constraint project_events_kind_check check (kind in ('task', 'run', 'sprint'));
      drop index runs_awaiting, tasks_failed, runs_continues;
      alter table runs drop column continues_run_id;
      alter table tasks drop column status_since, drop column budget;`);
  }
}
