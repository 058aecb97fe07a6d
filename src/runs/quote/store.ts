import type { EntityManager } from 'typeorm';
import type { Bounds, BoundsHeld, EarlierQuotes, Finished, Quote } from '../../domain/quote/quote.ts';

/** At most this many finished tasks are looked at, the latest ones. */
const mostFinished = 500;
/** What agents solved in at most this many trials counts, the latest ones. */
const mostTrials = 20;
/** Of a description, this many characters are compared. */
const readChars = 600;

/**
 * SQL: what the runs of task t needed together. A run whose model has no price makes the cost unknown, unless it used nothing.
 */
const needed = `select count(*)::int as runs,
    case when bool_and(r.cost_usd is not null or r.steps = 0) then coalesce(sum(r.cost_usd), 0)::float8 end as cost,
    (sum(greatest(0, extract(epoch from r.finished_at - r.started_at) - r.waited_seconds)) / 60)::float8 as minutes
  from runs r where r.task_id = t.id and r.started_at is not null and r.finished_at is not null`;

/**
 * Returns the tasks of a project that agents have finished, the latest first, without those that undo others. What was solved in
 * a trial of an agent is one of them. The two are looked up apart, each by its own index, because a condition on both reads
 * all tasks that the project has finished.
 */
export async function listFinished(em: EntityManager, projectId: string, without: string): Promise<Finished[]> {
  return em.query(
    `select t.id, t.title, left(t.description, ${readChars}) as description, a.line_id as agent, t.repository_id as "repositoryId",
       t.issue_type as "issueType", n.cost as "costUsd", n.minutes as minutes /* not null */,
       exists (select 1 from pull_requests p where p.task_id = t.id and p.status = 'merged') as "isMerged",
       exists (select 1 from revisions v where v.task_id = t.id and v.source in ('person', 'review')) as "wasChanged",
       t.hidden as "isTrial"
     from (
       (select * from tasks t where t.project_id = $1 and t.status = 'done' and not t.hidden and t.id <> $2
         order by t.done_at desc limit ${mostFinished})
       union all
       (select t.* from (
           select id from agent_trials where project_id = $1 order by created_at desc limit ${mostTrials}) latest
         join agent_trial_runs x on x.trial_id = latest.id and x.result = 'solved'
         join runs s on s.id = x.run_id join tasks t on t.id = s.task_id and t.status = 'done' and t.id <> $2)
       order by done_at desc limit ${mostFinished}) t
     left join agents a on a.id = t.owner
     cross join lateral (${needed}) n
     where n.runs > 0 and t.undo_of is null
     order by t.done_at desc, t.id`,
    [projectId, without],
  );
}

/** Returns the line of the agent that owns a task: the agent, whatever its version. */
export async function findLine(em: EntityManager, agentId: string | null): Promise<string | null> {
  const rows: { lineId: string }[] = await em.query('select line_id as "lineId" from agents where id = $1', [agentId]);
  return rows[0]?.lineId ?? null;
}

/** Keeps what was expected of a task when its first run was started. */
export async function insertQuote(
  em: EntityManager,
  { runId, projectId }: { runId: string; projectId: string },
  { costUsd, minutes, similar }: Quote,
): Promise<void> {
  await em.query(
    `insert into quotes (run_id, project_id, cost_p50, cost_p80, minutes_p50, minutes_p80, from_tasks)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      ...[runId, projectId, costUsd?.p50 ?? null, costUsd?.p80 ?? null],
      ...[minutes?.p50 ?? null, minutes?.p80 ?? null, similar.length],
    ],
  );
}

/** A quote of a task that is done, with what the task needed. */
export interface PastQuote {
  taskId: string;
  title: string;
  at: Date;
  costP50: number | null;
  costP80: number | null;
  costUsd: number | null;
  minutesP50: number | null;
  minutesP80: number | null;
  minutes: number;
}

/** At most this many quotes are looked at, the latest ones. */
export const mostQuotes = 200;

/** Returns the quotes of a project whose tasks are done, the latest first. */
export async function listPastQuotes(em: EntityManager, projectId: string): Promise<PastQuote[]> {
  return em.query(
    `select t.id as "taskId", t.title, q.created_at as at, q.cost_p50 as "costP50", q.cost_p80 as "costP80", n.cost as "costUsd",
       q.minutes_p50 as "minutesP50", q.minutes_p80 as "minutesP80", n.minutes as minutes /* not null */
     from quotes q join runs first on first.id = q.run_id join tasks t on t.id = first.task_id and t.status = 'done'
     cross join lateral (${needed}) n
     where q.project_id = $1 and n.runs > 0 order by q.created_at desc limit ${mostQuotes}`,
    [projectId],
  );
}

/** Returns which bounds of earlier quotes held, oldest first. Those without a bound, or with an unknown cost, are left out. */
export function heldBy(quotes: PastQuote[]): EarlierQuotes {
  const held = (used: number | null, bounds: { [level in keyof Bounds]: number | null }): BoundsHeld[] =>
    used === null || bounds.p50 === null || bounds.p80 === null
      ? []
      : [{ p50: used <= bounds.p50, p80: used <= bounds.p80 }];
  const oldestFirst = quotes.toReversed();
  return {
    costUsd: oldestFirst.flatMap((each) => held(each.costUsd, { p50: each.costP50, p80: each.costP80 })),
    minutes: oldestFirst.flatMap((each) => held(each.minutes, { p50: each.minutesP50, p80: each.minutesP80 })),
  };
}
