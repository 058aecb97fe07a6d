import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { liveRun } from '../db/tables/run.ts';
import { type Failure, LeaseLost, type RunStatus } from '../domain/run.ts';
import { storableJson, storableText } from '../domain/text/sanitize.ts';
import { currentSpan } from '../tracing/traced.ts';
import { isVoid } from './proof/proof-store.ts';
import { assertLeased, endRun, type Leased } from './store.ts';

/** Ends a live run, as `endRun` does, and logs its end once that is committed. Returns false when it has ended already. */
export async function concludeRun(
  app: App,
  em: EntityManager,
  { id: runId, taskId }: { id: string; taskId: string },
  status: RunStatus,
  failure: Failure | null = null,
): Promise<boolean> {
  if (!(await endRun(em, runId, status, failure))) return false;
  const outcome = { status, ...(failure === null ? {} : { category: failure.category }) };
  currentSpan()?.set({ 'deckhand.run.status': status, 'deckhand.run.category': failure?.category });
  app.db.afterCommit(() => app.log.info({ runId, taskId, ...outcome }, 'run ended'), em);
  return true;
}

/** Returns the data of a recorded step. */
export async function findStep<T>(em: EntityManager, runId: string, name: string): Promise<T | undefined> {
  const rows: { data: T }[] = await em.query('select data from run_steps where run_id = $1 and name = $2', [
    runId,
    name,
  ]);
  return rows[0]?.data;
}

export async function insertStep(em: EntityManager, runId: string, name: string, data: object): Promise<void> {
  await em.query('insert into run_steps (run_id, name, data) values ($1, $2, $3)', [runId, name, storableJson(data)]);
  await noteProgress(em, runId);
}

/** SQL: locks the run $1 until the transaction ends, and finds it only if the worker with the fence $2 has its lease. */
const leased = `leased as (select id from runs where id = $1 and fence = $2 and status = 'running' for update)`;

/**
 * Records a step if this worker has the lease of the run. It is what `write` with `insertStep` does, in one statement instead of five,
 * because a run records dozens of steps.
 * @throws LeaseLost
 */
async function insertLeasedStep(em: EntityManager, run: Leased, name: string, data: object): Promise<void> {
  const rows: unknown[] = await em.query(
    `with ${leased},
       progress as (update runs set interruptions = 0 where id in (select id from leased) and interruptions > 0)
     insert into run_steps (run_id, name, data) select id, $3::text, $4::jsonb from leased returning 1`,
    [run.id, run.fence, name, storableJson(data)],
  );
  if (rows.length === 0) throw new LeaseLost(run.id);
}

/** Forgets a step, so that the run takes it again. */
export async function deleteStep(em: EntityManager, runId: string, name: string): Promise<void> {
  await em.query('delete from run_steps where run_id = $1 and name = $2', [runId, name]);
}

export async function listStepNames(em: EntityManager, runId: string, prefix: string): Promise<string[]> {
  const rows: { name: string }[] = await em.query(
    'select name from run_steps where run_id = $1 and starts_with(name, $2) order by at, name',
    [runId, prefix],
  );
  return rows.map((r) => r.name);
}

/** At most so many runs of a task are looked at. */
const maxRuns = 1000;

/** Returns the data of a step in all runs of a task, the newest run first. */
export async function listStepsOfTask<T>(em: EntityManager, taskId: string, name: string): Promise<T[]> {
  const rows: { data: T }[] = await em.query(
    `select s.data from run_steps s join runs r on r.id = s.run_id where r.task_id = $1 and s.name = $2
     order by r.created_at desc, r.id desc limit $3`,
    [taskId, name, maxRuns],
  );
  return rows.map((row) => row.data);
}

/** Longer lines in the log of a run are cut to this many characters. */
const maxEventText = 2000;

export async function insertEvent(
  em: EntityManager,
  runId: string,
  type: string,
  text: string,
  data: object,
): Promise<void> {
  await em.query('insert into run_events (run_id, type, text, data) values ($1, $2, $3, $4)', [
    runId,
    type,
    storableLine(text),
    storableJson(data),
  ]);
}

const storableLine = (text: string) => storableText(text).slice(0, maxEventText);

