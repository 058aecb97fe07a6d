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
        add column commits jsonb not null default '{}';
      update proofs p set commits = s.commits from (
        select s.run_id, jsonb_object_agg(coalesce(nullif(substr(s.name, 6), ''), t.repository_id), s.data->>'commit') as commits
        from run_steps s join runs r on r.id = s.run_id join tasks t on t.id = r.task_id
        where (s.name = 'push' or s.name like 'push %') and coalesce(nullif(substr(s.name, 6), ''), t.repository_id) is not null
        group by s.run_id) s
      where s.run_id = p.run_id;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      delete from held_changes where purpose <> 'push';
      alter table held_changes
        drop constraint held_changes_pkey, add primary key (run_id), drop column purpose, drop column parents;
      alter table proofs drop column trees, drop column commits;`);
  }
}
