import type { EntityManager } from 'typeorm';
import type { AgentFigures } from '../domain/agent-figures.ts';
import type { FailureCategory } from '../domain/run.ts';

export interface HealthFacts {
  agentId: string;
  consecutiveFailures: number;
  hasLapsedRun: boolean;
  lastHeartbeat: Date;
}

/** SQL `from` clause: the runs of agent a in the projects of user $1. */
const ownRuns = `from runs r join members m on m.project_id = r.project_id and m.user_id = $1 where r.agent_id = a.id`;
/** SQL: failure categories that are not the agent's fault and do not affect its health. */
const notItsFault = `('auth', 'rate_limit', 'repository')`;

/** Returns the facts in the order of the given ids. */
export async function findHealthFacts(em: EntityManager, userId: string, ids: string[]): Promise<HealthFacts[]> {
  return em.query(
    `select a.id as "agentId",
       (select count(*)::int from runs r join members m on m.project_id = r.project_id and m.user_id = $1
          left join health_resets h on h.agent_id = r.agent_id and h.project_id = r.project_id
        where r.agent_id = a.id and r.status = 'failed' and r.failure->>'category' not in ${notItsFault}
          and r.finished_at > coalesce(h.at, '-infinity')
          and r.finished_at > coalesce((select max(r.finished_at) ${ownRuns} and r.status = 'succeeded'), '-infinity')
       ) as "consecutiveFailures",
       exists (select 1 ${ownRuns} and r.status = 'running' and r.lease_until < now()) as "hasLapsedRun",
       coalesce((select max(greatest(r.started_at, r.heartbeat_at, r.finished_at)) ${ownRuns}), a.created_at) as "lastHeartbeat"
     from unnest($2::text[]) with ordinality wanted (id, n) join agents a on a.id = wanted.id
     order by n`,
    [userId, ids],
  );
}

/** Returns the figures of the given agents, in the order of the ids, with one statement. */
export async function findFigures(
  em: EntityManager,
  userId: string,
  ids: string[],
): Promise<(AgentFigures & { agentId: string })[]> {
  return em.query(
    `with worked as materialized (
       select r.agent_id, r.task_id, min(r.started_at) as began
       from runs r join members m on m.project_id = r.project_id and m.user_id = $1
       where r.agent_id = any($2) group by r.agent_id, r.task_id),
     latest as (
       select distinct on (r.task_id) r.task_id, r.status from runs r
       where r.task_id in (select task_id from worked) order by r.task_id, r.created_at desc, r.id desc),
     pulls as (
       select p.task_id, count(*) as count, sum(p.additions) filter (where p.status = 'merged') as lines
       from pull_requests p where p.task_id in (select task_id from worked) group by p.task_id),
     figures as (
       select w.agent_id, count(*) as total, count(*) filter (where t.status = 'done') as completed,
         count(*) filter (where t.status <> 'done' and latest.status = 'failed') as failed,
         avg(extract(epoch from t.done_at - w.began)) filter (where t.status = 'done') as seconds,
         sum(pulls.lines) as lines, sum(pulls.count) as prs
       from worked w
       -- "offset 0" makes PostgreSQL look up each task by its key. As a plain join it would read all tasks of all projects.
       cross join lateral (select t.status, t.done_at from tasks t where t.id = w.task_id offset 0) t
       join latest on latest.task_id = w.task_id
       left join pulls on pulls.task_id = w.task_id
       group by w.agent_id)
     select wanted.id as "agentId", coalesce(total, 0)::int as "totalTasks", coalesce(completed, 0)::int as "completedTasks",
       coalesce(failed, 0)::int as "failedTasks", seconds::float8 as "averageSeconds",
       coalesce(lines, 0)::int as "linesOfCodeWritten", coalesce(prs, 0)::int as "prsCreated"
     from unnest($2::text[]) with ordinality wanted (id, n) left join figures f on f.agent_id = wanted.id order by n`,
    [userId, ids],
  );
}

/** Counts how many runs succeeded and failed in each of the last weeks, oldest first. A week begins on Monday, UTC. */
export async function listWeeks(
  em: EntityManager,
  userId: string,
  agentId: string,
  count: number,
): Promise<{ week: string; succeeded: number; failed: number }[]> {
  return em.query(
    `with this as (select date_trunc('week', now() at time zone 'UTC') as monday),
     ended as (
       select date_trunc('week', r.finished_at at time zone 'UTC') as monday, r.status
       from runs r join members m on m.project_id = r.project_id and m.user_id = $1
       where r.agent_id = $2 and r.status in ('succeeded', 'failed'))
     select to_char(w.monday, 'YYYY-MM-DD') as week, count(*) filter (where e.status = 'succeeded')::int as succeeded,
       count(*) filter (where e.status = 'failed')::int as failed
     from this cross join generate_series(this.monday - ($3::int - 1) * interval '1 week', this.monday, '1 week') w (monday)
     left join ended e on e.monday = w.monday
     group by w.monday order by w.monday`,
    [userId, agentId, count],
  );
}

/** Returns the paths of the files in the stored diffs of the agent's merged tasks. */
export async function listMergedFiles(
  em: EntityManager,
  userId: string,
  agentId: string,
): Promise<{ taskId: string; path: string }[]> {
  return em.query(
    `select d.task_id as "taskId", file->>'path' as path
     from diffs d cross join jsonb_array_elements(d.files) file
     where exists (select 1 from runs r join members m on m.project_id = r.project_id and m.user_id = $1
         where r.task_id = d.task_id and r.agent_id = $2)
       and exists (select 1 from pull_requests p where p.task_id = d.task_id and p.status = 'merged')`,
    [userId, agentId],
  );
}

/** Returns the failed runs of the last 90 days, newest first. */
export async function listFailures(
  em: EntityManager,
  userId: string,
  agentId: string,
): Promise<{ runId: string; category: FailureCategory }[]> {
  return em.query(
    `select r.id as "runId", r.failure->>'category' as category
     from runs r join members m on m.project_id = r.project_id and m.user_id = $1
     where r.agent_id = $2 and r.status = 'failed' and r.finished_at > now() - interval '90 days'
     order by r.finished_at desc limit 500`,
    [userId, agentId],
  );
}

/** Excludes the earlier failures of an agent in a user's projects from its health. */
export async function resetFailures(em: EntityManager, userId: string, agentId: string): Promise<void> {
  await em.query(
    `insert into health_resets (agent_id, project_id) select $1, project_id from members where user_id = $2
     on conflict (agent_id, project_id) do update set at = now()`,
    [agentId, userId],
  );
}
