import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A task may start from another branch than the default one, and a pull request keeps the branch into which it was opened.
 * That of earlier ones is null, because only the default branch was possible.
 */
export class Bases1768780800000 implements MigrationInterface {
  name = 'Bases1768780800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column base text');
    await runner.query('alter table pull_requests add column base_branch text');
    await runner.query(
      `create index pull_requests_base on pull_requests (repository_id, base_branch) where status in ('open', 'draft')`,
    );
    await runner.query('create index tasks_branch on tasks (repository_id, branch_name) where branch_name is not null');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index tasks_branch');
    await runner.query('drop index pull_requests_base');
    await runner.query('alter table pull_requests drop column base_branch');
    await runner.query('alter table tasks drop column base');
  }
}
