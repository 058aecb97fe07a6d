import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores when a person last changed what the next run of a task does, so that a failure can say that it was edited since. */
export class EditsOfTasks1772238600000 implements MigrationInterface {
  name = 'EditsOfTasks1772238600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column edited_at timestamptz');
    await runner.query('update tasks set edited_at = rewritten_at where rewritten_at is not null');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks drop column edited_at');
  }
}
