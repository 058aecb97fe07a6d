import type { EntityManager } from 'typeorm';
import type { Approvable } from '../../conversation/ending.ts';
import { newId } from '../../db/ids.ts';
import { reasonsForNobody } from '../../db/tables/run.ts';
import { storableJson, storableText } from '../../domain/text/sanitize.ts';
import type { NewWait, RunPlan } from '../../domain/waiting.ts';
import { openedPrefix } from '../../repositories/store.ts';
import type { StoredDiff } from '../../tasks/work-store.ts';

export interface StoredWait extends NewWait {
  id: string;
  /** When the run continues, in seconds from now; null when it waits for a person. */
  seconds: number | null;
}

/**
 * SQL: the assignment that adds the wait since `waiting_since` to the time that a run has waited. The clock of a run
 * that has not started does not run yet, so its waits do not count. Part of a second is left out, so that the clock never goes back.
 */
export const addWait = `waited_seconds = waited_seconds
  + case when started_at is null then 0 else coalesce(floor(extract(epoch from now() - waiting_since)), 0)::int end`;

/**
 * Lets a run wait: it gives up its lease and its slot. The caller has locked the run, and has checked that it is queued,
 * or that the worker has its lease.
 */
export async function setWaiting(em: EntityManager, runId: string, wait: StoredWait): Promise<void> {
  await em.query(
    `update runs set status = 'waiting', lease_until = null, not_before = null, ${addWait}, waiting_since = now(),
       wait_id = $2, wait_reason = $3, wait_text = $4, wait_options = $5,
       resume_at = now() + make_interval(secs => $6::float8), pause_text = null
     where id = $1`,
    [runId, wait.id, wait.reason, storableText(wait.text), storableJson(wait.options), wait.seconds],
  );
}

/** Queues a waiting run. `waiting_since` stays, because the clock of the run stands still until a worker claims it. */
export async function endWaiting(em: EntityManager, runId: string): Promise<void> {
  await em.query(`update runs set status = 'queued', resume_at = null where id = $1 and status = 'waiting'`, [runId]);
}

/**
 * Asks a running run to pause before its next turn; null withdraws that. The statement names `steps`, so that the trigger for
 * event streams tells the pages of other people.
 */
export async function setPause(em: EntityManager, runId: string, text: string | null): Promise<void> {
  await em.query('update runs set pause_text = $2, steps = steps where id = $1', [runId, text && storableText(text)]);
}

/** Returns why a run was asked to pause before its next turn; undefined when it was not. */
export async function findPause(em: EntityManager, runId: string): Promise<string | undefined> {
  const [row]: { text: string | null }[] = await em.query('select pause_text as text from runs where id = $1', [runId]);
  return row?.text ?? undefined;
}

/** SQL: run r has waited for a person for longer than `days`, an SQL expression; 0 days never pass. */
const hasExpired = (days: string) => `r.status = 'waiting' and r.wait_reason not in ${reasonsForNobody} and ${days} > 0
  and r.waiting_since < now() - ${days} * interval '1 day'`;

/** Returns whether a run has waited for a person for longer than this many days. */
export async function hasExpiredWaits(em: EntityManager, days: number): Promise<boolean> {
  const [row]: [{ found: boolean }] = await em.query(
    `select exists (select 1 from runs r where ${hasExpired('$1::float8')}) as found`,
    [days],
  );
  return row.found;
}

/** Finds the runs that have waited for a person for longer than this many days, or whether one run has. */
export async function listExpiredWaits(em: EntityManager, days: number, runId: string | null = null) {
  const rows: { runId: string; taskId: string }[] = await em.query(
    `select r.id as "runId", r.task_id as "taskId" from runs r
     where ${hasExpired('$1::float8')} and ($2::text is null or r.id = $2) order by r.waiting_since, r.id`,
    [days, runId],
  );
  return rows;
}

/** Counts one pause for the model. The next turn starts the count again, but not the total. */
export async function addModelPause(em: EntityManager, runId: string, seconds: number): Promise<void> {
  await em.query(
    'update runs set model_pauses = model_pauses + 1, model_pause_seconds = model_pause_seconds + $2 where id = $1',
    [runId, Math.ceil(seconds)],
  );
}

/** SQL: the host of the repository of the task `id`, an SQL expression. */
const hostOf = (id: string) => `(select substring(p.url from '^[a-z]+://(?:[^/@]*@)?([^/]+)')
  from tasks t join repositories p on p.id = t.repository_id where t.id = ${id})`;

