import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When the title or the description of a task was rewritten last, and by whom. */
export class RewrittenTasks1768176000000 implements MigrationInterface {
  name = 'RewrittenTasks1768176000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column rewritten_at timestamptz, add column rewritten_by text;');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks drop column rewritten_at, drop column rewritten_by;');
  }
}