/** Adds a line to the log of a run if this worker has its lease, in one statement. @throws LeaseLost */
async function insertLeasedEvent(
  em: EntityManager,
  run: Leased,
  line: { type: string; text: string; data: object },
): Promise<void> {
  const rows: unknown[] = await em.query(
    `with ${leased}
     insert into run_events (run_id, type, text, data) select id, $3::text, $4::text, $5::jsonb from leased returning 1`,
    [run.id, run.fence, line.type, storableLine(line.text), storableJson(line.data)],
  );
  if (rows.length === 0) throw new LeaseLost(run.id);
}

/** Returns when something of this type happened last. */
export async function findLastEventAt(em: EntityManager, runId: string, type: string): Promise<Date | undefined> {
  const rows: { at: Date }[] = await em.query(
    'select at from run_events where run_id = $1 and type = $2 order by id desc limit 1',
    [runId, type],
  );
  return rows[0]?.at;
}

/** Returns the log of a run, oldest line first. */
export async function listEvents(
  em: EntityManager,
  runId: string,
  { afterId = '0', limit = null, offset = 0 }: { afterId?: string; limit?: number | null; offset?: number } = {},
) {
  const rows: { id: string; at: Date; type: string; text: string; data: Record<string, unknown> }[] = await em.query(
    `select id::text, at, type, text, data from run_events where run_id = $1 and id > $2::bigint
     order by run_events.id limit $3 offset $4`,
    [runId, afterId, limit, offset],
  );
  return rows;
}

/**
 * Returns the newest events of a run that GitHub may show, oldest first. Commands choose what they write and which hosts they ask for,
 * and set-up has secrets, so both are shown on the dashboard only.
 */
export async function listShownEvents(em: EntityManager, runId: string, limit: number) {
  const rows: { at: Date; type: string; text: string; data: Record<string, unknown> }[] = await em.query(
    `select at, type, text, data from (
       select * from run_events where run_id = $1 and type <> 'network' and not data ? 'isOutput'
       order by run_events.id desc limit $2) newest
     order by newest.id`,
    [runId, limit],
  );
  return rows;
}

/** At most this many results of checks are returned, of all repositories of a run. */
const maxChecks = 100;

/**
 * Returns the last result of each check in the latest run of a task that ran any, in the order in which they ended.
 * Results about other files than those that the run pushed are left out, and all of them once the branch has other
 * commits.
 */
export async function listRunChecks(em: EntityManager, taskId: string) {
  const rows: { name: string; passed: boolean }[] = await em.query(
    `with latest as (
         select r.id from runs r where r.task_id = $1
           and exists (select 1 from run_events e where e.run_id = r.id and e.type = 'check')
         order by r.created_at desc, r.id desc limit 1),
       results as (select distinct on (1) regexp_replace(e.text, ': (passed|failed)$', '') as name,
           (e.data->>'passed')::boolean as passed /* not null */, e.id
         from run_events e join latest l on l.id = e.run_id join runs r on r.id = l.id left join proofs p on p.run_id = l.id
         where e.type = 'check' and e.data ? 'passed' and (p.run_id is null or not ${isVoid}
           and (not e.data ? 'tree' or p.trees ->> (e.data->>'repositoryId') = e.data->>'tree'))
         order by 1, e.id desc)
     select name, passed from results order by id limit $2`,
    [taskId, maxChecks],
  );
  return rows;
}

/**
 * Returns whether a run of a task got an answer of an MCP server, as far as its log is still kept. The runs of its parent, its subtasks and
 * its dependencies count, too, because its runs read their words, and so do those that these read.
 */
export async function hasMcpAnswers(em: EntityManager, taskId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `with recursive read as (
       select $1::text as id
       union select other.id from read join lateral (
         select parent_id as id from tasks where id = read.id and parent_id is not null
         union all select id from tasks where parent_id = read.id
         union all select depends_on_id from task_dependencies where task_id = read.id) other on true)
     select 1 from read join runs r on r.task_id = read.id join run_events e on e.run_id = r.id
     where e.type = 'mcp' and e.data->>'ok' = 'true' limit 1`,
    [taskId],
  );
  return rows.length > 0;
}

/** Deletes log lines of runs that have ended, oldest first. Returns the number deleted. */
export async function deleteOldEvents(em: EntityManager, days: number, limit: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `delete from run_events where id in (
       select e.id from run_events e join runs r on r.id = e.run_id
       where e.at < now() - make_interval(days => $1) and r.finished_at is not null
       order by e.at limit $2)`,
    [days, limit],
  );
  return count;
}

