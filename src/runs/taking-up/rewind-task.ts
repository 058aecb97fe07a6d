import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { AppError, badField } from '../../errors.ts';
import { IdText, longText, type Route, route } from '../../http/route.ts';
import { rightProblemIn, whyNotBeside } from '../../repositories/rights.ts';
import { moveTask } from '../../tasks/move.ts';
import { onTask } from '../../tasks/routes.ts';
import { Task } from '../../tasks/schemas.ts';
import { getTask, type TaskView } from '../../tasks/store.ts';
import { listWaitingRevisions } from '../../tasks/work-store.ts';
import { directorsAtStart, directorsOf } from '../directors.ts';
import { insertEvent, insertStep } from '../journal.ts';
import { queueRun, startProblem } from '../operations.ts';
import { startErrors } from '../routes.ts';
import { copiedStep, copyUpTo, findPoint, listOpenedBy, type Point } from './take-up-store.ts';

const RewindTask = z.strictObject({
  runId: IdText.meta({ description: 'a run of the task' }),
  turn: z
    .int('must be a whole number from 1')
    .min(1, 'must be a whole number from 1')
    .max(999_999_999, 'must be the number of a turn of the run')
    .meta({ description: 'the turn after which the new run goes on, numbered from 1' }),
  text: longText(10_000).optional().meta({ description: 'what the agent reads next' }),
});

interface Rewinding {
  taskId: string;
  runId: string;
  /** The turn after which the new run goes on, numbered from 1. */
  turn: number;
  /** What the agent reads next. */
  text?: string | undefined;
  userId: string;
  /** Called in the same transaction, after the run is queued. */
  also?: (em: EntityManager) => Promise<void>;
}

/**
 * Goes back to a turn of a run of a task: queues a run whose conversation and files are those after that turn. The
 * conversation is copied at once, so that it is there however long the run has to wait for its agent.
 * @throws AppError 400 for an unknown run or turn, 403 when the person may not write to a repository that the run had
 * opened, 503 when a model or a git credential is missing; Refused when the
 * task's state or its repository forbids it, or the files of that turn are no longer kept
 */
export async function rewindTask(app: App, rewinding: Rewinding): Promise<TaskView> {
  const { taskId, runId, turn, text, userId, also } = rewinding;
  const problem = await startProblem(app, { taskId });
  const asked = await assertMayGoBack(app, rewinding);
  return app.db.transaction(async (em) => {
    const point = await pointOf(em, rewinding);
    await moveTask(app, em, taskId, 'rewind');
    if (problem !== undefined) throw problem;
    const rewoundFrom = { runId, turn };
    const to = await queueRun(app, em, taskId, { kind: 'rewind', startedBy: userId, instructions: text, rewoundFrom });
    if ((await directorsOf(em, to)).some((id) => !asked.includes(id)))
      throw new Refused('Somebody asked for changes just now. Try again.');
    const copied = await copyUpTo(em, point.keptBy, turn - 1, to);
    if (copied === undefined) throw new Refused(noLongerKept(rewinding));
    await insertStep(em, to, copiedStep, copied);
    await insertEvent(em, to, 'loop', `goes back to turn ${turn} of an earlier run`, rewoundFrom);
    app.audit.note({ rewoundTo: [null, `turn ${turn} of ${runId}`], ...(text ? { instructions: [null, text] } : {}) });
    await also?.(em);
    return getTask(em, taskId);
  });
}

/**
 * Checks that the person, and everybody else whose words the new run would follow, may write to the repositories whose
 * content the run had at that turn. Returns the ids of all of them.
 * @throws AppError 403, 502; 400 for an unknown run or turn
 */
async function assertMayGoBack(app: App, rewinding: Rewinding): Promise<string[]> {
  const em = app.db.manager;
  const { taskId, runId, turn, userId } = rewinding;
  const point = await pointOf(em, rewinding);
  const task = await getTask(em, taskId);
  const waiting = await listWaitingRevisions(em, taskId);
  const directors = await directorsAtStart(em, task, { starters: [userId], waiting, rewoundTo: runId });
  const opened = await listOpenedBy(em, point, turn - 1, task.repositoryId);
  const problem = await rightProblemIn(app, directors, opened, 'write');
  if (problem !== undefined) throw problem;
  const hidden = await whyNotBeside(app, task.repositoryId, opened);
  if (hidden !== undefined) throw new AppError(403, hidden);
  return directors;
}

/**
 * Finds the turn.
 * @throws AppError 400 naming the field
 */
async function pointOf(em: EntityManager, { taskId, runId, turn }: Rewinding): Promise<Point> {
  const point = await findPoint(em, runId, turn - 1);
  if (point?.taskId !== taskId) throw badField('runId', `runId: this task has no run ${runId}`);
  if (turn > point.turns) {
    const turns = point.turns === 0 ? 'no turns' : `${point.turns} ${point.turns === 1 ? 'turn' : 'turns'}`;
    throw badField('turn', `turn: the run has ${turns}, so there is no turn ${turn}`);
  }
  return point;
}

function noLongerKept({ runId, turn }: Rewinding): string {
  return `The files of turn ${turn} of ${runId} are no longer kept. Choose a turn of a newer run.`;
}

const tag = 'tasks';

/** Going back to a turn of a run. */
export const rewindRoutes: Route[] = [
  route({
    operationId: 'rewindTask',
    method: 'post',
    path: '/tasks/:id/rewind',
    summary: 'Go back to a turn of a run: a new run goes on with its conversation and files, on the same branch',
    guide:
      'Set a task back to an earlier turn of its agent and continue from there. What the agent did later is dropped.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.rewind', object: ({ task }) => task },
    body: RewindTask,
    reply: [200, Task],
    errors: {
      ...startErrors,
      409: 'The state of the task forbids it, or the files of that turn are no longer kept; the message says which',
    },
    costs: 'start',
    waits: 'before it writes',
    handle: (app, { task, user, body }) => rewindTask(app, { taskId: task.id, userId: user.id, ...body }),
  }),
];
