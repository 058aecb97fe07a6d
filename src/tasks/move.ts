import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import type { Changes } from '../domain/audit.ts';
import { decide, nextState, Refused } from '../domain/machine.ts';
import type { Failure } from '../domain/run.ts';
import { type TaskEvent, type TaskFacts, type TaskStatus, taskMachine } from '../domain/task.ts';
import { normalUrl } from '../git/remote-url.ts';
import { hasActiveSprint, lockFacts, swapStatus } from './store.ts';
import { discountSettledPulls, dropRefusals, dropWaitingRevisions } from './work-store.ts';

interface Move {
  failure?: Failure;
  /** What Deckhand asks of the agent when no person did. The timeline quotes it. */
  request?: string | undefined;
  /** Facts that only the caller knows. */
  facts?: Partial<Pick<TaskFacts, 'finishedUnchanged' | 'splitByAgent'>>;
}

/** What people may do with a hidden task, which stands for a pull request of somebody else or for a benchmark. */
const ofHidden: ReadonlySet<TaskEvent> = new Set<TaskEvent>(['review', 'prove', 'harvest', 'cancel']);

/**
 * Changes the status of a task. This is the only place that does so. It uses the state machine and compare-and-swap,
 * and queues in the same transaction the job that shows the change on GitHub.
 * @throws Refused when the state machine forbids the event
 */
export async function moveTask(app: App, em: EntityManager, taskId: string, event: TaskEvent, move: Move = {}) {
  const facts = await factsOf(app, em, taskId, move);
  if (facts === undefined) throw new Refused('The task was deleted. Reload to see the tasks that exist.');
  if (facts.hidden && !ofHidden.has(event))
    throw new Refused(
      'This task stands for reviews of a pull request or for a benchmark. Ask for these there instead.',
    );
  const to = nextState(taskMachine, facts.status, event, facts);
  return swap(app, em, taskId, facts, { ...move, event, to, failure: move.failure ?? null });
}

/**
 * Changes the status of a task because of an event from GitHub or a run. Nobody waits for a reply then, so an event
 * that the state machine forbids changes nothing. Returns the new status, or undefined when nothing changed.
 */
export async function tryMoveTask(app: App, em: EntityManager, taskId: string, event: TaskEvent, move: Move = {}) {
  const facts = await factsOf(app, em, taskId, move);
  if (facts === undefined) return undefined;
  const outcome = decide(taskMachine, facts.status, event, facts);
  if (outcome.kind !== 'moves') return undefined;
  return swap(app, em, taskId, facts, { ...move, event, to: outcome.to, failure: move.failure ?? null });
}

/** Queues the job that makes GitHub show the state of a task. */
export async function queueMirror(app: App, em: EntityManager | undefined, taskId: string): Promise<void> {
  if (app.github !== undefined) await app.queue.send(em, 'mirror', { taskId, recheck: false }, { key: taskId });
}

/** Queues that job when somebody may have changed on GitHub what we show. The job then reads from GitHub first. */
export async function recheckTask(app: App, taskId: string, em?: EntityManager): Promise<void> {
  if (app.github !== undefined)
    await app.queue.send(em, 'mirror', { taskId, recheck: true }, { key: `${taskId} recheck` });
}

/** Queues the job that starts the startable tasks in the active sprint of a project, if there is one. */
export async function advanceSprints(app: App, em: EntityManager | undefined, projectId: string): Promise<void> {
  if (await hasActiveSprint(em ?? app.db.manager, projectId))
    await app.queue.send(em, 'sprint', { projectId }, { key: projectId });
}

/** Moves a parent out of `waiting_on_subtasks` when its last open subtask is done. Otherwise changes nothing. */
export async function joinParent(app: App, em: EntityManager, parentId: string): Promise<void> {
  const status = await tryMoveTask(app, em, parentId, 'join');
  if (status === 'in_progress') await app.queue.send(em, 'continue', { taskId: parentId }, { key: parentId });
}

async function factsOf(app: App, em: EntityManager, taskId: string, { facts }: Move) {
  const found = await lockFacts(em, taskId, normalUrl(app.config.GITHUB_SERVER_URL));
  return found === undefined ? undefined : { ...found, ...facts };
}

interface Swap extends Pick<Move, 'request'> {
  event: TaskEvent;
  to: TaskStatus;
  failure: Failure | null;
}

async function swap(
  app: App,
  em: EntityManager,
  taskId: string,
  { status: from, parentId, projectId }: { status: TaskStatus; parentId: string | null; projectId: string },
  { event, to, failure, request }: Swap,
): Promise<TaskStatus> {
  if (!(await swapStatus(em, taskId, from, to, failure)))
    throw new Refused('The status of the task changed at the same moment. Reload and try again.');
  const why: Changes = failure === null ? {} : { failure: [null, failure.category] };
  const asked: Changes = request === undefined ? {} : { request: [null, request] };
  await app.audit.noteEvent(em, { taskId, projectId, event, changes: { status: [from, to], ...why, ...asked } });
  if (from === 'done' || from === 'waiting_on_subtasks') await discountSettledPulls(em, taskId);
  if (to === 'done') await dropWaitingRevisions(em, taskId);
  if (to !== from) await dropRefusals(em, taskId);
  app.db.afterCommit(() => app.log.info({ taskId, event, from, to }, 'task moved'), em);
  await queueMirror(app, em, taskId);
  await advanceSprints(app, em, projectId);
  if (to === 'done' && parentId !== null) await joinParent(app, em, parentId);
  return to;
}
