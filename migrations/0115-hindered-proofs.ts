import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A change that decides how its own tests run may not be merged where proofs are required. */
export class HinderedProofs1772237900000 implements MigrationInterface {
  name = 'HinderedProofs1772237900000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pull_proofs add column is_hindered boolean not null default false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pull_proofs drop column is_hindered');
  }
}
