import { z } from 'zod';
import type { Access } from '../http/access/access.ts';
import { type Route, route } from '../http/route.ts';
import { Task } from '../tasks/schemas.ts';
import { addTasks, removeTask } from './operations.ts';
import { onSprint } from './routes.ts';
import { AddTask, AddTasks, SprintTaskFilter } from './schemas.ts';
import { listSprintTasks } from './store.ts';

const tag = 'sprints';
const ended = { 409: 'The sprint is completed or cancelled' };

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
    tag,
    access: onSprint('member'),
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
