import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An approval is also about what was found in the change. */
export class Findings1769731200000 implements MigrationInterface {
  name = 'Findings1769731200000';

  async up(runner: QueryRunner): Promise<void> {
    // What looks like a credential and the like, as people saw it: one line each, with no secret in it.
    await runner.query(`alter table held_changes add column findings jsonb not null default '[]'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    // Without the column, an approval with findings would count as one without.
    await runner.query(`
      delete from held_changes where findings <> '[]';
      alter table held_changes drop column findings;`);
  }
}
