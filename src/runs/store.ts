import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { newId } from '../db/ids.ts';
import { lockKey } from '../db/locks.ts';
import { type UserRow, Users } from '../db/tables/project.ts';
import { liveRun, type RunRow, Runs } from '../db/tables/run.ts';
import { type Failure, LeaseLost, type RunKind, type RunStatus } from '../domain/run.ts';
import type { Paid } from '../projects/budgets.ts';
import { ghost } from '../projects/store.ts';
import { releaseRevisionsOf } from '../tasks/work-store.ts';
import { currentSpan } from '../tracing/traced.ts';
import { addWait, keepUnread } from './waiting/store.ts';

/** A leased run. Every write checks the fence, so a worker that has lost the run can no longer write. */
export interface Leased {
  id: string;
  fence: number;
}

export const runColumns = `r.id, r.task_id as "taskId", r.project_id as "projectId", r.agent_id as "agentId",
  r.started_by as "startedBy", r.is_automatic as "isAutomatic", r.directed_by as "directedBy",
  r.kind, r.status, r.instructions, r.failure, r.steps,
  r.input_tokens::float8 as "inputTokens", r.cached_input_tokens::float8 as "cachedInputTokens", r.output_tokens::float8 as "outputTokens", r.cost_usd::float8 as "costUsd",
  r.fence, r.lease_until as "leaseUntil",
  r.heartbeat_at as "heartbeatAt", r.created_at as "createdAt", r.started_at as "startedAt",
  r.finished_at as "finishedAt", r.waiting_since as "waitingSince", r.waited_seconds as "waitedSeconds",
  r.continues_run_id as "continuesRunId", r.rewound_turn as "rewoundTurn", r.changed_nothing as "changedNothing",
  r.pause_text as "pauseText"`;

export async function insertRun(
  em: EntityManager,
  run: {
    taskId: string;
    projectId: string;
    /** Null for a run that asks no agent. */
    agentId: string | null;
    startedBy: string | null;
    isAutomatic?: boolean;
    directedBy?: string[];
    kind: RunKind;
    instructions: string;
    continuesRunId?: string | null;
    rewoundTurn?: number | null;
  },
): Promise<string> {
  const id = newId('run');
  await em.insert(Runs, { id, status: 'queued', traceparent: currentSpan()?.traceparent ?? null, ...run });
  return id;
}

