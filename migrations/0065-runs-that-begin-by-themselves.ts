import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A run that the service starts for a sprint or after a split names a person in `started_by`, who need not be one of those
 * whose words it follows. Of earlier runs, those are taken for automatic whose person is not among them.
 */
export class RunsThatBeginByThemselves1769385600000 implements MigrationInterface {
  name = 'RunsThatBeginByThemselves1769385600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table runs add column is_automatic boolean not null default false;
      update runs set is_automatic = true where started_by is null or (directed_by <> '[]' and not directed_by ? started_by);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table runs drop column is_automatic');
  }
}
