import { z } from 'zod';
import { anyUser } from '../http/access/access.ts';
import { Later, pageQuery, type Route, route } from '../http/route.ts';
import { Reconciliation } from '../runs/schemas.ts';
import { onTask } from '../tasks/routes.ts';
import { Task } from '../tasks/schemas.ts';
import { listReconciliations } from '../worker/lease/reconcile.ts';
import { mergeTask } from './follow/merging/merge.ts';
import { MergeReadiness, readMergeReadiness } from './follow/merging/merge-readiness.ts';
import { mergeWhenReady, stopMergingTask } from './follow/merging/merge-when-ready.ts';
import { mergeInTurn } from './follow/merging/merges-in-turn.ts';
import { reconcileFor } from './inbox/compare-with-github.ts';
import { listOtherWork, OtherWork } from './other-work.ts';

const MergeTask = z
  .strictObject({
    when: z.enum(['now', 'ready'], 'must be now or ready').default('now').meta({
      description:
        '`ready`: GitHub merges, by its merge queue or its auto-merge, when what the base branch requires is there',
    }),
    heads: z
      .array(z.strictObject({ prUrl: z.string().max(2000), headSha: z.string().max(100) }))
      .max(100)
      .optional()
      .meta({
        description: 'the heads of all open pull requests that were looked at; the merge is refused if one differs',
      }),
  })
  .meta({ id: 'MergeTask' });

export const githubRoutes: Route[] = [
  route({
    operationId: 'listOtherWork',
    method: 'get',
    path: '/tasks/:id/other-work',
    summary:
      'List the open pull requests of others that close or mention the issue of a task. A start does not ask for them',
    guide:
      'List pull requests of people that already close or mention the issue of a task. Read it before you start the task, so that nothing is done twice.',
    tag: 'tasks',
    access: onTask('viewer'),
    reply: [200, z.array(OtherWork)],
    errors: { 502: 'GitHub answered with an error' },
    waits: 'before it writes',
    handle: (app, { task }) => listOtherWork(app, task),
  }),
  route({
    operationId: 'getMergeReadiness',
    method: 'get',
    path: '/tasks/:id/merge-readiness',
    summary: 'Get what a merge of a task by you will do, and any problems with it',
    guide: 'Read whether a task can be merged, and what is missing: checks, reviews, approvals, conflicts.',
    tag: 'tasks',
    access: onTask('viewer'),
    reply: [200, MergeReadiness],
    // It writes nothing.
    waits: 'between writes',
    handle: (app, { task, user, role }) => readMergeReadiness(app, task.id, { id: user.id, role }),
  }),
  route({
    operationId: 'mergeTask',
    method: 'post',
    path: '/tasks/:id/merge',
    summary: 'Merge the open pull requests of a task. Needs write permission in each of their repositories on GitHub',
    guide:
      "Merge the pull requests of a task. This is your person's decision: show them getTaskChange and getMergeReadiness and ask before you call it.",
    tag: 'tasks',
    access: onTask('member'),
    audit: { action: 'task.merge', object: ({ task }) => task },
    body: MergeTask,
    reply: [200, Task],
    defers: 'With `when: ready`: what GitHub does is in `merging`; what was ready is merged already',
    errors: {
      403: 'The caller may not write to one of the repositories on GitHub, or started the task where others have to merge; the message says which',
      409: 'Nothing to merge, another head than in `heads`, or GitHub refused; the message says why and what is merged already',
      502: 'GitHub answered with an error',
      503: 'No git credential is configured',
    },
    waits: 'between writes',
    handle: async (app, { task, user, body: { when, heads }, keyed }) => {
      const ask = { taskId: task.id, userId: user.id, isAgain: keyed?.isAgain, heads };
      return mergeInTurn(app, task.projectId, async () =>
        when === 'ready' ? new Later(await mergeWhenReady(app, ask)) : mergeTask(app, ask),
      );
    },
  }),
  route({
    operationId: 'stopMergingTask',
    method: 'delete',
    path: '/tasks/:id/merge',
    summary:
      'Take back that GitHub merges the pull requests of a task when they are ready. Needs write permission there',
    guide: 'Take back the wish that a task is merged as soon as it is ready.',
    tag: 'tasks',
    access: onTask('member'),
    audit: { action: 'task.stop_merging', object: ({ task }) => task },
    reply: [204],
    errors: {
      403: 'The caller may not write to one of the repositories on GitHub; the message names it',
      409: 'No merge of this task waits',
      502: 'GitHub answered with an error',
      503: 'No git credential is configured',
    },
    waits: 'between writes',
    handle: (app, { task, user, keyed }) =>
      mergeInTurn(app, task.projectId, () =>
        stopMergingTask(app, { taskId: task.id, userId: user.id, isAgain: keyed?.isAgain }),
      ),
  }),
  route({
    operationId: 'reconcileTasks',
    method: 'post',
    path: '/agents/pool/reconcile',
    summary: "Recover stuck tasks of the caller's projects, and compare them with GitHub",
    tag: 'agents',
    access: anyUser,
    audit: { action: 'reconciliation.start', made: ({ id }) => ({ id, projectId: null }) },
    reply: [200, Reconciliation],
    // Repeating this is harmless: the second call finds nothing left to recover.
    waits: 'between writes',
    handle: (app, { user }) => reconcileFor(app, user.id),
  }),
  route({
    operationId: 'listReconciliations',
    method: 'get',
    path: '/agents/pool/reconciliations',
    summary: 'List past reconciliations and what they recovered, newest first',
    tag: 'agents',
    access: anyUser,
    query: z.strictObject(pageQuery),
    reply: [200, z.array(Reconciliation)],
    paged: true,
    handle: (app, { user, query }) => listReconciliations(app.db.manager, user.id, query),
  }),
];