/** Returns the ids of the people whose words any run of a task followed. */
export async function listDirectorsOfTask(em: EntityManager, taskId: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    'select distinct d.id as id /* not null */ from runs r, jsonb_array_elements_text(r.directed_by) d (id) where r.task_id = $1 order by 1',
    [taskId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the ids of the people whose words some tasks and their runs follow, for a chat that reads a repository. `ghost`
 * stands for unknown authors of texts that an automation took from its repository. They could read that repository, so `ghost` is left
 * out for its own tasks. Such a task cannot move to another repository; see `followsUnknown` in tasks/store.ts.
 */
export async function listFollowed(em: EntityManager, taskIds: string[], readIn?: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select distinct d.id as id /* not null */ from (
       select directed_by, repository_id from tasks where id = any($1)
       union all select r.directed_by, t.repository_id from runs r join tasks t on t.id = r.task_id where t.id = any($1)) f
     cross join lateral jsonb_array_elements_text(f.directed_by) d (id) left join users u on u.id = d.id
     where u.github_id is distinct from $3 or f.repository_id is distinct from $2
     order by 1`,
    [taskIds, readIn ?? null, ghost.id],
  );
  return rows.map(({ id }) => id);
}

/** Locks the run's row until the transaction ends and checks that this worker has its lease. @throws LeaseLost */
export async function assertLeased(em: EntityManager, leased: Leased): Promise<void> {
  const rows: unknown[] = await em.query(
    `select 1 from runs where id = $1 and fence = $2 and status = 'running' for update`,
    [leased.id, leased.fence],
  );
  if (rows.length === 0) throw new LeaseLost(leased.id);
}

const pushLock = lockKey('push');

/**
 * Prevents a run from being cancelled while it pushes. A cancel waits for the end of this transaction. A push that
 * begins after a cancel finds that the run has ended. A push may take minutes, during which the transaction only waits.
 */
export async function lockForPush(em: EntityManager, runId: string): Promise<void> {
  await em.query('set local idle_in_transaction_session_timeout = 0');
  await em.query(`select pg_advisory_xact_lock_shared(${pushLock})`, [runId]);
}

/** How long a cancel waits for a push that is under way. A remote may take minutes to respond to a push. */
const patienceMs = 3000;
const pollMs = 100;

/** Locks the run's row until the transaction ends. */
export async function lockRun(em: EntityManager, runId: string): Promise<void> {
  await em.query('select 1 from runs where id = $1 for update', [runId]);
}

/** Waits at most three seconds for a push that is under way, then locks the run's row. */
export async function lockForCancel(em: EntityManager, runId: string): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(pollMs))
    if (await tryLockForEnd(em, runId)) break;
  await lockRun(em, runId);
}

/** Locks a run against pushes until the transaction ends. Returns false if a push is under way. */
export async function tryLockForEnd(em: EntityManager, runId: string): Promise<boolean> {
  const [{ isLocked }]: [{ isLocked: boolean }] = await em.query(
    `select pg_try_advisory_xact_lock(${pushLock}) as "isLocked"`,
    [runId],
  );
  return isLocked;
}

/**
 * Ends a live run; returns false when it has ended already. Unless the run succeeded, its revisions and the messages
 * that its agent has not read are left to the next run. If the agent got a new version during the run, the task moves
 * to the newest version.
 */
export async function endRun(
  em: EntityManager,
  runId: string,
  status: RunStatus,
  failure: Failure | null,
): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update runs set status = $2, failure = $3, finished_at = now(), lease_until = null,
       ${addWait}, waiting_since = null
     where id = $1 and status in ${liveRun}`,
    [runId, status, failure],
  );
  if (count === 0) return false;
  if (status !== 'succeeded') await releaseRevisionsOf(em, runId);
  await keepUnread(em, runId);
  await em.query(
    `with recursive newer (id) as (
       select agent_id from runs where id = $1
       union select a.id from agents a join newer n on a.previous_version_id = n.id)
     update tasks t set owner = a.id from runs r, newer n, agents a
     where r.id = $1 and t.id = r.task_id and t.owner in (select id from newer) and t.status <> 'done'
       and a.id = n.id and a.is_newest and a.id <> t.owner`,
    [runId],
  );
  return true;
}

/** Notes that a run was asked for a change and ends without one. */
export async function markUnchanged(em: EntityManager, runId: string): Promise<void> {
  await em.query('update runs set changed_nothing = true where id = $1', [runId]);
}

export async function findRun(em: EntityManager, id: string): Promise<RunRow | null> {
  return em.findOneBy(Runs, { id });
}

/** Finds the user who started a run. Returns undefined when the account was deleted. */
export async function findStarter(em: EntityManager, userId: string): Promise<UserRow | undefined> {
  return (await em.findOneBy(Users, { id: userId })) ?? undefined;
}

export async function findLiveRun(em: EntityManager, taskId: string): Promise<RunRow | null> {
  return em.createQueryBuilder(Runs, 'r').where(`r.taskId = :taskId and r.status in ${liveRun}`, { taskId }).getOne();
}

/** Finds the subtasks of a task that have a live run. */
export async function listLiveSubtasks(em: EntityManager, parentId: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select t.id from tasks t where t.parent_id = $1
       and exists (select 1 from runs r where r.task_id = t.id and r.status in ${liveRun})
     order by t.created_at, t.id`,
    [parentId],
  );
  return rows.map((r) => r.id);
}

/** Instructions may have hundreds of kilobytes. */
const listedColumns = Object.fromEntries(
  Object.keys(Runs.options.columns).map((name) => [name, name !== 'instructions']),
);

/**
 * Returns the runs, newest first. Reads one row more than the limit, so that the caller can tell whether there is
 * another page.
 */
export async function listRuns(
  em: EntityManager,
  taskId: string,
  page: { limit: number; offset: number },
): Promise<Omit<RunRow, 'instructions'>[]> {
  return em.find(Runs, {
    select: listedColumns,
    where: { taskId },
    order: { createdAt: 'DESC', id: 'DESC' },
    take: page.limit + 1,
    skip: page.offset,
  });
}

/**
 * Adds what an answer of the model used to the figures of a run. It counts for a run that has ended too, because its last
 * answer may arrive after that. Returns false when the run was deleted.
 */
export async function addUsage(em: EntityManager, runId: string, usage: Paid): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update runs set input_tokens = input_tokens + $2, cached_input_tokens = cached_input_tokens + $3,
       output_tokens = output_tokens + $4, model = $6,
       cost_usd = case when $5::numeric is null then cost_usd else coalesce(cost_usd, 0) + $5 end where id = $1`,
    [runId, usage.inputTokens, usage.cachedInputTokens, usage.outputTokens, usage.costUsd, usage.model],
  );
  return count > 0;
}

