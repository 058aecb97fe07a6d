import type { EntityManager } from 'typeorm';
import { modelFor } from '../agents/model.ts';
import { findAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables.ts';
import { Tasks } from '../db/work-tables.ts';
import { Refused } from '../domain/machine.ts';
import { mayReveal } from '../domain/private-content.ts';
import type { RunKind } from '../domain/run.ts';
import { AppError } from '../errors.ts';
import { findProject } from '../projects/store.ts';
import { credentialFor, noCredential } from '../repositories/credentials.ts';
import { findPrimary, findRepository } from '../repositories/store.ts';
import { moveTask, tryMoveTask } from '../tasks/move.ts';
import { giveRevisionsTo, insertRevision, listWaitingRevisions, type Revision } from '../tasks/revisions.ts';
import { getTask, type TaskView } from '../tasks/store.ts';
import { abortHere } from './lease/live.ts';
import { endRun, findLiveRun, insertRun, listLiveSubtasks, lockForCancel } from './store.ts';

interface Starting {
  taskId: string;
  /** The user who asked for it. */
  startedBy: string | null;
  kind: Extract<RunKind, 'start' | 'retry'>;
  instructions?: string | undefined;
  /** The agent that takes the task over, if the start may happen at all. */
  owner?: string | undefined;
  /** What else belongs to the same transaction. */
  also?: (em: EntityManager) => Promise<void>;
}

/**
 * Starts or retries a task: moves it by its table and queues a run, together or not at all.
 * @throws Refused by the table; AppError 503 when the model or a git credential is missing
 */
export async function startTask(app: App, starting: Starting): Promise<TaskView> {
  // Asked before the transaction, because GitHub may have to be asked; said after the table had its word.
  const missing = await missingCredential(app, starting);
  return app.db.transaction(async (em) => {
    if (starting.owner !== undefined) await em.update(Tasks, { id: starting.taskId }, { owner: starting.owner });
    await moveTask(app, em, starting.taskId, starting.kind);
    if (missing !== undefined) throw missing;
    await queueRun(app, em, starting.taskId, starting);
    await starting.also?.(em);
    return getTask(em, starting.taskId);
  });
}

/** Queues the run of a task that was just moved; it takes up the revisions that wait. */
export async function queueRun(
  app: App,
  em: EntityManager,
  taskId: string,
  run: { kind: RunKind; startedBy: string | null; instructions?: string | undefined },
): Promise<void> {
  const task = await withRepository(em, await getTask(em, taskId));
  const waiting = await listWaitingRevisions(em, taskId);
  const texts = [...waiting.map((r) => r.text), run.instructions ?? ''];
  const runId = await insertRun(em, {
    taskId,
    projectId: task.projectId,
    agentId: task.owner as string,
    startedBy: run.startedBy,
    kind: run.kind,
    instructions: texts.filter((text) => text !== '').join('\n\n'),
  });
  await giveRevisionsTo(
    em,
    runId,
    waiting.map((r) => r.id),
  );
  await app.queue.send(em, 'run', {});
}

/**
 * Asks for a change of work that is in review: a run on the same branch. Asked while a run is live the text is kept, and
 * one run with all that was kept follows when that run leaves the task in review. Does nothing for a cause that was
 * taken before.
 * @throws Refused by the table; AppError 503 when the model or a git credential is missing
 */
export async function reviseTask(
  app: App,
  revision: Revision,
  also?: (em: EntityManager) => Promise<void>,
): Promise<TaskView> {
  const { taskId, askedBy } = revision;
  const missing = await missingCredential(app, { taskId });
  return app.db.transaction(async (em) => {
    const live = await findLiveRun(em, taskId);
    // The order of the locks is that of a run which ends: the run, then its task.
    if (live !== null) await em.query('select 1 from runs where id = $1 for update', [live.id]);
    const isNew = await insertRevision(em, revision);
    const isLive = live !== null && (await findLiveRun(em, taskId)) !== null;
    if (isNew && !isLive) {
      await moveTask(app, em, taskId, 'revise');
      if (missing !== undefined) throw missing;
      await queueRun(app, em, taskId, { kind: 'revise', startedBy: askedBy });
    }
    await also?.(em);
    return getTask(em, taskId);
  });
}

/** One run with all revisions that were kept while the last one ran, if there are any. */
export async function followRevisions(app: App, em: EntityManager, taskId: string): Promise<void> {
  const last = (await listWaitingRevisions(em, taskId)).at(-1);
  if (last === undefined || (await tryMoveTask(app, em, taskId, 'revise')) === undefined) return;
  await queueRun(app, em, taskId, { kind: 'revise', startedBy: last.askedBy });
}

/** The 503 that a run of the task would meet, if any. What the table of the task refuses anyway is left to it. */
async function missingCredential(
  app: App,
  { taskId, owner }: Pick<Starting, 'taskId' | 'owner'>,
): Promise<AppError | undefined> {
  const em = app.db.manager;
  const task = await withRepository(em, await getTask(em, taskId));
  const agentId = owner ?? task.owner;
  const agent = agentId === null ? null : await findAgent(em, agentId);
  const repository = task.repositoryId === null ? null : await findRepository(em, task.repositoryId);
  if (agent === null || repository === null) return undefined;
  if (await showsElsewhere(app, task, repository))
    return new AppError(
      409,
      'requires a public repository, because the issue of the task is public; or the project setting sharePrivateContext',
    );
  if (repository.isArchived)
    return new AppError(409, `requires a repository that takes changes, found ${repository.name} archived`);
  try {
    await modelFor(app, agent, task.projectId);
    return (await credentialFor(app, repository)).kind === 'none' ? noCredential() : undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** What a run reads in a private repository would show on a public issue (decisions, section 3). */
async function showsElsewhere(app: App, task: TaskView, repository: RepositoryRow): Promise<boolean> {
  if (task.issueRepositoryId === null) return false;
  const issues = await findRepository(app.db.manager, task.issueRepositoryId);
  return issues !== null && !mayReveal(repository, issues, await findProject(app.db.manager, task.projectId));
}

/** A task that was made before its project had a repository gets the primary one now. */
async function withRepository(em: EntityManager, task: TaskView): Promise<TaskView> {
  if (task.repositoryId !== null) return task;
  const primary = await findPrimary(em, task.projectId);
  if (primary === null) return task;
  await em.update(Tasks, { id: task.id }, { repositoryId: primary.id });
  return { ...task, repositoryId: primary.id };
}

/**
 * Stops the live run of a task; the branch stays. A push that is under way is waited for, then broken off, which the remote
 * may be past hearing; none begins after.
 * @throws Refused when nothing runs
 */
export async function cancelTask(app: App, taskId: string): Promise<TaskView> {
  if ((await getTask(app.db.manager, taskId)).status === 'waiting_on_subtasks') return cancelSubtasks(app, taskId);
  const run = await findLiveRun(app.db.manager, taskId);
  const task = await app.db.transaction(async (em) => {
    // The order of the locks is that of a run which ends by itself: the run, then its task.
    if (run !== null) await lockForCancel(em, run.id);
    await moveTask(app, em, taskId, 'cancel');
    const live = await findLiveRun(em, taskId);
    if (live?.id !== run?.id) throw new Refused('cancel requires the run it found, found another by now; try again');
    if (live !== null) await endRun(em, live.id, 'cancelled', null);
    return getTask(em, taskId);
  });
  if (run !== null) app.db.afterCommit(() => abortHere(run.id));
  return task;
}

/** A waiting parent stays waiting; what runs below it is stopped, and its join begins nothing by itself any more. */
async function cancelSubtasks(app: App, parentId: string): Promise<TaskView> {
  const live = await listLiveSubtasks(app.db.manager, parentId);
  if (live.length === 0)
    throw new Refused('cancel requires a queued or running run of a subtask while waiting on subtasks, found none');
  await app.db.manager.update(Tasks, { id: parentId }, { splitByAgent: false });
  for (const id of live)
    await cancelTask(app, id).catch((error) => {
      // Ended by itself meanwhile.
      if (!(error instanceof Refused)) throw error;
    });
  return getTask(app.db.manager, parentId);
}
