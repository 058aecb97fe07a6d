import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An approval also says of which repositories a person saw that expectations changed. */
export class ExpectationsOfApprovals1770595200000 implements MigrationInterface {
  name = 'ExpectationsOfApprovals1770595200000';

  async up(runner: QueryRunner): Promise<void> {
    // The ids of the repositories. Nobody knows what an earlier approval showed, so it accepts no expectations.
    await runner.query(`alter table held_changes add column expectations jsonb not null default '[]'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table held_changes drop column expectations');
  }
}
