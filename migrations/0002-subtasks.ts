import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether an agent split a task: then the agent continues it when its subtasks are done. */
export class Subtasks1763769600000 implements MigrationInterface {
  name = 'Subtasks1763769600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column split_by_agent boolean not null default false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks drop column split_by_agent');
  }
}
