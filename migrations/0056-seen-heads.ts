import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Since when a pull request has its head. Of those that are known already, only that they have it now is known. */
export class SeenHeads1768435200000 implements MigrationInterface {
  name = 'SeenHeads1768435200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pull_requests add column head_since timestamptz not null default now();');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pull_requests drop column head_since;');
  }
}
