import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The commits of ours that a pull request may not be merged with. */
export class UnreadyCommits1767916800000 implements MigrationInterface {
  name = 'UnreadyCommits1767916800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pull_requests add column unready_sha text;');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pull_requests drop column unready_sha;');
  }
}
