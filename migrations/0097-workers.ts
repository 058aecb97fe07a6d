import type { MigrationInterface, QueryRunner } from 'typeorm';

const behind = `('prove', 'harvest', 'trial')`;

/** Repositories say on which workers their runs are executed, by labels. */
export class Workers1771891200000 implements MigrationInterface {
  name = 'Workers1771891200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table repositories add column runs_on text[] not null default '{}';
      -- The labels that a worker must have to claim the run; as far as they are known before it reads the settings.
      alter table runs add column runs_on text[] not null default '{}';
      create function take_labels() returns trigger language plpgsql as $$
      begin
        new.runs_on := coalesce((select p.runs_on from tasks t join repositories p on p.id = t.repository_id
          where t.id = new.task_id), '{}');
        return new;
      end $$;
      create trigger runs_labels before insert on runs for each row execute function take_labels();

      drop index runs_queued_by_agent, runs_queued_behind_by_project;
      create index runs_queued_by_agent on runs (project_id, coalesce(agent_id, ''), runs_on, created_at, id)
        where status = 'queued' and kind not in ${behind};
      create index runs_queued_behind_by_project on runs (project_id, runs_on, created_at, id)
        where status = 'queued' and kind in ${behind};

      -- The workers that are running, and their labels. A worker that has stopped is not seen any more.
      create table workers (
        id text primary key,
        labels text[] not null,
        seen_at timestamptz not null default now()
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table workers;
      drop index runs_queued_behind_by_project, runs_queued_by_agent;
      create index runs_queued_by_agent on runs (project_id, coalesce(agent_id, ''), created_at, id)
        where status = 'queued' and kind not in ${behind};
      create index runs_queued_behind_by_project on runs (project_id, created_at, id)
        where status = 'queued' and kind in ${behind};
      drop trigger runs_labels on runs;
      drop function take_labels();
      alter table runs drop column runs_on;
      alter table repositories drop column runs_on;`);
  }
}
