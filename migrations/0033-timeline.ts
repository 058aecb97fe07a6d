import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An index for the timeline of a task, which shows what the audit log says about it. */
export class Timeline1766448000000 implements MigrationInterface {
  name = 'Timeline1766448000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create index audit_records_task on audit_records (object_id, number) where object_type = 'task'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index audit_records_task');
  }
}
