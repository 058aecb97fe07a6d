import type { EntityManager } from 'typeorm';

export interface DiffSize {
  files: number;
  additions: number;
  deletions: number;
  isTruncated: boolean;
}

/** Returns the size of the change that waits for approval, otherwise of the pushed one; undefined before the first. */
export async function findDiffSize(em: EntityManager, taskId: string): Promise<DiffSize | undefined> {
  const rows: DiffSize[] = await em.query(
    `with stored as (
       select h.files, h.truncated, 1 as place from held_changes h join runs r on r.id = h.run_id
       where h.task_id = $1 and h.approved_at is null and r.status = 'waiting' and r.wait_reason = 'push'
       union all select files, truncated, 2 from diffs where task_id = $1
       order by place limit 1)
     select jsonb_array_length(s.files) as files, coalesce(s.truncated, false) as "isTruncated",
       (select coalesce(sum((f ->> 'additions')::int), 0)::int from jsonb_array_elements(s.files) f) as additions,
       (select coalesce(sum((f ->> 'deletions')::int), 0)::int from jsonb_array_elements(s.files) f) as deletions
     from stored s`,
    [taskId],
  );
  return rows[0];
}
