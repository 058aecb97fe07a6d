import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which commits of a pull request its base branch may take in from elsewhere. Its proof does not count any more then. */
export class CommitsOfProofs1772238150000 implements MigrationInterface {
  name = 'CommitsOfProofs1772238150000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table pull_proofs add column commits text[] not null default '{}';
      create index pull_proofs_commits on pull_proofs using gin (commits) where commits <> '{}';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pull_proofs drop column commits');
  }
}
