import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the unfinished runs of a project, which pages ask for every few seconds, without reading those of all projects. */
export class LiveRuns1772236900000 implements MigrationInterface {
  name = 'LiveRuns1772236900000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create index runs_live on runs (project_id, created_at, id) where status in ('queued', 'running', 'waiting')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index runs_live');
  }
}
