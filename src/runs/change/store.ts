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
       where h.task_id = $1 and r.status = 'waiting' and r.wait_reason = 'push'
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

/** Checks are repeated after each correction, so a run may note the same command many times. */
const maxNotes = 500;

/** Returns the notes about checks of the latest run that has any, oldest first. */
export async function listCheckNotes(em: EntityManager, taskId: string): Promise<{ text: string; passed: boolean }[]> {
  return em.query(
    `select c.text, c.passed from (
       select e.id, e.text, coalesce((e.data ->> 'passed')::boolean, false) as passed from run_events e
       where e.type = 'check' and e.run_id = (
         select r.id from runs r where r.task_id = $1
           and exists (select 1 from run_events x where x.run_id = r.id and x.type = 'check')
         order by r.created_at desc, r.id desc limit 1)
       order by e.id desc limit $2) c
     order by c.id`,
    [taskId, maxNotes],
  );
}
