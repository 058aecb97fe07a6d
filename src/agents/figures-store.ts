import type { EntityManager } from 'typeorm';
import { liveRun } from '../db/tables/run.ts';
import type { AgentFigures } from '../domain/agent.ts';

export interface HealthFacts {
  agentId: string;
  consecutiveFailures: number;
  hasLapsedRun: boolean;
  lastHeartbeat: Date;
}

/** The agent whose figures are read: one version of its line, or the whole line if `version` is undefined. */
export interface FiguresOf {
  agentId: string;
  version: number | undefined;
}

/** SQL: failure categories that are not the agent's fault and do not affect its health. */
const notItsFault = `('auth', 'rate_limit', 'repository')`;

/** SQL: trials ask what an agent can do, so how they end says nothing about its health. */
const countsForHealth = `r.kind <> 'trial'`;

/** Returns SQL for the time when the last run of worked.agent_id in worked.project_id ended in this way. */
const lastEnd = (status: 'succeeded' | 'failed' | 'cancelled') =>
  `(select max(r.finished_at) from runs r
    where r.agent_id = worked.agent_id and r.project_id = worked.project_id and r.status = '${status}' and ${countsForHealth})`;

/**
 * Returns the facts in the order of the given ids. Each version in each project is looked up in the indexes, so the
 * number of runs does not matter.
 */
export async function findHealthFacts(
  em: EntityManager,
  userId: string,
  ids: string[],
  version?: number,
): Promise<HealthFacts[]> {
  return em.query(
    `with wanted as (
       select a.id, a.line_id, a.created_at, w.n from unnest($2::text[]) with ordinality w (id, n) join agents a on a.id = w.id),
     worked as materialized (
       select w.id, v.id as agent_id, f.project_id from wanted w
       join agent_figures f on f.line_id = w.line_id and f.version > 0 and ($3::int is null or f.version = $3)
       join members m on m.project_id = f.project_id and m.user_id = $1
       join agents v on v.line_id = f.line_id and v.version = f.version),
     facts as materialized (
       select worked.*, ${lastEnd('succeeded')} as succeeded, ${lastEnd('failed')} as failed,
         ${lastEnd('cancelled')} as cancelled, live.*
       from worked cross join lateral (
         select max(greatest(r.started_at, r.heartbeat_at, r.finished_at)) as heartbeat,
           bool_or(r.status = 'running' and r.lease_until < now()) as has_lapsed
         from runs r
         where r.agent_id = worked.agent_id and r.project_id = worked.project_id and r.status in ${liveRun} and ${countsForHealth}) live),
     since as (select id, max(succeeded) as at from facts group by id)
     select wanted.id as "agentId", coalesce(sum(blamed.count), 0)::int as "consecutiveFailures",
       coalesce(bool_or(f.has_lapsed), false) as "hasLapsedRun",
       coalesce(max(greatest(f.heartbeat, f.succeeded, f.failed, f.cancelled)), wanted.created_at) as "lastHeartbeat"
     from wanted left join facts f on f.id = wanted.id left join since on since.id = wanted.id
     left join health_resets h on h.agent_id = f.agent_id and h.project_id = f.project_id
     left join lateral (
       select count(*) from runs r
       where r.agent_id = f.agent_id and r.project_id = f.project_id and r.status = 'failed' and ${countsForHealth}
         and r.failure->>'category' not in ${notItsFault} and r.finished_at > greatest(since.at, h.at, '-infinity')) blamed on true
     group by wanted.id, wanted.n, wanted.created_at order by wanted.n`,
    [userId, ids, version ?? null],
  );
}

/** SQL: joins to f, a table of figures, the members through whom user $1 sees them. */
const seen = 'join members m on m.project_id = f.project_id and m.user_id = $1';

/** Returns the figures of the given agents, in the order of the ids, with one statement. */
export async function findFigures(
  em: EntityManager,
  userId: string,
  ids: string[],
  version?: number,
): Promise<(AgentFigures & { agentId: string })[]> {
  return em.query(
    `select a.id as "agentId", coalesce(sum(f.tasks), 0)::int as "totalTasks",
       coalesce(sum(f.completed), 0)::int as "completedTasks", coalesce(sum(f.failed), 0)::int as "failedTasks",
       (sum(f.milliseconds) / nullif(sum(f.timed), 0) / 1000)::float8 as "averageSeconds",
       coalesce(sum(f.lines), 0)::float8 as "linesOfCodeWritten", coalesce(sum(f.pulls), 0)::int as "prsCreated"
     from unnest($2::text[]) with ordinality wanted (id, n) join agents a on a.id = wanted.id
     left join (agent_figures f ${seen}) on f.line_id = a.line_id and f.version = coalesce($3::int, 0)
     group by a.id, wanted.n order by wanted.n`,
    [userId, ids, version ?? null],
  );
}

/** Counts how many runs succeeded and failed in each of the last weeks, oldest first. A week begins on Monday, UTC. */
export async function listWeeks(
  em: EntityManager,
  userId: string,
  { agentId, version }: FiguresOf,
  count: number,
): Promise<{ week: string; succeeded: number; failed: number }[]> {
  return em.query(
    `with this as (select date_trunc('week', now() at time zone 'UTC')::date as monday),
     ended as (
       select date_trunc('week', f.day)::date as monday, f.succeeded, f.failed
       from this, agents a join agent_days f on f.line_id = a.line_id and f.version = coalesce($3::int, 0) ${seen}
       where a.id = $2 and f.day >= this.monday - 7 * ($4::int - 1))
     select to_char(w.monday, 'YYYY-MM-DD') as week, coalesce(sum(e.succeeded), 0)::int as succeeded,
       coalesce(sum(e.failed), 0)::int as failed
     from this cross join generate_series(0, $4::int - 1) n cross join lateral (select this.monday - 7 * n) w (monday)
     left join ended e on e.monday = w.monday
     group by w.monday order by w.monday`,
    [userId, agentId, version ?? null, count],
  );
}

/** Counts the agent's merged tasks by the languages of their files. */
export async function listSkills(
  em: EntityManager,
  userId: string,
  { agentId, version }: FiguresOf,
): Promise<{ language: string; tasks: number }[]> {
  return em.query(
    `select f.language, sum(f.tasks)::int as tasks
     from agents a join agent_skills f on f.line_id = a.line_id and f.version = coalesce($3::int, 0) ${seen}
     where a.id = $2 group by f.language`,
    [userId, agentId, version ?? null],
  );
}

/** Returns whether the agent's line has this version. */
export async function hasVersion(em: EntityManager, agentId: string, version: number): Promise<boolean> {
  const rows: unknown[] = await em.query(
    'select from agents a join agents v on v.line_id = a.line_id where a.id = $1 and v.version = $2 limit 1',
    [agentId, version],
  );
  return rows.length > 0;
}

/** Excludes the earlier failures of all versions of an agent in a user's projects from its health. */
export async function resetFailures(em: EntityManager, userId: string, agentId: string): Promise<void> {
  await em.query(
    `insert into health_resets (agent_id, project_id)
       select v.id, m.project_id from agents a join agents v on v.line_id = a.line_id, members m
       where a.id = $1 and m.user_id = $2 and m.role <> 'viewer' order by v.id, m.project_id
     on conflict (agent_id, project_id) do update set at = now()`,
    [agentId, userId],
  );
}
