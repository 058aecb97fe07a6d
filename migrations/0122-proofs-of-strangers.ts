import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores which proofs of pull requests are those of strangers, also once these are closed, and whether their base branch
 * requires the check. Of a closed one, an earlier release kept neither a hold nor a run.
 */
export class ProofsOfStrangers1772238222000 implements MigrationInterface {
  name = 'ProofsOfStrangers1772238222000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table pull_proofs add column is_foreign boolean not null default false,
        -- Null until GitHub was asked.
        add column base_requires boolean, add column base_looked_at timestamptz;
      update pull_proofs set is_foreign = true
      where hold = 'writer' or (hold is null and status is null and run_id is null);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table pull_proofs drop column is_foreign, drop column base_requires, drop column base_looked_at',
    );
  }
}
