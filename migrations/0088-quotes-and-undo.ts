import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tasks that undo another one, and what tasks were expected to cost before they started. */
export class QuotesAndUndo1771113600000 implements MigrationInterface {
  name = 'QuotesAndUndo1771113600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The task whose merged pull requests this one reverts.
      alter table tasks add column undo_of text references tasks on delete set null;
      create index tasks_undo_of on tasks (undo_of) where undo_of is not null;

      -- The pull requests that a task reverts, the one that was merged last first.
      create table undone_pulls (
        -- The task that reverts them.
        task_id text not null references tasks on delete cascade,
        place integer not null check (place >= 0),
        repository_id text not null references repositories on delete cascade,
        number integer not null,
        url text not null,
        -- The branch into which it was merged.
        base text not null,
        primary key (task_id, place),
        unique (task_id, repository_id, number)
      );
      create index undone_pulls_repository on undone_pulls (repository_id, number);

      -- What was expected of a run when it was started: half of such runs, and four of five, need no more than this.
      create table quotes (
        run_id text primary key references runs on delete cascade,
        project_id text not null references projects on delete cascade,
        cost_p50 double precision,
        cost_p80 double precision,
        minutes_p50 double precision,
        minutes_p80 double precision,
        -- The number of finished tasks behind it.
        from_tasks integer not null,
        created_at timestamptz not null default now(),
        check ((cost_p50 is null) = (cost_p80 is null)),
        check ((minutes_p50 is null) = (minutes_p80 is null))
      );
      create index quotes_project on quotes (project_id, created_at);

      -- The finished tasks of a project, the latest first.
      create index tasks_finished on tasks (project_id, done_at desc) where status = 'done' and not hidden;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index tasks_finished;
      drop table quotes, undone_pulls;
      alter table tasks drop column undo_of;`);
  }
}
