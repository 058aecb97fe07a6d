import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The person who is responsible for a task. */
export class ResponsiblePeople1771545600000 implements MigrationInterface {
  name = 'ResponsiblePeople1771545600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tasks
        add column responsible text,
        -- Whether a person chose who is responsible. Otherwise it is whoever started the task last.
        add column responsible_chosen boolean not null default false,
        -- Whoever leaves the project is responsible for none of its tasks, however they leave.
        add constraint tasks_responsible foreign key (project_id, responsible)
          references members (project_id, user_id) on delete set null (responsible);
      -- Nobody has to hear of the new column.
      alter table tasks disable trigger user;
      update tasks t set responsible = s.started_by
      from (select distinct on (r.task_id) r.task_id, r.started_by from runs r
        where r.kind in ('start', 'retry', 'rewind') and not r.is_automatic and r.started_by is not null
        order by r.task_id, r.created_at desc, r.id desc) s
      where s.task_id = t.id
        and exists (select 1 from members m where m.project_id = t.project_id and m.user_id = s.started_by);
      alter table tasks enable trigger user;
      create index tasks_responsible on tasks (project_id, responsible) where responsible is not null;

      create or replace function note_inbox_of_task() returns trigger language plpgsql as $$
      declare
        changed record := coalesce(new, old);
        before text := reason_of_task(old.status, old.failure);
        after text := reason_of_task(new.status, new.failure);
      begin
        -- A run that waits needs another person, too, if another one becomes responsible.
        if after is null and old.responsible is distinct from new.responsible then
          select reason_of_run(r.status, r.wait_reason) into after from runs r
            where r.task_id = new.id and r.status = 'waiting';
        end if;
        if before is distinct from after
          or after is not null and (old.title, old.status_since, old.responsible)
            is distinct from (new.title, new.status_since, new.responsible)
        then perform note_inbox_event(changed.project_id, changed.id, after); end if;
        return null;
      end $$;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create or replace function note_inbox_of_task() returns trigger language plpgsql as $$
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
      alter table tasks drop column responsible, drop column responsible_chosen;`);
  }
}
