import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A claim leaves one slot of all workers to other projects. */
export class Workers1769040000000 implements MigrationInterface {
  name = 'Workers1769040000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The worker processes, by the name of their presence, and how many runs each works on at the same time.
      create table workers (id text primary key, slots integer not null check (slots > 0));`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table workers;');
  }
}
