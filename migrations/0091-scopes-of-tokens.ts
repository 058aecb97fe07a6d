import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How much of what its person may do a token allows. Tokens from before allow everything. */
export class ScopesOfTokens1771372800000 implements MigrationInterface {
  name = 'ScopesOfTokens1771372800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table api_tokens add column scopes text not null default 'admin' check (scopes in ('read', 'write', 'admin'))`);
  }

  /** Tokens that do not allow everything are revoked, because without the column they would. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      update api_tokens set revoked_at = now() where scopes <> 'admin' and revoked_at is null;
      alter table api_tokens drop column scopes`);
  }
}