/**
 * Counts one pause for the host of a run's repository. With `endsEarly` the wait ends as soon as another run reaches the
 * host. Returns how many pauses came before it, and for how many days the host has been unavailable.
 */
export async function addHostPause(em: EntityManager, runId: string, endsEarly: boolean) {
  const [[row]]: [[{ earlier: number; days: number }]] = await em.query(
    `update runs set host_pauses = host_pauses + 1, host_away_since = coalesce(host_away_since, now()),
       wait_host = case when $2 then ${hostOf('runs.task_id')} end
     where id = $1
     returning host_pauses - 1 as earlier, extract(epoch from now() - host_away_since)::float8 / 86400 as days`,
    [runId, endsEarly],
  );
  return row;
}

/**
 * Ends the waits for the host of a run's repository, because this run has reached it. A run that has just begun to wait
 * goes on waiting: it may have failed at something else than what this run tried.
 */
export async function endHostWaits(em: EntityManager, { taskId }: { taskId: string }): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `update runs set resume_at = now()
     where status = 'waiting' and wait_reason = 'host' and wait_host = ${hostOf('$1')} and resume_at > now()
       and waiting_since < now() - interval '5 seconds'`,
    [taskId],
  );
  return count;
}

/** SQL: the wait of run r is over. */
export const isDue = `r.status = 'waiting' and r.resume_at <= now()`;

/** Queues the runs whose wait is over. Returns the ids of their tasks. */
export async function queueDueRuns(em: EntityManager): Promise<string[]> {
  const [rows]: [{ taskId: string }[]] = await em.query(
    `update runs set status = 'queued', resume_at = null
     where id in (select r.id from runs r where ${isDue} order by r.resume_at, r.id for update skip locked)
     returning task_id as "taskId"`,
  );
  return rows.map((row) => row.taskId);
}

/** Something that a person said to a run. */
export interface RunMessage {
  id: string;
  text: string;
}

/** Stores what somebody said to a run. Its agent reads it before its next turn. */
export async function insertMessage(
  em: EntityManager,
  message: { runId: string; text: string; saidBy: string | null },
): Promise<void> {
  const { runId, text, saidBy } = message;
  await em.query('insert into run_messages (id, run_id, text, said_by) values ($1, $2, $3, $4)', [
    newId('said'),
    runId,
    storableText(text),
    saidBy,
  ]);
}

/** Returns what the agent of a run has not read yet, oldest first. */
export async function listUnread(em: EntityManager, runId: string): Promise<RunMessage[]> {
  return em.query('select id, text from run_messages where run_id = $1 and turn is null order by at, id', [runId]);
}

/** Returns what the agent of a run has not read yet, as `listUnread` does, and whether somebody asked the run to pause. */
export async function findNews(em: EntityManager, runId: string): Promise<{ isPaused: boolean; unread: RunMessage[] }> {
  const rows: { isPaused: boolean; id: string | null; text: string | null }[] = await em.query(
    `select r.pause_text is not null as "isPaused", m.id, m.text
     from runs r left join run_messages m on m.run_id = r.id and m.turn is null where r.id = $1 order by m.at, m.id`,
    [runId],
  );
  const unread = rows.flatMap(({ id, text }) => (id === null || text === null ? [] : [{ id, text }]));
  return { isPaused: rows[0]?.isPaused ?? false, unread };
}

/** Marks messages as read before this turn. */
export async function markRead(em: EntityManager, ids: string[], turn: number): Promise<void> {
  if (ids.length > 0) await em.query('update run_messages set turn = $2 where id = any($1)', [ids, turn]);
}

/**
 * Turns what the agent of a run that has ended did not read into revisions, which the next run of the task takes up, and
 * says so in the log of the run. An approved plan or a request may repeat what the run had read, so they keep with them what it had opened.
 */
export async function keepUnread(em: EntityManager, runId: string): Promise<void> {
  await em.query(
    `with unread as (delete from run_messages where run_id = $1 and turn is null returning id, text, said_by, at),
       opened as (select coalesce(jsonb_agg(substr(name, length($2) + 1)), '[]') as ids
         from run_steps where run_id = $1 and starts_with(name, $2)),
       kept as (insert into revisions (id, task_id, source, text, asked_by, created_at, repository_ids)
         select 'rev_' || substr(u.id, 6), r.task_id, 'person', u.text, u.said_by, u.at, o.ids
         from unread u join runs r on r.id = $1 cross join opened o returning 1)
     insert into run_events (run_id, type, text)
       select $1, 'said', 'the run ended before its agent read the last messages; the next run reads them'
       where exists (select 1 from unread)`,
    [runId, openedPrefix],
  );
}

