import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds sessions that have ended, so that they can be deleted: everybody who signs in leaves one. */
export class EndedSessions1772237700000 implements MigrationInterface {
  name = 'EndedSessions1772237700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index api_tokens_sessions on api_tokens (expires_at) where is_session');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index api_tokens_sessions');
  }
}
