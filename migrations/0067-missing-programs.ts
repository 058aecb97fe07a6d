import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A trial says which programs were missing, and for which manifests there is no command. */
export class MissingPrograms1769558400000 implements MigrationInterface {
  name = 'MissingPrograms1769558400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table environment_trials
        add column missing jsonb not null default '[]',
        add column unknown jsonb not null default '[]';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table environment_trials drop column missing, drop column unknown');
  }
}
