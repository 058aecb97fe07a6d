import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The changes that event streams report, kept for a while, and the notifications that announce them. */
export class Live1764374400000 implements MigrationInterface {
  name = 'Live1764374400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table project_events (
        id bigint generated always as identity primary key,
        project_id text not null,
        kind text not null check (kind in ('task', 'run', 'sprint')),
        object_id text not null,
        status text not null,
        -- Ids are assigned when a change is made, but become visible when it commits. The number of its transaction
        -- shows whether changes with lower ids may still appear.
        xid xid8 not null default pg_current_xact_id(),
        at timestamptz not null default clock_timestamp()
      );
      create index project_events_project on project_events (project_id, xid);
      create index project_events_at on project_events (at);

      -- By triggers, so that no way to change something is forgotten. Whoever listens reads the table: the notification
      -- says only where to look.
      create function note_project_event() returns trigger language plpgsql as $$
      declare changed record := coalesce(new, old);
      begin
        insert into project_events (project_id, kind, object_id, status)
          values (changed.project_id, tg_argv[0], changed.id, case when tg_op = 'DELETE' then 'deleted' else changed.status end);
        perform pg_notify('changes', 'project ' || changed.project_id);
        return null;
      end $$;
      create trigger tasks_event after insert or update or delete on tasks
        for each row execute function note_project_event('task');
      create trigger sprints_event after insert or update or delete on sprints
        for each row execute function note_project_event('sprint');
      create trigger runs_event after insert or update of status, steps on runs
        for each row execute function note_project_event('run');

      create function note_run_event() returns trigger language plpgsql as $$
      begin
        perform pg_notify('changes', 'run ' || new.run_id);
        return null;
      end $$;
      create trigger run_events_event after insert on run_events for each row execute function note_run_event();
      create function note_run_end() returns trigger language plpgsql as $$
      begin
        perform pg_notify('changes', 'run ' || new.id);
        return null;
      end $$;
      create trigger runs_end after update of status on runs for each row execute function note_run_end();

      create table chat_messages (
        id text primary key,
        -- The task or sprint that is talked about.
        task_id text references tasks on delete cascade,
        sprint_id text references sprints on delete cascade,
        -- A summary stands for everything before it.
        role text not null check (role in ('user', 'assistant', 'summary')),
        user_id text references users on delete set null,
        content text not null,
        -- For a summary: that of the last message it stands for.
        at timestamptz not null default clock_timestamp(),
        check (num_nonnulls(task_id, sprint_id) = 1)
      );
      create index chat_messages_task on chat_messages (task_id, at);
      create index chat_messages_sprint on chat_messages (sprint_id, at);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table chat_messages;
      drop trigger runs_end on runs;
      drop trigger run_events_event on run_events;
      drop trigger runs_event on runs;
      drop trigger sprints_event on sprints;
      drop trigger tasks_event on tasks;
      drop function note_run_end, note_run_event, note_project_event;
      drop table project_events;`);
  }
}
