import { z } from 'zod';
import { accessTo, inProject } from '../http/access.ts';
import { type Route, route } from '../http/route.ts';
import { createTask, readDiff } from './operations.ts';
import { CreateTask, Handoffs, PullRequestEntry, Statistics, Task, TaskDiff, TaskFilter } from './schemas.ts';
import { countByStatus, listHandoffs, listPulls, listTasks, type TaskView, taskColumns } from './store.ts';

const tag = 'tasks';

/** A task addressed by its id, for whoever has that role in its project. */
export const onTask = accessTo<TaskView, 'task'>({
  kind: 'Task',
  as: 'task',
  columns: taskColumns,
  from: 'tasks t',
  id: 't.id',
  project: 't.project_id',
  param: 'id',
});

export const taskRoutes: Route[] = [
  route({
    method: 'post',
    path: '/projects/:projectId/tasks',
    summary: 'Create a task',
    tag,
    access: inProject('member'),
    body: CreateTask,
    reply: [201, Task],
    handle: (app, { projectId, user, body }) => createTask(app, projectId, user.id, body),
  }),
  route({
    method: 'get',
    path: '/projects/:projectId/tasks',
    summary: 'List the tasks of a project, newest first',
    tag,
    access: inProject('member'),
    query: TaskFilter,
    reply: [200, z.array(Task)],
    paged: true,
    handle: (app, { projectId, query }) => listTasks(app.db.manager, projectId, query),
  }),
  route({
    method: 'get',
    path: '/projects/:projectId/stats',
    summary: 'Count the tasks of a project by status',
    tag,
    access: inProject('member'),
    reply: [200, Statistics],
    handle: (app, { projectId }) => countByStatus(app.db.manager, projectId),
  }),
  route({
    method: 'get',
    path: '/tasks/:id',
    summary: 'Get a task',
    tag,
    access: onTask('member'),
    reply: [200, Task],
    handle: async (_app, { task }) => task,
  }),
  route({
    method: 'get',
    path: '/tasks/:id/diff',
    summary: 'What the task changed, from the merge base to the head of its branch',
    tag,
    access: onTask('member'),
    reply: [200, TaskDiff],
    handle: (app, { task }) => readDiff(app, task),
  }),
  route({
    method: 'get',
    path: '/tasks/:id/handoffs',
    summary: 'What the runs of the task left for the next one',
    tag,
    access: onTask('member'),
    reply: [200, Handoffs],
    handle: async (app, { task }) => ({ handoffs: await listHandoffs(app.db.manager, task.id) }),
  }),
  route({
    method: 'get',
    path: '/tasks/:id/prs',
    summary: 'The pull requests of the task, oldest first',
    tag,
    access: onTask('member'),
    reply: [200, z.array(PullRequestEntry)],
    handle: (app, { task }) => listPulls(app.db.manager, task.id),
  }),
];
