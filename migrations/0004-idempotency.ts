import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replies that are kept for repeated requests. */
export class Idempotency1763942400000 implements MigrationInterface {
  name = 'Idempotency1763942400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table idempotency_keys (
        user_id text not null references users on delete cascade,
        request text not null,
        key text not null,
        -- Of the body only this is kept.
        digest text not null,
        -- Null while the request is under way.
        status integer,
        reply text,
        created_at timestamptz not null default now(),
        primary key (user_id, request, key)
      );
      create index idempotency_keys_age on idempotency_keys (created_at);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table idempotency_keys');
  }
}
