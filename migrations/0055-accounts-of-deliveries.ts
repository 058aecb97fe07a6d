import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The installation that a delivery is for. Null for those of earlier versions, and for events of no installation. */
export class AccountsOfDeliveries1768348800000 implements MigrationInterface {
  name = 'AccountsOfDeliveries1768348800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deliveries add column account text;');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deliveries drop column account;');
  }
}
