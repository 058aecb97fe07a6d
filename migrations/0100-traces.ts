import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deliveries and runs remember the trace that they belong to, so that another process continues it. */
export class Traces1772150400000 implements MigrationInterface {
  name = 'Traces1772150400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table deliveries add column traceparent text;
      alter table runs add column traceparent text;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table runs drop column traceparent;
      alter table deliveries drop column traceparent;`);
  }
}