/** Counts a turn of a run. It is progress, so this resets what is counted of interruptions and pauses. */
export async function countTurn(em: EntityManager, runId: string): Promise<void> {
  await em.query(
    `update runs set steps = steps + 1, interruptions = 0, model_pauses = 0, host_pauses = 0, host_away_since = null
     where id = $1`,
    [runId],
  );
}

/** What counts against the limits of a run, as the database has it now. */
export interface RunFigures {
  steps: number;
  /** Those of the other runs of its family included, like the costs, in US dollars. */
  tokens: number;
  costUsd: number;
  /** What its project has cost today (UTC). */
  dayCostUsd: number;
  /** What the projects of the person who created the project without an installation have cost today; null for others. */
  creatorDayCostUsd: number | null;
  /** Since the run was first started, without the time that it waited. */
  minutes: number;
}

/**
 * Reads in one statement, because every turn does, what counts against the limits of a run. `familyId` is the task that its
 * agent may have split, or whose subtask the run works on. Since such a split, all runs of the task and of the subtasks that
 * the agent made share one budget, the run that made the split included.
 * @throws LeaseLost if the run was deleted
 */
export async function readFigures(em: EntityManager, runId: string, familyId: string): Promise<RunFigures> {
  const rows: RunFigures[] = await em.query(
    `with split as (
       select min(s.created_at) as at from tasks s where s.parent_id = $2 and s.created_by is null),
     family as (
       select coalesce(sum(o.input_tokens - o.cached_input_tokens + o.output_tokens), 0) as tokens,
         coalesce(sum(o.cost_usd), 0) as cost
       from runs o join tasks t on t.id = o.task_id, split
       where (t.id = $2 or t.parent_id = $2 and t.created_by is null) and o.id <> $1
         and (o.created_at >= split.at or o.finished_at >= split.at)),
     today as (select (now() at time zone 'UTC')::date as day)
     select r.steps, (r.input_tokens - r.cached_input_tokens + r.output_tokens + f.tokens)::float8 as tokens /* not null */,
       (coalesce(r.cost_usd, 0) + f.cost)::float8 as "costUsd" /* not null */,
       (select coalesce(sum(d.cost_usd), 0) from spend_days d, today where d.project_id = r.project_id and d.day = today.day)::float8
         as "dayCostUsd" /* not null */,
       case when p.created_by is not null then coalesce((select s.cost_usd from person_spend_days s, today
         where s.user_id = p.created_by and s.day = today.day), 0) end::float8 as "creatorDayCostUsd",
       coalesce((extract(epoch from clock_timestamp() - r.started_at) - r.waited_seconds) / 60, 0)::float8 as minutes
     from runs r join projects p on p.id = r.project_id, family f where r.id = $1`,
    [runId, familyId],
  );
  const [row] = rows;
  if (row === undefined) throw new LeaseLost(runId);
  return row;
}
