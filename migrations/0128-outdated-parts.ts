import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores which parts of a plan follow from an earlier text of a part before them. */
export class OutdatedParts1772238370000 implements MigrationInterface {
  name = 'OutdatedParts1772238370000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table wizard_sessions add column outdated jsonb not null default '[]'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table wizard_sessions drop column outdated');
  }
}
