import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Interruptions of a run without progress, and the pause before a worker takes it over again. */
export class Takeovers1764806400000 implements MigrationInterface {
  name = 'Takeovers1764806400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table runs add column interruptions integer not null default 0;
      -- Set by the worker that gave the run back; a worker that was lost sets nothing.
      alter table runs add column not_before timestamptz;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table runs drop column interruptions, drop column not_before`);
  }
}
