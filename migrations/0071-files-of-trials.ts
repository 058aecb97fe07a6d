import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A trial says whether the repository has submodules or files in Git LFS, which runs get only with `checkout`. */
export class FilesOfTrials1769904000000 implements MigrationInterface {
  name = 'FilesOfTrials1769904000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table environment_trials add column checkout jsonb not null default '[]'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table environment_trials drop column checkout');
  }
}