/** Resets the count of interruptions. */
export async function noteProgress(em: EntityManager, runId: string): Promise<void> {
  await em.query('update runs set interruptions = 0 where id = $1 and interruptions > 0', [runId]);
}

/** The step that holds how the agent ended its conversation and what the host judged. */
export const endingStep = 'ending';

/** The recorded steps of a run. A recorded step is never repeated, even when another worker continues the run. */
export interface Journal {
  /**
   * Returns the data of a step. Calls `make` only if the step is not recorded yet. A worker may stop between `make` and
   * the recording, so `make` must check what exists before it creates anything.
   */
  once<T extends object>(name: string, make: () => Promise<T>): Promise<T>;
  /** Returns the data of a recorded step; undefined for any other. */
  recall<T>(name: string): Promise<T | undefined>;
  /** Returns the names of the recorded steps that start with a prefix, in the order in which they were recorded. */
  steps(prefix: string): Promise<string[]>;
  /** Runs a transaction that commits only while this worker has its lease. @throws LeaseLost */
  write<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
  /** Adds a line to the run's log, which people read. */
  note(type: string, text: string, data?: object): Promise<void>;
}

export function openJournal(app: App, run: Leased): Journal {
  const write = <T>(work: (em: EntityManager) => Promise<T>) =>
    app.db.transaction(async (em) => {
      await assertLeased(em, run);
      return work(em);
    });
  return {
    write,
    recall: (name) => findStep(app.db.manager, run.id, name),
    steps: (prefix) => listStepNames(app.db.manager, run.id, prefix),
    once: async (name, make) => {
      const known = await findStep<Awaited<ReturnType<typeof make>>>(app.db.manager, run.id, name);
      if (known !== undefined) return known;
      const data = await make();
      await insertLeasedStep(app.db.manager, run, name, data);
      return data;
    },
    note: (type, text, data = {}) => insertLeasedEvent(app.db.manager, run, { type, text, data }),
  };
}

/**
 * Returns the name of a step for one repository. The task's own repository uses the plain name; for any other, its id
 * is appended.
 */
export function stepOf(step: string, task: { repositoryId: string | null }, repository: { id: string }): string {
  return repository.id === task.repositoryId ? step : `${step} ${repository.id}`;
}

/** The step that holds the branch and the commit that a run is about to push, so that a later run knows them as ours. */
export const pushingStep = 'pushing';

/** The steps whose names start with this hold a commit that GitHub has made for a run, or why it made none. */
export const signedPrefix = 'signed ';

/** SQL: whether a step `s` holds the commit $1. The index knows these names only as they are written here. */
const holdsCommit = `(starts_with(s.name, 'pushing') or starts_with(s.name, 'signed ')) and s.data ->> 'commit' = $1`;

/**
 * Returns whether a commit is one that a run was about to push, or that GitHub has made for it, even if the run was cancelled
 * then. Everybody with write permission can put a commit on any branch, so the run may be for any task unless one is given.
 */
export async function isCommitOfRun(em: EntityManager, commit: string, taskId?: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from run_steps s join runs r on r.id = s.run_id
     where ${holdsCommit}
       and ($2::text is null or r.task_id = $2) limit 1`,
    [commit, taskId ?? null],
  );
  return rows.length > 0;
}

/**
 * Returns whether a commit is one that a run of a repository's project is about to push, and has not stored the pull request of. The
 * event of the pull request may arrive before that.
 */
export async function isBeingPublished(em: EntityManager, commit: string, repositoryId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from run_steps s join runs r on r.id = s.run_id and r.status in ${liveRun}
       join repositories o on o.project_id = r.project_id
     where ${holdsCommit} and o.id = $2
       and not exists (select from pull_requests p where p.task_id = r.task_id and p.repository_id = o.id) limit 1`,
    [commit, repositoryId],
  );
  return rows.length > 0;
}

/** The step of a rewound run that holds the branch of the run that it goes back to, one for each repository. */
export const earlierStep = 'earlier branch';

/** The step that holds the first turn (numbered from 0) up to which the files of a run are still known. */
export const droppedStep = 'files dropped';
