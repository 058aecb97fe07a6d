import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit log says that a change was made by a tool of the MCP server. */
export class RecordsOfTools1770336000000 implements MigrationInterface {
  name = 'RecordsOfTools1770336000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table audit_records drop constraint audit_records_via_check;
      alter table audit_records add constraint audit_records_via_check
        check (via in ('token', 'session', 'mcp', 'comment', 'label', 'review', 'system'));
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    // Records are never changed, so those of tools stay.
    await runner.query(`
      alter table audit_records drop constraint audit_records_via_check;
      alter table audit_records add constraint audit_records_via_check
        check (via in ('token', 'session', 'comment', 'label', 'review', 'system')) not valid;
    `);
  }
}
