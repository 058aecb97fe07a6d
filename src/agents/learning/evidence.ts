import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { Evidence } from '../../domain/learning/evidence.ts';
import { withoutSecrets } from '../../domain/secrets.ts';
import { knownSecrets } from '../../environment/secrets/secrets.ts';
import type { FiguresOf } from '../figures-store.ts';

/** Evidence comes from at most this many runs, the latest, of at most 90 days. */
const maxRuns = 300;
/** SQL: at most this many texts are returned, the latest. */
const latest = `order by at desc limit ${maxRuns}`;

/**
 * Returns what went wrong in the latest runs of one or all versions of an agent in a user's projects, newest first:
 * failures, what people and checks on GitHub found in the work of a run, and what the hidden tests of a trial found. A request
 * belongs to the run before it. Texts are cut, and may contain secrets.
 *
 * The cost does not depend on the number of runs. What followed a run is looked up for each run, because PostgreSQL turns
 * `not exists` into a join with all runs.
 */
export async function listEvidence(
  em: EntityManager,
  userId: string,
  { agentId, version }: FiguresOf,
  maxChars: number,
): Promise<(Evidence & { projectId: string })[]> {
  return em.query(
    `with worked as materialized (
       select v.id as agent_id, f.project_id
       from agents a join agent_figures f on f.line_id = a.line_id and f.version > 0 and ($3::int is null or f.version = $3)
       join members m on m.project_id = f.project_id and m.user_id = $2
       join agents v on v.line_id = f.line_id and v.version = f.version
       where a.id = $1),
     recent as materialized (
       select r.* from worked cross join lateral (
         select r.id, r.task_id, r.project_id, r.status, r.failure, r.created_at, r.finished_at from runs r
         where r.agent_id = worked.agent_id and r.project_id = worked.project_id and r.created_at > now() - interval '90 days'
         order by r.created_at desc ${limitInIndexOrder(maxRuns)}) r
       order by r.created_at desc limit ${maxRuns})
     select source, run_id as "runId", task_id as "taskId", project_id as "projectId", category, left(said, $4) as text
     from (
       select 'failure' as source, id as run_id, task_id, project_id, failure->>'category' as category, failure->>'message' as said,
         finished_at as at
       from recent where status = 'failed' and failure->>'message' <> ''
       union all
       select case asked.source when 'checks' then 'checks' else 'review' end, r.id, r.task_id, r.project_id,
         case asked.source when 'checks' then 'checks' end, asked.text, asked.at
       from recent r
       cross join lateral (
         select min(later.created_at) as at from runs later where later.task_id = r.task_id and later.created_at > r.created_at) next
       cross join lateral (
         select v.source, v.text, v.created_at as at from revisions v
         where v.task_id = r.task_id and v.created_at > r.created_at and v.created_at <= coalesce(next.at, 'infinity')
           and v.source in ('person', 'review', 'checks') and v.text <> ''
         ${latest}) asked
       union all
       select 'checks', r.id, r.task_id, r.project_id, 'checks', x.reason, r.finished_at
       from recent r join agent_trial_runs x on x.run_id = r.id and x.result = 'unsolved' and x.reason <> ''
       where r.status <> 'failed'
     ) evidence
     ${latest}`,
    [agentId, userId, version ?? null, maxChars],
  );
}

/** Longer texts are cut. */
const maxChars = 4000;

/** Returns the evidence of `listEvidence` without secrets, because models and people read it. */
export async function readEvidence(app: App, userId: string, of: FiguresOf): Promise<Evidence[]> {
  // A text is cut after cleaning, because half a secret would not be found.
  const rows = await listEvidence(app.db.manager, userId, of, 2 * maxChars);
  const secrets = new Map<string, string[]>();
  for (const projectId of new Set(rows.map((row) => row.projectId)))
    secrets.set(projectId, await knownSecrets(app, projectId, []));
  return rows.map(({ projectId, text, ...evidence }) => ({
    ...evidence,
    text: withoutSecrets(text, secrets.get(projectId) ?? []).slice(0, maxChars),
  }));
}

/**
 * Returns an SQL limit with which PostgreSQL reads the first rows in the order of an index, however many rows it expects.
 * It underestimates how many rows meet several conditions that depend on each other, such as an agent and its project. If
 * it expects fewer rows than the limit, it may read and sort all of them. It does not know the value of a subquery, and
 * then plans to read a tenth of what it expects.
 */
export function limitInIndexOrder(count: number): string {
  return `limit (select ${count})`;
}
