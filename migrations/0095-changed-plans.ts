import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What an agent had proposed where a person changed its plan before they approved it. */
export class ChangedPlans1771718400000 implements MigrationInterface {
  name = 'ChangedPlans1771718400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table plans add column proposed text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table plans drop column proposed');
  }
}
