import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Somebody may change the base of a pull request on GitHub and merge it there. What is stacked on it must not follow. */
export class MergedElsewhere1769472000000 implements MigrationInterface {
  name = 'MergedElsewhere1769472000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The branch into which it was merged, if that is not the one that was agreed. Null where that is not known.
      alter table pull_requests add column merged_elsewhere text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pull_requests drop column merged_elsewhere');
  }
}
