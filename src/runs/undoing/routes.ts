import { z } from 'zod';
import { type Route, route, Timestamp } from '../../http/route.ts';
import { onTask } from '../../tasks/routes.ts';
import { Task } from '../../tasks/schemas.ts';
import { startErrors } from '../routes.ts';
import { findLastTurn } from './store.ts';
import { planUndo, undoTask } from './undo-task.ts';

const Undo = z
  .object({
    pulls: z
      .array(
        z.object({
          repositoryId: z.string(),
          repositoryName: z.string(),
          number: z.int(),
          url: z.string(),
          base: z.string().meta({ description: 'the branch into which it was merged' }),
          mergedAt: Timestamp.nullable(),
        }),
      )
      .meta({ description: 'what would be reverted, in this order' }),
    problem: z.string().nullable().meta({ description: 'why the task cannot be undone now; null if it can' }),
    undoneBy: z.string().nullable().meta({ description: 'the task that undoes it, or has undone it' }),
    tryAgain: z
      .object({ runId: z.string(), turn: z.int() })
      .nullable()
      .meta({ description: 'the last turn of its runs, from which an agent may try again after the undo' }),
  })
  .meta({ id: 'UndoPlan' });

const tag = 'tasks';

/** Undoing a task. */
export const undoRoutes: Route[] = [
  route({
    operationId: 'getUndo',
    method: 'get',
    path: '/tasks/:id/undo',
    summary: 'Get what an undo of a task would revert, or why it is not possible',
    guide: 'Look at what undoing a task would revert before you call undoTask, or why the task cannot be undone.',
    tag,
    access: onTask('viewer'),
    reply: [200, Undo],
    handle: async (app, { task }) => ({
      ...(await planUndo(app.db.manager, task)),
      tryAgain: (await findLastTurn(app.db.manager, task.id)) ?? null,
    }),
  }),
  route({
    operationId: 'undoTask',
    method: 'post',
    path: '/tasks/:id/undo',
    summary:
      'Undo a task: a new task reverts its merged pull requests in all repositories, the one that was merged last first',
    guide:
      'Undo a finished task: a new task reverts its merged pull requests as pull requests of its own, with checks and proof. Returns the new task. A person merges it.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.undo', object: ({ task }) => task },
    reply: [201, Task],
    errors: {
      ...startErrors,
      403: 'You may not write to a repository of the task',
      409: 'The task is not done, nothing of it was merged, or it is undone already; the message says what to do',
    },
    costs: 'start',
    waits: 'before it writes',
    handle: (app, { task, user }) => undoTask(app, { taskId: task.id, userId: user.id }),
  }),
];
