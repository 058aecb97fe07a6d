import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which process answers a request with an Idempotency-Key. */
export class Identity1764633600000 implements MigrationInterface {
  name = 'Identity1764633600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table idempotency_keys
        -- The attempt that may answer. Another one takes over by writing its own, so at most one of them commits.
        add column claim text not null default '',
        -- The process of that attempt; null for attempts from before this was recorded.
        add column process text,
        add column attempts integer not null default 1;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table idempotency_keys drop column claim, drop column process, drop column attempts;`);
  }
}
