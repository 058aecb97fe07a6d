import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A merge that waits is for one base branch. The commits of runs are found by their ids. */
export class BasesOfMerges1769212800000 implements MigrationInterface {
  name = 'BasesOfMerges1769212800000';

  async up(runner: QueryRunner): Promise<void> {
    // The branch into which somebody asked to merge.
    await runner.query('alter table merges add column base text');
    await runner.query(`
      update merges m set base = coalesce(p.base_branch, r.default_branch)
      from pull_requests p join repositories r on r.id = p.repository_id
      where p.repository_id = m.repository_id and p.number = m.number and m.head_sha is not null`);
    await runner.query(
      `create index run_steps_commit on run_steps ((data ->> 'commit')) where starts_with(name, 'pushing') or starts_with(name, 'signed ')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index run_steps_commit');
    await runner.query('alter table merges drop column base');
  }
}
