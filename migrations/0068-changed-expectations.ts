import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A proof may say that expectations changed on purpose. */
export class ChangedExpectations1769644800000 implements MigrationInterface {
  name = 'ChangedExpectations1769644800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table proofs drop constraint proofs_status_check;
      alter table proofs add constraint proofs_status_check
        check (status in ('proved', 'changed', 'unproved', 'weakened', 'no_tests', 'not_run'));`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      update proofs set status = 'weakened' where status = 'changed';
      alter table proofs drop constraint proofs_status_check;
      alter table proofs add constraint proofs_status_check
        check (status in ('proved', 'unproved', 'weakened', 'no_tests', 'not_run'));`);
  }
}
