import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the records of any object, not only of tasks. */
export class AuditOfObjects1772238100000 implements MigrationInterface {
  name = 'AuditOfObjects1772238100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index audit_records_object on audit_records (object_id, number)');
    await runner.query('drop index audit_records_task');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create index audit_records_task on audit_records (object_id, number) where object_type = 'task'`,
    );
    await runner.query('drop index audit_records_object');
  }
}
