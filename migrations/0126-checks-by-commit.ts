import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the check runs of a commit, of which GitHub counts only the latest. */
export class ChecksByCommit1772238350000 implements MigrationInterface {
  name = 'ChecksByCommit1772238350000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'create index mirrored_check on mirrored (repository_id, check_sha) where check_sha is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index mirrored_check');
  }
}
