import type { EntityManager } from 'typeorm';
import type { Evidence } from '../../domain/learning/evidence.ts';
import type { FiguresOf } from '../figures-store.ts';

/** Evidence comes from at most this many runs, the latest, of at most 90 days. */
const maxRuns = 300;

/**
 * Returns what went wrong in the latest runs of one or all versions of an agent in a user's projects, newest first:
 * failures, and what people and checks on GitHub found in the work of a run. A request belongs to the run before it. Texts
 * are cut, and may contain secrets.
 */
export async function listEvidence(
  em: EntityManager,
  userId: string,
  { agentId, version }: FiguresOf,
  maxChars: number,
): Promise<(Evidence & { projectId: string })[]> {
  return em.query(
    `with recent as materialized (
       select r.* from agents a join agents v on v.line_id = a.line_id and ($3::int is null or v.version = $3)
       cross join (select project_id from members where user_id = $2) m
       cross join lateral (
         select r.id, r.task_id, r.project_id, r.status, r.failure, r.created_at, r.finished_at from runs r
         where r.agent_id = v.id and r.project_id = m.project_id and r.created_at > now() - interval '90 days'
         order by r.created_at desc limit ${maxRuns}) r
       where a.id = $1
       order by r.created_at desc limit ${maxRuns})
     select source, run_id as "runId", task_id as "taskId", project_id as "projectId", category, left(said, $4) as text
     from (
       select 'failure' as source, id as run_id, task_id, project_id, failure->>'category' as category, failure->>'message' as said,
         finished_at as at
       from recent where status = 'failed' and failure is not null
       union all
       select case v.source when 'checks' then 'checks' else 'review' end, r.id, r.task_id, r.project_id,
         case v.source when 'checks' then 'checks' end, v.text, v.created_at
       from recent r join revisions v on v.task_id = r.task_id and v.created_at > r.created_at
       where v.source in ('person', 'review', 'checks')
         and not exists (
           select from runs later
           where later.task_id = r.task_id and later.created_at > r.created_at and later.created_at < v.created_at)
     ) evidence
     where said <> '' order by at desc limit ${maxRuns}`,
    [agentId, userId, version ?? null, maxChars],
  );
}
