import { z } from 'zod';
import { runKinds, runStatuses } from '../../domain/run.ts';
import { waitReasons } from '../../domain/waiting.ts';
import { anyUser, inProject } from '../../http/access/access.ts';
import { IdText, pageQuery, type Route, route, Timestamp } from '../../http/route.ts';
import { doings } from './activity.ts';
import { listLiveSessions, listSessions } from './store.ts';

const Session = z
  .object({
    id: z.string().meta({ description: 'of the run' }),
    taskId: z.string(),
    taskTitle: z.string(),
    projectId: z.string(),
    projectName: z.string(),
    agentId: z.string().nullable(),
    agentName: z.string().nullable(),
    startedBy: z.string().nullable().meta({ description: 'the login of who started it; null if the service did' }),
    isAutomatic: z.boolean(),
    kind: z.enum(runKinds),
    status: z.enum(runStatuses),
    waitReason: z.enum(waitReasons).nullable(),
    failure: z.string().nullable().meta({ description: 'why it failed' }),
    steps: z.int(),
    costUsd: z.number().nullable(),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
    waitingSince: Timestamp.nullable(),
    waitedSeconds: z.int().meta({ description: 'how long it waited before' }),
    queuePosition: z.int().nullable().meta({
      description:
        'its place among the queued runs of its project, 1 for the next; null if it is not queued or beyond 200',
    }),
    activity: z
      .object({
        doing: z.enum(doings),
        call: z.string().nullable().meta({ description: 'the tool and what its call is about; null unless `calling`' }),
        since: Timestamp,
      })
      .nullable()
      .meta({ description: 'what it does now; null unless it is running' }),
    lines: z
      .array(z.object({ at: Timestamp, type: z.string(), text: z.string() }))
      .meta({ description: 'the last three lines of the log of an unfinished run, each cut at 300 characters' }),
  })
  .meta({
    id: 'Session',
    example: {
      id: 'run_01kbt3v5s8e4c9x2q7w6z1y0ab',
      taskId: 'task_01kbt3v5s8e4c9x2q7w6z1y0ab',
      taskTitle: 'slugify drops accented letters',
      projectId: 'project_01kbt3v5s8e4c9x2q7w6z1y0ab',
      projectName: 'mona',
      agentId: 'agent_01kbt3v5s8e4c9x2q7w6z1y0ab',
      agentName: 'Developer',
      startedBy: 'mona',
      isAutomatic: false,
      kind: 'start',
      status: 'running',
      waitReason: null,
      failure: null,
      steps: 4,
      costUsd: 0.12,
      createdAt: '2026-11-20T09:30:00.000Z',
      startedAt: '2026-11-20T09:30:02.000Z',
      finishedAt: null,
      waitingSince: null,
      waitedSeconds: 0,
      queuePosition: null,
      activity: { doing: 'calling', call: 'run_command npm test', since: '2026-11-20T09:31:14.000Z' },
      lines: [{ at: '2026-11-20T09:31:10.000Z', type: 'tool', text: 'edit_file src/slugify.js' }],
    },
  });

export const sessionRoutes: Route[] = [
  route({
    operationId: 'listSessions',
    method: 'get',
    path: '/me/sessions',
    summary:
      'List the unfinished runs in all projects of the caller with what they do now: running ones first, then waiting and queued ones',
    guide:
      'List the agents at work in all projects of your person: task, step, cost, what each run does now or waits for, and its place in the queue.',
    tag: 'runs',
    access: anyUser,
    query: z.strictObject({
      projectId: IdText.optional().meta({ description: 'only of this project' }),
      ...pageQuery,
    }),
    reply: [200, z.array(Session)],
    paged: true,
    handle: (app, { user, query }) => listLiveSessions(app.db.manager, user.id, query),
  }),
  route({
    operationId: 'listProjectRuns',
    method: 'get',
    path: '/projects/:projectId/runs',
    summary: 'List the runs of a project, newest first',
    guide: 'List the runs of all tasks of a project, newest first, with agent, cost and how they ended.',
    tag: 'runs',
    access: inProject('viewer'),
    query: z.strictObject(pageQuery),
    reply: [200, z.array(Session)],
    paged: true,
    handle: (app, { projectId, query }) => listSessions(app.db.manager, projectId, query),
  }),
];
