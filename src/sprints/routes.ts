import { z } from 'zod';
import { type Access, accessTo, inProject } from '../http/access/access.ts';
import { type Route, route, wholeListQuery } from '../http/route.ts';
import { Task } from '../tasks/schemas.ts';
import { digestText, getDigest } from './digest.ts';
import { velocityOf } from './figures-store.ts';
import { getBurndown, getMetrics } from './forecast.ts';
import { addTasks, completeSprint, createSprint, removeTask, startSprint, updateSprint } from './operations.ts';
import {
  AddTask,
  AddTasks,
  BurndownPoint,
  BurndownQuery,
  CompleteSprint,
  CreateSprint,
  Digest,
  MetricsQuery,
  Sprint,
  SprintEntry,
  SprintFilter,
  SprintMetrics,
  SprintTaskFilter,
  UpdateSprint,
  VelocityEntry,
  VelocityQuery,
} from './schemas.ts';
import { findActiveSprint, listSprints, listSprintTasks, type SprintView, sprintColumns } from './store.ts';

const tag = 'sprints';
const ended = { 409: 'The sprint is completed or cancelled' };

/** Finds the sprint in the path, for callers who have the role in its project. */
export const onSprint = accessTo<SprintView, 'sprint'>({
  kind: 'Sprint',
  as: 'sprint',
  columns: sprintColumns,
  from: 'sprints s',
  id: 's.id',
  project: 's.project_id',
  param: 'sprintId',
});

export const sprintRoutes: Route[] = [
  route({
    operationId: 'createSprint',
    method: 'post',
    path: '/projects/:projectId/sprints',
    summary: 'Create a sprint',
    guide:
      'Create a sprint: a name and the days on which it begins and ends. Add tasks with addSprintTasks, then call startSprint.',
    tag,
    access: inProject('member'),
    audit: { action: 'sprint.create', made: ({ id, projectId }) => ({ id, projectId }) },
    body: CreateSprint,
    reply: [201, Sprint],
    handle: (app, { projectId, user, body }) => createSprint(app, projectId, user.id, body),
  }),
  route({
    operationId: 'listSprints',
    method: 'get',
    path: '/projects/:projectId/sprints',
    summary: 'List the sprints of a project, newest first',
    guide: 'List the sprints of a project.',
    tag,
    access: inProject('viewer'),
    query: SprintFilter,
    reply: [200, z.array(SprintEntry)],
    paged: true,
    handle: (app, { projectId, query }) => listSprints(app.db.manager, projectId, query),
  }),
  route({
    operationId: 'getActiveSprint',
    method: 'get',
    path: '/projects/:projectId/sprints/active',
    summary: 'Get the active sprint, or null',
    guide: 'Read the sprint that runs now; `result` is null if none does.',
    tag,
    access: inProject('viewer'),
    reply: [200, Sprint.nullable()],
    handle: async (app, { projectId }) => (await findActiveSprint(app.db.manager, projectId)) ?? null,
  }),
  route({
    operationId: 'getVelocity',
    method: 'get',
    path: '/projects/:projectId/velocity',
    summary: 'Count the tasks completed in each of the last completed sprints, oldest first',
    tag,
    access: inProject('viewer'),
    query: VelocityQuery,
    reply: [200, z.array(VelocityEntry)],
    handle: (app, { projectId, query }) => velocityOf(app.db.manager, projectId, query.count),
  }),
  route({
    operationId: 'listBacklog',
    method: 'get',
    path: '/projects/:projectId/backlog',
    summary: 'List the tasks without a sprint, newest first',
    guide: 'List the tasks of a project that are in no sprint.',
    tag,
    access: inProject('viewer'),
    query: z.strictObject(wholeListQuery),
    reply: [200, z.array(Task)],
    paged: true,
    handle: (app, { projectId, query }) => listSprintTasks(app.db.manager, { backlogOf: projectId }, query),
  }),
  route({
    operationId: 'getSprint',
    method: 'get',
    path: '/sprints/:sprintId',
    summary: 'Get a sprint',
    guide: 'Read a sprint: its status, days and goal. Use it to follow a sprint that was started.',
    tag,
    access: onSprint('viewer'),
    reply: [200, Sprint],
    handle: async (_app, { sprint }) => sprint,
  }),
  route({
    operationId: 'updateSprint',
    method: 'patch',
    path: '/sprints/:sprintId',
    summary: 'Change a sprint',
    tag,
    access: onSprint('member'),
    audit: { action: 'sprint.update', object: ({ sprint }) => sprint },
    body: UpdateSprint,
    reply: [200, Sprint],
    errors: ended,
    handle: (app, { sprint, user, body }) => updateSprint(app, sprint.id, user.id, body),
  }),
  route({
    operationId: 'startSprint',
    method: 'post',
    path: '/sprints/:sprintId/start',
    summary: 'Start a sprint. Its tasks start as soon as they have an owner and their dependencies are done',
    guide: 'Start a sprint: the agents do its tasks, in the order of their dependencies. Costs money. Returns at once.',
    tag,
    access: onSprint('member'),
    audit: { action: 'sprint.start', object: ({ sprint }) => sprint },
    reply: [200, Sprint],
    errors: { 409: 'The sprint is not in planning, or another one is active' },
    costs: 'start',
    handle: (app, { sprint, user }) => startSprint(app, sprint.id, user.id),
  }),
  route({
    operationId: 'completeSprint',
    method: 'post',
    path: '/sprints/:sprintId/complete',
    summary: 'Complete a sprint. `unfinished` says where its unfinished tasks go',
    guide: 'End a sprint whose work is done. Unfinished tasks go back to the backlog.',
    tag,
    access: onSprint('member'),
    audit: { action: 'sprint.complete', object: ({ sprint }) => sprint },
    body: CompleteSprint,
    reply: [200, Sprint],
    errors: { 409: 'The sprint is not active, or it has unfinished tasks' },
    waits: 'before it writes',
    handle: (app, { sprint, body }) => completeSprint(app, sprint.id, body.unfinished),
  }),
  route({
    operationId: 'getSprintMetrics',
    method: 'get',
    path: '/sprints/:sprintId/metrics',
    summary: 'Get the progress of a sprint, and a forecast of its end',
    tag,
    access: onSprint('viewer'),
    query: MetricsQuery,
    reply: [200, SprintMetrics],
    handle: (app, { sprint, query }) => getMetrics(app.db.manager, sprint, query.without),
  }),
  route({
    operationId: 'getBurndown',
    method: 'get',
    path: '/sprints/:sprintId/burndown',
    summary: 'Get the open tasks at the end of each day (UTC), with the ideal line and the band of the forecast',
    tag,
    access: onSprint('viewer'),
    query: BurndownQuery,
    reply: [200, z.array(BurndownPoint)],
    handle: (app, { sprint, query }) => getBurndown(app.db.manager, sprint, query.ahead),
  }),
  route({
    operationId: 'getDigest',
    method: 'get',
    path: '/sprints/:sprintId/digest',
    summary: 'Get the report of a completed sprint',
    tag,
    access: onSprint('viewer'),
    reply: [200, Digest],
    handle: async (app, { sprint }) => {
      const digest = await getDigest(app.db.manager, sprint.id);
      return { ...digest, markdown: digestText(digest) };
    },
  }),
];

