import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores whether a change decides how its own tests run, and the base branch of each proof, also of those that wait. Earlier
 * results do not say the first, so an unproved change with the same files is tried again.
 */
export class HinderedProofs1772237900000 implements MigrationInterface {
  name = 'HinderedProofs1772237900000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table pull_proofs add column is_hindered boolean not null default false, add column base_branch text;
      update pull_proofs p set base_branch = a.base_branch from pull_asks a where a.run_id = p.run_id;
      update pull_proofs set fingerprint = null where status = 'unproved' and fingerprint is not null;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pull_proofs drop column is_hindered, drop column base_branch');
  }
}
