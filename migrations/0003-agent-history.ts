import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Versions of agents, their health in each project, and what reconciliations repaired. */
export class AgentHistory1763856000000 implements MigrationInterface {
  name = 'AgentHistory1763856000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table agents add column version integer not null default 1;
      alter table agents add column previous_version_id text references agents on delete set null;
      alter table agents add column is_newest boolean not null default true;
      drop index agents_project_name;
      drop index agents_creator_name;
      create unique index agents_project_name on agents (project_id, lower(name)) where project_id is not null and is_newest;
      create unique index agents_creator_name on agents (creator_id, lower(name)) where creator_id is not null and is_newest;
      alter table tasks add column done_at timestamptz;
      alter table runs add column heartbeat_at timestamptz;
      create index runs_agent on runs (agent_id, project_id, created_at);

      -- From when on the failures of an agent count in a project.
      create table health_resets (
        agent_id text not null references agents on delete cascade,
        project_id text not null references projects on delete cascade,
        at timestamptz not null default now(),
        primary key (agent_id, project_id)
      );

      create table reconciliations (
        id text primary key,
        trigger text not null check (trigger in ('manual', 'scheduled', 'start')),
        user_id text references users on delete set null,
        checked integer not null,
        started_at timestamptz not null,
        finished_at timestamptz not null
      );
      create table recovered_tasks (
        reconciliation_id text not null references reconciliations on delete cascade,
        task_id text not null references tasks on delete cascade,
        action text not null,
        reason text not null,
        primary key (reconciliation_id, task_id)
      );
      create index recovered_tasks_task on recovered_tasks (task_id);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table recovered_tasks, reconciliations, health_resets;
      drop index runs_agent;
      alter table runs drop column heartbeat_at;
      alter table tasks drop column done_at;
      drop index agents_project_name;
      drop index agents_creator_name;
      create unique index agents_project_name on agents (project_id, lower(name)) where project_id is not null;
      create unique index agents_creator_name on agents (creator_id, lower(name)) where creator_id is not null;
      alter table agents drop column is_newest, drop column previous_version_id, drop column version;`);
  }
}
