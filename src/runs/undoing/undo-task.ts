import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import { findBuiltInAgent, mayServe } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { rightProblemIn } from '../../repositories/rights.ts';
import { moveTask } from '../../tasks/move.ts';
import { insertTask } from '../../tasks/operations.ts';
import { getTask, lockTask, type TaskView } from '../../tasks/store.ts';
import { listTextPlaces } from '../directors.ts';
import { queueRun, startProblemOf } from '../operations.ts';
import { findLiveUndo, insertUndone, listMerged, type MergedPull, type UndoTask } from './store.ts';

/** What an undo of a task would do, or why it is not possible. */
export interface UndoPlan {
  /** What would be reverted, in this order. */
  pulls: MergedPull[];
  /** Why the task cannot be undone now, as a sentence with what to do; null if it can. */
  problem: string | null;
  /** The task that undoes it, or has undone it; null if there is none. */
  undoneBy: string | null;
}

/** Returns what an undo of a task would do. It asks nobody but the database. */
export async function planUndo(em: EntityManager, task: Pick<TaskView, 'id' | 'status'>): Promise<UndoPlan> {
  const merged = await listMerged(em, task.id);
  const live = await findLiveUndo(em, task.id);
  const pulls = merged.filter(({ undoneBy }) => undoneBy === null);
  const undoneBy = live?.id ?? merged.find((pull) => pull.undoneBy !== null)?.undoneBy ?? null;
  return { pulls, undoneBy, problem: problemOf(task, { merged, pulls, live, undoneBy }) ?? null };
}

function problemOf(
  { status }: Pick<TaskView, 'status'>,
  found: { merged: MergedPull[]; pulls: MergedPull[]; live: UndoTask | undefined; undoneBy: string | null },
): string | undefined {
  const { merged, pulls, live, undoneBy } = found;
  if (live !== undefined)
    return live.status === 'in_review'
      ? `Task ${live.id} undoes this one already. Merge its pull requests, or close them to begin again.`
      : `Task ${live.id} undoes this one already. Wait for it, or cancel it to begin again.`;
  if (status !== 'done')
    return 'Only a task that is done can be undone. Merge or close its open pull requests first, or cancel its run.';
  if (merged.length === 0)
    return 'Nothing of this task was merged, so there is nothing to undo. If its work is in subtasks, undo these.';
  if (pulls.length === 0) return `Task ${undoneBy} has undone this one. To have the change back, undo that task.`;
  const bases = Map.groupBy(pulls, ({ repositoryId }) => repositoryId);
  for (const [first, ...others] of bases.values()) {
    const other = others.find(({ base }) => base !== first?.base);
    if (first !== undefined && other !== undefined)
      return `One task reverts on one branch of a repository, and these were merged into different ones: ${first.url} and ${other.url}. Revert them on GitHub.`;
  }
  return undefined;
}

interface Undoing {
  taskId: string;
  userId: string;
  /** Called in the same transaction, with the id of the new task. */
  also?: (em: EntityManager, undoId: string) => Promise<void>;
}

/**
 * Creates a task that reverts the merged pull requests of another one, and starts it. Its run needs no model unless a revert
 * conflicts, or the checks fail with it.
 * @throws Refused when there is nothing to undo, or it is undone already; AppError 403 when the person may not write to one of
 * the repositories, 502 when GitHub cannot be asked, 503 without a git credential
 */
export async function undoTask(app: App, { taskId, userId, also }: Undoing): Promise<TaskView> {
  const em = app.db.manager;
  const task = await getTask(em, taskId);
  const { pulls } = await assertUndoable(em, task);
  const ids = pulls.map(({ repositoryId }) => repositoryId);
  const lack = await rightProblemIn(app, [userId], ids, 'write');
  if (lack !== undefined) throw lack;
  const first = pulls[0] as MergedPull;
  const owner = await agentOf(em, task);
  const undone = { projectId: task.projectId, repositoryId: first.repositoryId, issueRepositoryId: null, owner };
  const problem = await startProblemOf(app, { ...undone, undoOf: taskId });
  if (problem !== undefined) throw problem;
  return app.db.transaction(async (tx) => {
    await lockTask(tx, taskId);
    const now = await assertUndoable(tx, await getTask(tx, taskId));
    if (!isDeepStrictEqual(now.pulls.map(keyOf), pulls.map(keyOf)))
      throw new Refused('Another pull request of this task was merged just now. Look at it, then try again.');
    const undoId = await insertTask(app, tx, task.projectId, {
      ...wordsOfUndo(task, pulls, userId),
      status: 'ready',
      owner,
      repositoryId: first.repositoryId,
      base: first.base,
      createdBy: userId,
      planFirst: false,
      undoOf: taskId,
      textRepositoryIds: await listTextPlaces(tx, taskId),
    });
    await insertUndone(tx, undoId, pulls);
    await moveTask(app, tx, undoId, 'start');
    await queueRun(app, tx, undoId, { kind: 'start', startedBy: userId });
    app.audit.note({ undo: [null, undoId], pullRequests: [null, pulls.map(({ url }) => url).join(', ')] });
    await also?.(tx, undoId);
    return getTask(tx, undoId);
  });
}

const keyOf = ({ repositoryId, number }: MergedPull) => `${repositoryId}#${number}`;

/** @throws Refused unless a task can be undone */
async function assertUndoable(em: EntityManager, task: TaskView): Promise<UndoPlan> {
  if (task.hidden)
    throw new Refused('This task stands for a pull request of somebody else. Revert that one on GitHub.');
  const plan = await planUndo(em, task);
  if (plan.problem !== null) throw new Refused(plan.problem);
  return plan;
}

/** Returns the agent that resolves conflicts: that of the task, or the Developer if that one may no longer work here. */
async function agentOf(em: EntityManager, { owner, projectId }: TaskView): Promise<string> {
  if (owner !== null && (await mayServe(em, owner, projectId))) return owner;
  const developer = await findBuiltInAgent(em, projectId, 'developer');
  if (developer === null)
    throw new Refused('No agent can resolve conflicts of the reverts. Assign another agent to the task first.');
  return developer.id;
}

/**
 * Returns what the task of an undo says, and whose words that are. In other repositories than that of the undone task it does not repeat
 * its title: a run opens others only if all whose words it follows may write there, and some may have left.
 */
function wordsOfUndo({ id, title, directedBy, repositoryId: own }: TaskView, pulls: MergedPull[], userId: string) {
  const isOwn = pulls.every(({ repositoryId }) => repositoryId === own);
  const named = isOwn ? `the task ${id} (${oneLine(title, 200)})` : `the task ${id}`;
  const description = [
    `Undo ${named}: revert its merged pull requests, the one that was merged last first.`,
    pulls.map(({ url, base }) => `- ${url}, merged into ${oneLine(base, 100)}`).join('\n'),
    'Keep everything that others have changed since then.',
  ].join('\n\n');
  return isOwn
    ? { title: `Revert "${oneLine(title, 180)}"`, description, directedBy: [...new Set([...directedBy, userId])] }
    : {
        title: `Revert ${pulls.length === 1 ? 'a pull request' : `${pulls.length} pull requests`} of ${id}`,
        description,
        directedBy: [userId],
      };
}
