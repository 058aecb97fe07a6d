import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lists of tasks and runs pass over what stands for pull requests of people, benchmarks and trials. A repository can have
 * thousands of those, all newer than the tasks of people, so the indexes keep them apart.
 */
export class HiddenTasksAside1772237600000 implements MigrationInterface {
  name = 'HiddenTasksAside1772237600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index tasks_project, tasks_project_status, tasks_owner, tasks_backlog;
      create index tasks_project on tasks (project_id, hidden, created_at desc, id);
      create index tasks_project_status on tasks (project_id, status, hidden, created_at desc, id);
      create index tasks_owner on tasks (owner, hidden, created_at desc, id);
      create index tasks_backlog on tasks (project_id, created_at desc, id) where sprint_id is null and not hidden;

      create index runs_listed on runs (project_id, created_at desc, id desc)
        where kind not in ('prove', 'harvest', 'trial');
      create index agent_trials_project on agent_trials (project_id, created_at);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index agent_trials_project, runs_listed;
      drop index tasks_project, tasks_project_status, tasks_owner, tasks_backlog;
      create index tasks_project on tasks (project_id, created_at desc, id);
      create index tasks_project_status on tasks (project_id, status, created_at desc, id);
      create index tasks_owner on tasks (owner, created_at desc, id);
      create index tasks_backlog on tasks (project_id, created_at desc, id) where sprint_id is null;`);
  }
}
