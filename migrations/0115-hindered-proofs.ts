import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A change that decides how its own tests run may not be merged where proofs are required. What was found out before is tried
 * again. The base is known for proofs that wait, too.
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