/** Stores a plan that a run proposes. Its id is that of the wait for its approval. */
export async function insertPlan(
  em: EntityManager,
  { id, runId, taskId }: { id: string; runId: string; taskId: string },
  { markdown, files, checks }: RunPlan,
): Promise<void> {
  await em.query('insert into plans (id, run_id, task_id, markdown, files, checks) values ($1, $2, $3, $4, $5, $6)', [
    id,
    runId,
    taskId,
    storableText(markdown),
    storableJson(files),
    storableJson(checks),
  ]);
}

export async function findPlan(em: EntityManager, id: string): Promise<RunPlan | undefined> {
  const rows: RunPlan[] = await em.query('select markdown, files, checks from plans where id = $1', [id]);
  return rows[0];
}

/** Approves a plan. `changed` is what the person made of its text; what the agent had proposed is kept beside it. */
export async function approvePlan(
  em: EntityManager,
  id: string,
  userId: string,
  changed: string | undefined,
): Promise<void> {
  await em.query(
    `update plans set approved_at = now(), approved_by = $2,
       proposed = case when $3::text is not null then markdown end, markdown = coalesce($3, markdown)
     where id = $1`,
    [id, userId, changed === undefined ? null : storableText(changed)],
  );
}

export interface ApprovedPlan extends RunPlan {
  runId: string;
  /** Whether the person who approved it had changed it. */
  isChanged: boolean;
}

/**
 * Finds the plan of a task that was approved last, for a run. `until` leaves out plans of other runs that were approved
 * later.
 */
export async function findApprovedPlan(
  em: EntityManager,
  taskId: string,
  { runId, until }: { runId: string; until: Date | null },
): Promise<ApprovedPlan | undefined> {
  const rows: ApprovedPlan[] = await em.query(
    `select run_id as "runId", markdown, files, checks, proposed is not null as "isChanged" from plans
     where task_id = $1 and approved_at is not null
       and (run_id = $2 or $3::timestamptz is null or approved_at <= $3)
     order by approved_at desc limit 1`,
    [taskId, runId, until],
  );
  return rows[0];
}

/** Stores a change that waits for approval. Removes the approvals that the run had for any other change. */
export async function holdChange(
  em: EntityManager,
  { id, taskId }: { id: string; taskId: string },
  { purpose, trees, parents, findings, expectations }: Approvable,
  diff: StoredDiff,
): Promise<void> {
  const { branchName, baseBranch, files, truncated } = diff;
  await em.query(
    `delete from held_changes
     where run_id = $1 and (approved_at is null or purpose = $2 or trees <> $3 or parents <> $4 or findings <> $5)`,
    [id, purpose, trees, parents, storableJson(findings)],
  );
  await em.query(
    `insert into held_changes
       (run_id, task_id, purpose, trees, parents, findings, expectations, branch_name, base_branch, files, truncated)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      ...[id, taskId, purpose, trees, parents, storableJson(findings), storableJson(expectations)],
      ...[branchName, baseBranch, storableJson(files), truncated],
    ],
  );
}

/** Approves the change for which a run waits. */
export async function approveChange(em: EntityManager, runId: string, userId: string): Promise<void> {
  await em.query(
    'update held_changes set approved_at = now(), approved_by = $2 where run_id = $1 and approved_at is null',
    [runId, userId],
  );
}

/** Returns whether a person approved exactly this for a run, with exactly these findings and at least these expectations. */
export async function isApproved(em: EntityManager, runId: string, wanted: Approvable): Promise<boolean> {
  const { purpose, trees, parents, findings, expectations } = wanted;
  const rows: unknown[] = await em.query(
    `select from held_changes
     where run_id = $1 and approved_at is not null and purpose = $2 and trees = $3 and parents = $4 and findings = $5
       and expectations @> $6`,
    [runId, purpose, trees, parents, storableJson(findings), storableJson(expectations)],
  );
  return rows.length > 0;
}

/** Returns whether a person accepted in a run of a task that these expectations changed with this tree of a repository. */
export async function hasAccepted(
  em: EntityManager,
  taskId: string,
  repositoryId: string,
  tree: string,
  expectations: string,
): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from held_changes
     where task_id = $1 and approved_at is not null and purpose = 'push' and trees ->> $2 = $3 and expectations ? $4`,
    [taskId, repositoryId, tree, expectations],
  );
  return rows.length > 0;
}
