import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tasks that are created by themselves, at times or after events on GitHub. */
export class Automations1770422400000 implements MigrationInterface {
  name = 'Automations1770422400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table automations (
        id text primary key,
        project_id text not null references projects on delete cascade,
        name text not null,
        trigger jsonb not null,
        task jsonb not null,
        enabled boolean not null default true,
        most_per_day integer not null default 10,
        changed_by text references users on delete set null,
        next_at timestamptz,
        last_task_id text references tasks on delete set null,
        last_at timestamptz,
        last_problem text,
        paused_reason text,
        paused_at timestamptz,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        check (next_at is null or enabled),
        check (paused_reason is null or not enabled),
        check ((paused_reason is null) = (paused_at is null))
      );
      create index automations_project on automations (project_id);
      create index automations_due on automations (next_at) where next_at is not null;
      create index automations_paused on automations (project_id) where paused_reason is not null;
      create index automations_repository on automations ((task->>'repositoryId')) where enabled;
      create index automations_changed_by on automations (changed_by);
      create index automations_last_task on automations (last_task_id);

      -- What made an automation create a task: a time, an event or a person. Each does so once.
      create table automation_causes (
        automation_id text not null references automations on delete cascade,
        cause text not null,
        at timestamptz not null,
        -- Null if no task was made, or if it was deleted.
        task_id text references tasks on delete set null,
        is_made boolean not null,
        -- 1, or one more than that of the automation whose task led to the event.
        depth integer not null,
        primary key (automation_id, cause)
      );
      create index automation_causes_at on automation_causes (automation_id, at);
      create index automation_causes_old on automation_causes (at);
      create index automation_causes_task on automation_causes (task_id);

      alter table project_events drop constraint project_events_kind_check,
        add constraint project_events_kind_check
          check (kind in ('task', 'run', 'sprint', 'inbox', 'chat', 'plan', 'automation'));
      create function note_automation_event() returns trigger language plpgsql as $$
      declare changed record := coalesce(new, old);
      begin
        insert into project_events (project_id, kind, object_id, status)
          values (changed.project_id, 'automation', changed.id, case when tg_op = 'DELETE' then 'deleted'
            when changed.paused_reason is not null then 'paused' when changed.enabled then 'enabled' else 'disabled' end);
        perform pg_notify('changes', 'project ' || changed.project_id);
        -- One that was switched off is in the inbox of the admins.
        if old.paused_reason is distinct from new.paused_reason then
          perform pg_notify('changes', 'inbox ' || m.user_id) from members m
            where m.project_id = changed.project_id and m.role in ('admin', 'owner');
        end if;
        return null;
      end $$;
      create trigger automations_event after insert or update or delete on automations
        for each row execute function note_automation_event();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table automation_causes, automations;
      drop function note_automation_event();
      delete from project_events where kind = 'automation';
      alter table project_events drop constraint project_events_kind_check,
        add constraint project_events_kind_check check (kind in ('task', 'run', 'sprint', 'inbox', 'chat', 'plan'));`);
  }
}
