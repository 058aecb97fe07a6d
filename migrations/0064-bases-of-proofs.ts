import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A proof counts for the base with which the change was compared. For earlier proofs, that is the base of the diff of their
 * commit, or the default branch if the pull request has no base of its own. Where neither is known, the proof is void.
 */
export class BasesOfProofs1769299200000 implements MigrationInterface {
  name = 'BasesOfProofs1769299200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The branch and the commit with which each repository was compared.
      alter table proofs add column bases jsonb not null default '{}';
      update proofs p set bases = s.bases from (
        select run_id, jsonb_object_agg(repository_id, jsonb_build_object('branch', branch, 'commit', commit)) as bases
        from (
          select o.run_id, r.id as repository_id, b.data ->> 'base' as commit,
            case when d.task_id is not null then d.base_branch
              when pr.url is not null and pr.base_branch is null then r.default_branch end as branch
          from proofs o
            join tasks t on t.id = o.task_id
            cross join lateral jsonb_object_keys(o.parts || o.commits) key
            join repositories r on r.id = key
            left join diffs d on d.task_id = t.id and t.repository_id = r.id and d.head_sha = o.commits ->> key
            left join lateral (
              select url, base_branch from pull_requests where task_id = t.id and repository_id = r.id
              order by created_at desc, number desc limit 1) pr on true
            left join run_steps b on b.run_id = o.run_id
              and b.name = case when t.repository_id = r.id then 'branch' else 'branch ' || r.id end) known
        where branch is not null group by run_id) s
      where s.run_id = p.run_id;
      update run_steps e set data = jsonb_set(e.data, '{proofs}', (
        select jsonb_agg(case when p.bases ? (about ->> 'repositoryId')
          then about || jsonb_build_object('base', p.bases -> (about ->> 'repositoryId')) else about end)
        from jsonb_array_elements(e.data -> 'proofs') about))
      from proofs p
      where p.run_id = e.run_id and e.name = 'ending' and e.data -> 'proofs' <> '[]' and p.bases <> '{}';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table proofs drop column bases');
  }
}
