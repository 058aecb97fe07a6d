import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A digest of everything that GitHub shows of a task, so that a task that is shown correctly is left alone. */
export class ShownProgress1764892800000 implements MigrationInterface {
  name = 'ShownProgress1764892800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table mirrored add column shown_progress text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table mirrored drop column shown_progress');
  }
}
