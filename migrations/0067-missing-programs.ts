import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A trial says when a worker began it, which programs were missing, and for which manifests there is no command. */
export class MissingPrograms1769558400000 implements MigrationInterface {
  name = 'MissingPrograms1769558400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table environment_trials
        add column began_at timestamptz,
        add column missing jsonb not null default '[]',
        add column unknown jsonb not null default '[]';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table environment_trials drop column began_at, drop column missing, drop column unknown');
  }
}
