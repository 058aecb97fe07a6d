import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sign-ins under way, and which tokens are sessions of a browser. */
export class SignIn1764028800000 implements MigrationInterface {
  name = 'SignIn1764028800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table api_tokens add column is_session boolean not null default false;
      create table sign_ins (
        -- Digests: whoever reads the table can finish no sign-in.
        state_digest text primary key,
        browser_digest text not null,
        verifier text not null,
        return_to text not null,
        created_at timestamptz not null default now()
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table sign_ins; alter table api_tokens drop column is_session;');
  }
}
