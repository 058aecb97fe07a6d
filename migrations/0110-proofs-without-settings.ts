import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A proof of a pull request can wait for settings that can be used. */
export class ProofsWithoutSettings1772236980000 implements MigrationInterface {
  name = 'ProofsWithoutSettings1772236980000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${holds(`'writer', 'minutes', 'settings'`)}
      drop index pull_proofs_held;
      create index pull_proofs_held on pull_proofs (repository_id, created_at) where hold in ('minutes', 'settings');`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index pull_proofs_held;
      update pull_proofs set hold = null where hold = 'settings';
      ${holds(`'writer', 'minutes'`)}
      create index pull_proofs_held on pull_proofs (repository_id, created_at) where hold = 'minutes';`);
  }
}

const holds = (allowed: string) => `
  alter table pull_proofs drop constraint pull_proofs_hold_check,
    add constraint pull_proofs_hold_check check (hold in (${allowed}));`;
