import { z } from 'zod';
import type { RunRow } from '../db/tables/run.ts';
import { notFound } from '../errors.ts';
import { accessTo } from '../http/access/access.ts';
import { pageQuery, type Route, route, wholeListQuery } from '../http/route.ts';
import { onTask } from '../tasks/routes.ts';
import { Task } from '../tasks/schemas.ts';
import { listEvents } from './journal.ts';
import { followRun } from './live-text.ts';
import { cancelTask, reviseTask, startTask } from './operations.ts';
import { findProof } from './proof/proof-store.ts';
import { requestedChanges } from './review/request-changes.ts';
import { Proof, RetryTask, ReviseTask, Run, RunEvent, showRun } from './schemas.ts';
import { listRuns, runColumns } from './store.ts';
import { reviseWaiting, waitsForRevision } from './waiting/operations.ts';

const tag = 'tasks';

/** Finds the run in the path, for users with a role in its project. */
export const onRun = accessTo<RunRow, 'run'>({
  kind: 'Run',
  as: 'run',
  columns: runColumns,
  from: 'runs r',
  id: 'r.id',
  project: 'r.project_id',
  param: 'runId',
});

export const startErrors = {
  409: 'The state of the task forbids it; the message says what is required and what was found',
  502: 'GitHub answered with an error',
  503: 'No model or git credential is configured',
};

export const runRoutes: Route[] = [
  route({
    operationId: 'startTask',
    method: 'post',
    path: '/tasks/:id/start',
    summary: 'Start a task: its agent works on it and opens a pull request',
    guide:
      'Start a task: its agent works on it and opens a pull request. Costs money. Returns at once; follow the task with getTask.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.start', object: ({ task }) => task },
    reply: [200, Task],
    errors: startErrors,
    costs: 'start',
    waits: 'before it writes',
    handle: (app, { task, user }) => startTask(app, { taskId: task.id, startedBy: user.id, kind: 'start' }),
  }),
  route({
    operationId: 'retryTask',
    method: 'post',
    path: '/tasks/:id/retry',
    summary: 'Retry a task whose latest run failed or was cancelled, on the same branch',
    guide: 'Start a task again whose last run failed or was cancelled, on the same branch. Costs money.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.retry', object: ({ task }) => task },
    body: RetryTask,
    reply: [200, Task],
    errors: startErrors,
    costs: 'start',
    waits: 'before it writes',
    handle: (app, { task, user, body }) =>
      startTask(app, { taskId: task.id, startedBy: user.id, kind: 'retry', instructions: body.text }),
  }),
  route({
    operationId: 'reviseTask',
    method: 'post',
    path: '/tasks/:id/revise',
    summary:
      'Request a change to work in review, or another plan or change while a run waits for approval. During any other unfinished run, the request waits for the next run',
    guide: 'Ask the agent to change its pull request. Say in `comment` what should be different. Costs money.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.revise', object: ({ task }) => task },
    body: ReviseTask,
    reply: [200, Task],
    errors: startErrors,
    costs: 'start',
    waits: 'before it writes',
    handle: async (app, { task, user, body }) => {
      const { revision, also } = await requestedChanges(app, task, user.id, body);
      const { text } = revision;
      return waitsForRevision(task)
        ? reviseWaiting(app, { taskId: task.id, userId: user.id, text, revision, also })
        : reviseTask(app, revision, also);
    },
  }),
  route({
    operationId: 'cancelTask',
    method: 'post',
    path: '/tasks/:id/cancel',
    summary: 'Cancel the run of a task. Its branch is kept',
    guide: 'Cancel the run of a task. The branch and the pull request stay.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.cancel', object: ({ task }) => task },
    reply: [200, Task],
    errors: { 409: 'The task has no live run' },
    // Each run is cancelled in a transaction of its own, which may wait for a push that is under way.
    waits: 'between writes',
    handle: (app, { task, keyed }) => cancelTask(app, task.id, keyed?.isAgain),
  }),
  route({
    operationId: 'getTaskProof',
    method: 'get',
    path: '/tasks/:id/proof',
    summary: 'Get what the tests of a task prove about its latest change',
    guide:
      "Read what the proof says about a task's change: whether its tests fail without the change and pass with it.",
    tag: 'runs',
    access: onTask('viewer'),
    reply: [200, Proof],
    handle: async (app, { task }) => {
      const proof = await findProof(app.db.manager, task.id);
      if (proof === undefined) throw notFound('Proof of task', task.id);
      return proof;
    },
  }),
  route({
    operationId: 'listRuns',
    method: 'get',
    path: '/tasks/:id/runs',
    summary: 'List the runs of a task, newest first',
    guide: 'List the runs of a task, newest first, with status, cost and why they ended.',
    tag: 'runs',
    access: onTask('viewer'),
    query: z.strictObject(pageQuery),
    reply: [200, z.array(Run)],
    paged: true,
    handle: async (app, { task, query }) => (await listRuns(app.db.manager, task.id, query)).map(showRun),
  }),
  route({
    operationId: 'getRun',
    method: 'get',
    path: '/runs/:runId',
    summary: 'Get a run',
    guide: 'Read a run: status, cost, and how it ended.',
    tag: 'runs',
    access: onRun('viewer'),
    reply: [200, Run],
    handle: async (_app, { run }) => showRun(run),
  }),
  route({
    operationId: 'listRunEvents',
    method: 'get',
    path: '/runs/:runId/events',
    summary: 'Get the log of a run, oldest first',
    guide: 'List what happened in a run: messages, calls of tools, commits. Use it to find out why a run failed.',
    tag: 'runs',
    access: onRun('viewer'),
    query: z.strictObject(wholeListQuery),
    reply: [200, z.array(RunEvent)],
    paged: true,
    streams:
      'The same entries, each under its `type` as the event, live until `end`; resumable by `Last-Event-ID`. What the model is writing arrives as `delta` with `{ turn, text }` and is not stored; `restarts` is true when the text of the turn begins again',
    stream: (app, { run }, out) => followRun(app, run.id, out),
    handle: (app, { run, query: { limit, offset } }) =>
      listEvents(app.db.manager, run.id, { limit: limit === undefined ? null : limit + 1, offset }),
  }),
];
