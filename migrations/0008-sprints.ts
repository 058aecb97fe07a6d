import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sprints, and the history from which their figures are computed. */
export class Sprints1764288000000 implements MigrationInterface {
  name = 'Sprints1764288000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table sprints (
        id text primary key,
        project_id text not null references projects on delete cascade,
        name text not null,
        goal text not null default '',
        status text not null check (status in ('planning', 'active', 'completed', 'cancelled')),
        start_date date not null,
        end_date date not null check (end_date >= start_date),
        started_by text references users on delete set null,
        created_at timestamptz not null default now(),
        started_at timestamptz,
        ended_at timestamptz
      );
      create index sprints_project on sprints (project_id, created_at desc, id desc);
      create unique index sprints_one_active on sprints (project_id) where status = 'active';

      alter table tasks add column sprint_id text references sprints on delete set null;
      create index tasks_sprint on tasks (sprint_id, created_at desc, id desc);

      -- What a task was in its sprint from that moment on; without a status it was not in it. No reference to the task:
      -- what is deleted still counts in the past.
      create table sprint_history (
        id bigint generated always as identity primary key,
        sprint_id text not null references sprints on delete cascade,
        task_id text not null,
        status text,
        at timestamptz not null default clock_timestamp()
      );
      create index sprint_history_task on sprint_history (sprint_id, task_id, at, id);

      -- By a trigger, so that no way to change a task, cascades included, is forgotten. A sprint that has ended gets no
      -- more history, which is what freezes its figures.
      create function note_sprint_history() returns trigger language plpgsql as $$
      begin
        if tg_op <> 'INSERT' and old.sprint_id is not null and (tg_op = 'DELETE' or new.sprint_id is distinct from old.sprint_id) then
          insert into sprint_history (sprint_id, task_id) select id, old.id from sprints where id = old.sprint_id and ended_at is null;
        end if;
        if tg_op <> 'DELETE' and new.sprint_id is not null
            and (tg_op = 'INSERT' or new.sprint_id is distinct from old.sprint_id or new.status <> old.status) then
          insert into sprint_history (sprint_id, task_id, status)
            select id, new.id, new.status from sprints where id = new.sprint_id and ended_at is null;
        end if;
        return null;
      end $$;
      create trigger tasks_sprint_history after insert or delete or update of status, sprint_id on tasks
        for each row execute function note_sprint_history();

      create table digests (
        sprint_id text primary key references sprints on delete cascade,
        created_at timestamptz not null default now(),
        markdown text not null,
        completed jsonb not null,
        carried_over jsonb not null,
        failed jsonb not null,
        cost_usd numeric not null
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table digests;
      drop trigger tasks_sprint_history on tasks;
      drop function note_sprint_history;
      drop table sprint_history;
      alter table tasks drop column sprint_id;
      drop table sprints;`);
  }
}
