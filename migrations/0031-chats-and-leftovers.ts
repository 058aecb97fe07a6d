import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Chats are shared: each answer is an event of the project's stream. What deleted tasks show on GitHub is removed later, and
 * the text of issues is compared with that of their tasks.
 */
export class ChatsAndLeftovers1766275200000 implements MigrationInterface {
  name = 'ChatsAndLeftovers1766275200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table project_events drop constraint project_events_kind_check,
        add constraint project_events_kind_check check (kind in ('task', 'run', 'sprint', 'inbox', 'chat'));

      -- The object is the task or the sprint that the chat is about, and the status says which of the two.
      create function note_chat_event() returns trigger language plpgsql as $$
      declare project text;
      begin
        select coalesce((select t.project_id from tasks t where t.id = new.task_id),
          (select s.project_id from sprints s where s.id = new.sprint_id)) into project;
        insert into project_events (project_id, kind, object_id, status)
          values (project, 'chat', coalesce(new.task_id, new.sprint_id),
            case when new.task_id is null then 'sprint' else 'task' end);
        perform pg_notify('changes', 'project ' || project);
        return null;
      end $$;
      create trigger chat_messages_event after insert on chat_messages
        for each row when (new.role = 'assistant') execute function note_chat_event();

      -- What deleted tasks left on GitHub. The tasks are gone, so this table has no reference to them.
      create table leftovers (
        task_id text not null,
        repository_id text not null references repositories on delete cascade,
        -- The number of an issue or pull request; 0 for a branch alone.
        number int not null,
        branch text,
        comment_id bigint,
        milestone int,
        at timestamptz not null default now(),
        primary key (task_id, repository_id, number)
      );
      create index leftovers_repository on leftovers (repository_id);
      create index leftovers_at on leftovers (at);

      -- What the issue of a task said when it was last read; null while that is unknown. If it
      -- differs from the task only in characters that GitHub changes, these columns have the words of the task.
      alter table tasks add column issue_title text, add column issue_body text;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tasks drop column issue_body, drop column issue_title;
      drop table leftovers;
      drop trigger chat_messages_event on chat_messages;
      drop function note_chat_event();
      delete from project_events where kind = 'chat';
      alter table project_events drop constraint project_events_kind_check,
        add constraint project_events_kind_check check (kind in ('task', 'run', 'sprint', 'inbox'));`);
  }
}
