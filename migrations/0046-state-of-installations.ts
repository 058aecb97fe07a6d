import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is wrong with an installation, so that the members of its project can see it. */
export class StateOfInstallations1767571200000 implements MigrationInterface {
  name = 'StateOfInstallations1767571200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table installations add column problem text check (problem in ('refused', 'missing_permissions'));
      alter table installations add column problem_reason text;
      alter table installations add column problem_since timestamptz;
      alter table installations add check ((problem is null) = (problem_reason is null)
        and (problem is null) = (problem_since is null));`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table installations drop column problem, drop column problem_reason, drop column problem_since;`,
    );
  }
}
