import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores what the settings of a repository say about proofs, whoever they are for. What a run proved with other settings does not
 * count for the check run of its commit. Until the settings are read again, nothing is known of them.
 */
export class RulesOfProofs1772238320000 implements MigrationInterface {
  name = 'RulesOfProofs1772238320000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table repositories add column proof_rules text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table repositories drop column proof_rules');
  }
}
