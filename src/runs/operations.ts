import type { EntityManager } from 'typeorm';
import { versionForTask } from '../agents/learning/rollout.ts';
import { modelOfRun } from '../agents/model.ts';
import { findAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { changesBetween } from '../domain/audit.ts';
import { Refused } from '../domain/machine.ts';
import type { RewoundFrom, RunKind } from '../domain/run.ts';
import { assertSteerable } from '../domain/run.ts';
import { mayReveal } from '../domain/settings.ts';
import { AppError } from '../errors.ts';
import { findProject } from '../projects/store.ts';
import { credentialFor, noCredential } from '../repositories/credentials.ts';
import { listMergingPulls } from '../repositories/merging/store.ts';
import { findPrimary, findRepository } from '../repositories/store.ts';
import { moveTask, tryMoveTask } from '../tasks/move.ts';
import { getTask, hasLiveRunBelow, setTaskFields, type TaskView, takeResponsibility } from '../tasks/store.ts';
import {
  giveRevisionsTo,
  insertRevision,
  isOfOwn,
  listWaitingRevisions,
  type Revision,
  sizeOfWaitingRevisions,
} from '../tasks/work-store.ts';
import { directorsAtStart, listUnseenWriters } from './directors.ts';
import { storeCancelHandoff } from './handoffs.ts';
import { concludeRun } from './journal.ts';
import { keepQuote } from './quote/quote-task.ts';
import { findLiveRun, insertRun, listLiveSubtasks, lockForCancel, lockRun } from './store.ts';
import { runToTakeUp } from './taking-up/take-up-store.ts';

/**
 * Returns why an agent could not work on a task now: Refused (409) when the repository forbids it, AppError 503 when a
 * model or a git credential is missing. Changes nothing. Does not check for a missing agent or repository, because the
 * state machine of the task refuses the start in that case. May send requests to GitHub, so call it outside of
 * transactions.
 */
export async function startProblem(
  app: App,
  { taskId, owner }: { taskId: string; owner?: string | undefined },
): Promise<Refused | AppError | undefined> {
  const task = await getTask(app.db.manager, taskId);
  return startProblemOf(app, { ...task, owner: owner ?? task.owner });
}

type Startable = Pick<TaskView, 'owner' | 'projectId' | 'repositoryId' | 'issueRepositoryId'> &
  Partial<Pick<TaskView, 'undoOf'>>;

/** Does the same as `startProblem` for a task that need not exist yet. */
export async function startProblemOf(app: App, task: Startable): Promise<Refused | AppError | undefined> {
  const em = app.db.manager;
  const agent = task.owner === null ? null : await findAgent(em, task.owner);
  const repository = await repositoryFor(em, task);
  if (agent === null || repository === null) return undefined;
  if (await wouldReveal(app, task, repository))
    return new Refused(
      'The issue of this task is public, but the task works on a private repository. Choose a public repository, or turn on sharePrivateContext in the project settings.',
    );
  if (repository.isArchived)
    return new Refused(`The repository ${repository.name} is archived and cannot be changed. Unarchive it first.`);
  try {
    // An undo needs a model only if something conflicts.
    if (task.undoOf == null) await modelOfRun(app, agent, task.projectId);
    return (await credentialFor(app, repository)).kind === 'none' ? noCredential() : undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/**
 * Finds the repository that a run of the task would work on: the task's own, otherwise the primary one of its project.
 */
export async function repositoryFor(em: EntityManager, task: Startable): Promise<RepositoryRow | null> {
  return task.repositoryId === null ? findPrimary(em, task.projectId) : findRepository(em, task.repositoryId);
}

/** Returns whether a public issue would show what a run reads in a private repository. */
export async function wouldReveal(app: App, task: Startable, repository: RepositoryRow): Promise<boolean> {
  if (task.issueRepositoryId === null) return false;
  const ofIssue = await findRepository(app.db.manager, task.issueRepositoryId);
  return ofIssue !== null && !mayReveal(repository, ofIssue, await findProject(app.db.manager, task.projectId));
}

interface Starting {
  taskId: string;
  /** The user who asked for the run; null when nobody did. */
  startedBy: string | null;
  kind: Extract<RunKind, 'start' | 'retry'>;
  /** The service starts the run, not a person. The rights of the task's directors count then. */
  isAutomatic?: boolean;
  instructions?: string | undefined;
  /** The agent that becomes the owner of the task, unless the start is refused. */
  owner?: string | undefined;
  /** Whether the person saw what the task says. Called with the task locked. Without it, who retries saw only the work. */
  isTextSeen?: (em: EntityManager) => Promise<boolean>;
  /** Whether the agent proposes a plan first; the task's own setting if undefined. */
  planFirst?: boolean;
  /** Called in the same transaction, after the run is queued. */
  also?: (em: EntityManager) => Promise<void>;
}

/**
 * Starts or retries a task: moves it to in_progress and queues a run, in one transaction.
 * @throws Refused when the task's state or its repository forbids it; AppError 503 when a model or a git credential is
 * missing
 */
export async function startTask(app: App, starting: Starting): Promise<TaskView> {
  const problem = await startProblem(app, starting);
  return app.db.transaction((em) => startTaskIn(app, em, starting, problem));
}

/**
 * Starts or retries a task, like `startTask`, in the caller's transaction. `problem` is what `startProblem` returned.
 * @throws Refused when the task's state forbids it; `problem`
 */
export async function startTaskIn(
  app: App,
  em: EntityManager,
  starting: Starting,
  problem: Error | undefined,
): Promise<TaskView> {
  const { taskId, kind, owner, planFirst, instructions } = starting;
  await setGiven(app, em, taskId, {
    ...(owner === undefined ? {} : { owner }),
    ...(planFirst === undefined ? {} : { planFirst }),
  });
  // If the task's state forbids the start, report that rather than other problems.
  await moveTask(app, em, taskId, kind);
  if (problem !== undefined) throw problem;
  const isTextSeen = (await starting.isTextSeen?.(em)) ?? kind === 'start';
  const before = await getTask(em, taskId);
  const runId = await queueRun(app, em, taskId, { ...starting, isTextSeen });
  await keepQuote(em, before, runId);
  if (instructions) app.audit.note({ instructions: [null, instructions] });
  await starting.also?.(em);
  return getTask(em, taskId);
}

/** Sets fields of a task, and notes those that change. */
async function setGiven(app: App, em: EntityManager, taskId: string, fields: { owner?: string; planFirst?: boolean }) {
  const names = Object.keys(fields) as (keyof typeof fields)[];
  if (names.length === 0) return;
  const { owner, planFirst } = await getTask(em, taskId);
  const before: { owner: string | null; planFirst: boolean | null } = { owner, planFirst };
  await setTaskFields(em, taskId, fields);
  app.audit.note(changesBetween(before, { ...before, ...fields }, names));
}

/**
 * Queues a run for a task that was just moved to in_progress, and returns its id. The run takes up the waiting revisions.
 * A task that was created before its project had a repository now gets the primary one. Its directors are the person who
 * started it, or if the service did, those of the task; and everybody else whose words it takes up. If that person did not
 * see what the task says, who wrote that counts too.
 */
export async function queueRun(
  app: App,
  em: EntityManager,
  taskId: string,
  run: {
    kind: RunKind;
    startedBy: string | null;
    isAutomatic?: boolean;
    isTextSeen?: boolean;
    instructions?: string | undefined;
    rewoundFrom?: RewoundFrom;
  },
): Promise<string> {
  const task = await getTask(em, taskId);
  const repository = task.repositoryId === null ? await repositoryFor(em, task) : null;
  if (repository !== null) await setTaskFields(em, taskId, { repositoryId: repository.id });
  const agentId = await versionForTask(em, task.owner as string, task);
  const waiting = await listWaitingRevisions(em, taskId);
  const continuesRunId = run.rewoundFrom?.runId ?? (await runToTakeUp(em, taskId, { kind: run.kind, agentId }));
  const isAutomatic = run.isAutomatic || run.startedBy === null;
  if (!isAutomatic && run.kind !== 'revise') await noteResponsible(app, em, task, run.startedBy as string);
  const starters = isAutomatic || run.startedBy === null ? task.directedBy : [run.startedBy];
  const writers = run.isTextSeen === false ? await listUnseenWriters(em, task) : [];
  // The worker adds those that repeat the content of other repositories, when it has asked who may know that.
  const own = waiting.filter((revision) => isOfOwn(revision, task.repositoryId ?? repository?.id ?? null));
  const texts = [...own.map(({ text }) => text), run.instructions ?? ''];
  const runId = await insertRun(em, {
    taskId,
    projectId: task.projectId,
    agentId,
    startedBy: run.startedBy,
    isAutomatic,
    directedBy: await directorsAtStart(em, task, {
      starters: [...starters, ...writers],
      waiting,
      rewoundTo: run.rewoundFrom?.runId,
    }),
    kind: run.kind,
    instructions: texts.filter((text) => text !== '').join('\n\n'),
    continuesRunId,
    rewoundTurn: run.rewoundFrom?.turn ?? null,
  });
  const revisionIds = waiting.map((r) => r.id);
  await giveRevisionsTo(em, runId, revisionIds);
  await app.queue.send(em, 'run', {});
  // What GitHub would merge when it is ready is taken back while an agent works on it.
  for (const { url, ...at } of await listMergingPulls(em, taskId)) await app.queue.send(em, 'pull', at, { key: url });
  return runId;
}

/**
 * Makes the person who starts a task responsible for it, and notes that. A person who asks for changes
 * of its work has reviewed it, and does not become responsible.
 */
async function noteResponsible(app: App, em: EntityManager, before: TaskView, userId: string): Promise<void> {
  const responsible = await takeResponsibility(em, before.id, userId);
  app.audit.note(changesBetween({ ...before }, { ...before, responsible }, ['responsible']));
}

/**
 * Asks for a change of work in review, which starts a new run on the same branch. During a live run, the revision is
 * stored. If that run leaves the task in review, one run handles all stored revisions. Does nothing if a revision with
 * the same cause is already stored.
 * @throws Refused when the task's state or its repository forbids it, or too much waits already; AppError 503 when a model or a git
 * credential is missing
 */
export async function reviseTask(
  app: App,
  revision: Revision,
  also?: (em: EntityManager) => Promise<void>,
): Promise<TaskView> {
  const { taskId, askedBy } = revision;
  const problem = await startProblem(app, { taskId });
  return app.db.transaction(async (em) => {
    const live = await findLiveRun(em, taskId);
    // A run that ends locks the run first and then its task. Using the same order here prevents a deadlock.
    if (live !== null) {
      assertSteerable(live);
      await lockRun(em, live.id);
    }
    const isNew = await insertRevision(em, revision);
    app.audit.note(isNew ? { request: [null, revision.words ?? revision.text] } : {});
    const isLive = live !== null && (await findLiveRun(em, taskId)) !== null;
    if (isNew && isLive) await assertMayWait(em, taskId);
    if (isNew && !isLive) {
      await moveTask(app, em, taskId, 'revise', { request: unaskedRequest(revision) });
      if (problem !== undefined) throw problem;
      // A person who asks for changes looks at the work, not at the task.
      await queueRun(app, em, taskId, { kind: 'revise', startedBy: askedBy, isTextSeen: false });
    }
    await also?.(em);
    return getTask(em, taskId);
  });
}

/** The characters of the revisions that may wait for a run. One run gets them all. */
const maxWaiting = 500_000;

/** @throws Refused when more revisions wait than a run can get */
async function assertMayWait(em: EntityManager, taskId: string): Promise<void> {
  const { count, characters } = await sizeOfWaitingRevisions(em, taskId);
  if (characters > maxWaiting)
    throw new Refused(
      `${count - 1} requests for changes wait for the run to end, and with this one they would have more than ${maxWaiting.toLocaleString('en')} characters. Wait for the run to end, or cancel it.`,
    );
}

/**
 * Returns what the timeline quotes of a revision that no person asked for: its words or, without the logs of checks below it, its
 * first paragraph. The request of a person is in the record of what that person did.
 */
function unaskedRequest({ askedBy, words, text }: Pick<Revision, 'askedBy' | 'words' | 'text'>): string | undefined {
  return askedBy === null ? (words ?? text.split('\n\n')[0]) : undefined;
}

/** Queues one run with all revisions that were stored during the last run, if there are any. */
export async function followRevisions(app: App, em: EntityManager, taskId: string): Promise<void> {
  const last = (await listWaitingRevisions(em, taskId)).at(-1);
  if (last === undefined) return;
  const request = unaskedRequest(last);
  if ((await tryMoveTask(app, em, taskId, 'revise', { request })) === undefined) return;
  // Others may have rewritten the task since the changes were asked for.
  await queueRun(app, em, taskId, { kind: 'revise', startedBy: last.askedBy, isAutomatic: true, isTextSeen: false });
}

/**
 * Cancels the live run of a task, or those of its subtasks while it waits for them. The branch stays. A push that is
 * under way gets a few seconds to finish before it is aborted; the remote may accept it even then. No push begins
 * afterwards. `isAgain` means that an earlier attempt was interrupted; then it is a success if nothing is left to cancel.
 * @throws Refused when there is no live run
 */
export async function cancelTask(app: App, taskId: string, isAgain = false): Promise<TaskView> {
  if (isAgain && !(await hasLiveRunBelow(app.db.manager, taskId))) {
    app.audit.note({});
    return getTask(app.db.manager, taskId);
  }
  if ((await getTask(app.db.manager, taskId)).status === 'waiting_on_subtasks') return cancelSubtasks(app, taskId);
  const run = await findLiveRun(app.db.manager, taskId);
  const task = await app.db.transaction(async (em) => {
    // A run that ends locks the run first and then its task. Using the same order here prevents a deadlock.
    if (run !== null) await lockForCancel(em, run.id);
    await moveTask(app, em, taskId, 'cancel');
    const live = await findLiveRun(em, taskId);
    if (live?.id !== run?.id)
      throw new Refused('The task started another run while you were cancelling. Reload and try again.');
    if (live !== null && (await concludeRun(app, em, live, 'cancelled'))) await storeCancelHandoff(app, em, live);
    return getTask(em, taskId);
  });
  if (run !== null) app.db.afterCommit(() => app.liveRuns.abort(run.id));
  return task;
}

/** Cancels the live run of a task, if there is one. A run that ends at the same moment keeps its result. */
export async function cancelIfRunning(app: App, taskId: string): Promise<void> {
  if ((await findLiveRun(app.db.manager, taskId)) === null) return;
  await cancelTask(app, taskId).catch((error) => {
    if (!(error instanceof Refused)) throw error;
  });
}

/** Cancels the runs of subtasks. The parent keeps waiting, but it gets no further run when its subtasks are done. */
async function cancelSubtasks(app: App, parentId: string): Promise<TaskView> {
  const em = app.db.manager;
  const live = await listLiveSubtasks(em, parentId);
  if (live.length === 0)
    throw new Refused('The task waits for its subtasks, and none of them has an unfinished run to cancel.');
  await setTaskFields(em, parentId, { splitByAgent: false });
  for (const id of live) await cancelIfRunning(app, id);
  return getTask(em, parentId);
}