/** Finds the sprint in the path, and returns it with the id of the task in the path. */
const entered = onSprint('member');
const onTaskOfSprint: Access<Awaited<ReturnType<typeof entered.load>> & { taskId: string }> = {
  ...entered,
  load: async (app, asked) => ({ ...(await entered.load(app, asked)), taskId: asked.params.taskId ?? '' }),
};

/** The operations on the tasks of a sprint. */
export const sprintTaskRoutes: Route[] = [
  route({
    operationId: 'listSprintTasks',
    method: 'get',
    path: '/sprints/:sprintId/tasks',
    summary: 'List the tasks of a sprint, newest first',
    guide: 'List the tasks of a sprint with their statuses. Use it to see how far the sprint is.',
    tag,
    access: onSprint('viewer'),
    query: SprintTaskFilter,
    reply: [200, z.array(Task)],
    paged: true,
    handle: (app, { sprint, query }) => listSprintTasks(app.db.manager, { sprintId: sprint.id }, query),
  }),
  route({
    operationId: 'addSprintTask',
    method: 'post',
    path: '/sprints/:sprintId/tasks',
    summary: 'Add a task with its subtasks to a sprint. They are removed from any other sprint',
    guide: 'Add a task with its subtasks to a sprint.',
    tag,
    access: onSprint('member'),
    audit: { action: 'sprint.add_tasks', object: ({ sprint }) => sprint },
    body: AddTask,
    reply: [200, Task],
    errors: ended,
    handle: async (app, { sprint, user, body }) => {
      const [task] = await addTasks(app, sprint.id, [body.taskId], () => 'taskId', user.id);
      return task as NonNullable<typeof task>;
    },
  }),
  route({
    operationId: 'addSprintTasks',
    method: 'post',
    path: '/sprints/:sprintId/tasks/bulk',
    summary: 'Add several tasks, all or none',
    guide: 'Add several tasks with their subtasks to a sprint, all or none.',
    tag,
    access: onSprint('member'),
    audit: { action: 'sprint.add_tasks', object: ({ sprint }) => sprint },
    body: AddTasks,
    reply: [200, z.array(Task)],
    errors: ended,
    handle: (app, { sprint, user, body }) => addTasks(app, sprint.id, body.taskIds, (i) => `taskIds.${i}`, user.id),
  }),
  route({
    operationId: 'removeSprintTask',
    method: 'delete',
    path: '/sprints/:sprintId/tasks/:taskId',
    summary: 'Remove a task with its subtasks from a sprint',
    tag,
    access: onTaskOfSprint,
    audit: { action: 'sprint.remove_task', object: ({ sprint }) => sprint },
    reply: [204],
    errors: ended,
    handle: (app, { sprint, taskId }) => removeTask(app, sprint.id, taskId),
  }),
];
