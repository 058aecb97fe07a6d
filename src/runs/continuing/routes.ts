import { z } from 'zod';
import { type Route, route } from '../../http/route.ts';
import { onTask } from '../../tasks/routes.ts';
import { Task } from '../../tasks/schemas.ts';
import { onRun, startErrors } from '../routes.ts';
import { rewindTask } from './rewind-task.ts';
import { RewindTask, RunTurn, turnQuery } from './schemas.ts';
import { showTurns } from './show-turn.ts';

const tag = 'tasks';

/** The turns of runs, and going back to one of them. */
export const rewindRoutes: Route[] = [
  route({
    operationId: 'rewindTask',
    method: 'post',
    path: '/tasks/:id/rewind',
    summary: 'Go back to a turn of a run: a new run goes on with its conversation and files, on the same branch',
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
  route({
    operationId: 'listRunTurns',
    method: 'get',
    path: '/runs/:runId/turns',
    summary: 'List the turns of a run, oldest first, without credentials',
    tag,
    access: onRun('member'),
    query: z.strictObject(turnQuery),
    reply: [200, z.array(RunTurn)],
    paged: true,
    handle: (app, { run, query }) => showTurns(app, run, query),
  }),
];
