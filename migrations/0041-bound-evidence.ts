import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Approvals and proofs belong to one change, and to nothing else. */
export class BoundEvidence1767139200000 implements MigrationInterface {
  name = 'BoundEvidence1767139200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table held_changes
        -- What the approval allows: that the change is pushed, or that set-up of the change uses the network of set-up.
        add column purpose text not null default 'push' check (purpose in ('push', 'setup')),
        -- The commits that the change follows, by repository. The approval of an older version has none and no longer counts.
        add column parents jsonb not null default '{}',
        drop constraint held_changes_pkey,
        add primary key (run_id, purpose);
      alter table proofs
        -- The git trees that the proof is about, and the commits as which they were pushed, by repository.
        add column trees jsonb not null default '{}',
        add column commits jsonb not null default '{}';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      delete from held_changes where purpose <> 'push';
      alter table held_changes
        drop constraint held_changes_pkey, add primary key (run_id), drop column purpose, drop column parents;
      alter table proofs drop column trees, drop column commits;`);
  }
}
