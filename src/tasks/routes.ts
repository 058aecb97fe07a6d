import { z } from 'zod';
import type { Role } from '../domain/agent.ts';
import { Refused } from '../domain/machine.ts';
import { accessTo, inProject, theProject } from '../http/access/access.ts';
import { type Route, route, wholeListQuery } from '../http/route.ts';
import { createTask, createTasks, readDiff } from './operations.ts';
import {
  CreateSubtask,
  CreateTask,
  CreateTasks,
  Handoffs,
  PullRequestEntry,
  Statistics,
  Task,
  TaskDiff,
  TaskFilter,
  UpdateTask,
} from './schemas.ts';
import { searchTasks } from './search-store.ts';
import { countByStatus, listSubtasks, listTasks, type TaskView, taskColumns } from './store.ts';
import { addSubtask, deleteTask, updateTask } from './update.ts';
import { listHandoffs, listPulls } from './work-store.ts';

const tag = 'tasks';

/** Where tasks are found by their ids. */
export const taskSource = {
  kind: 'Task',
  as: 'task',
  columns: taskColumns,
  from: 'tasks t',
  id: 't.id',
  project: 't.project_id',
} as const;

/** Finds the task in the path, for users with a role in its project. */
export const onTask = accessTo<TaskView, 'task'>({ ...taskSource, param: 'id' });

/**
 * As `onTask`, for changes of a task. One that stands for reviews of a pull request is on no board, and people do not change
 * it: `load` throws Refused.
 */
const onChangeableTask = (role: Role): ReturnType<typeof onTask> => {
  const { load, ...access } = onTask(role);
  return {
    ...access,
    load: async (app, asked) => {
      const found = await load(app, asked);
      if (found.task.hidden)
        throw new Refused('This task stands for reviews of a pull request or for a benchmark, and cannot be changed.');
      return found;
    },
  };
};

/** Returns whether the body of a request names a base, for which the host of the repository is asked. */
function namesBase(body: unknown): boolean {
  const { base, tasks } = (body ?? {}) as { base?: unknown; tasks?: unknown };
  const isNamed = (each: { base?: unknown } | null) => typeof each?.base === 'string';
  return isNamed({ base }) || (Array.isArray(tasks) && tasks.some(isNamed));
}

export const taskRoutes: Route[] = [
  route({
    operationId: 'createTask',
    method: 'post',
    path: '/projects/:projectId/tasks',
    summary: 'Create a task',
    guide:
      'Create a task in a project. Write the title like the subject of a commit and the description like an issue: what is wrong or wanted, where, and how one sees that it is done. Returns the task; `startTask` lets its agent begin.',
    tag,
    access: inProject('member'),
    audit: { action: 'task.create', made: ({ id, projectId }) => ({ id, projectId }) },
    body: CreateTask,
    reply: [201, Task],
    waits: 'before it writes',
    waitsFor: namesBase,
    handle: (app, { projectId, user, body }) => createTask(app, projectId, user.id, body),
  }),
  route({
    operationId: 'createTasks',
    method: 'post',
    path: '/projects/:projectId/tasks/bulk',
    summary: 'Create several tasks, all or none',
    guide: 'Create several tasks at once, all or none. Use it instead of many calls of createTask.',
    tag,
    access: inProject('member'),
    audit: { action: 'project.create_tasks', object: theProject },
    body: CreateTasks,
    reply: [201, z.array(Task)],
    waits: 'before it writes',
    waitsFor: namesBase,
    handle: (app, { projectId, user, body }) => createTasks(app, projectId, user.id, body.tasks),
  }),
  route({
    operationId: 'listTasks',
    method: 'get',
    path: '/projects/:projectId/tasks',
    summary: 'List the tasks of a project, newest first',
    guide:
      'List the tasks of a project, with filters for status, owner and text. Use it to find a task by words. Returns a page; `nextOffset` is the next one.',
    tag,
    access: inProject('viewer'),
    query: TaskFilter,
    reply: [200, z.array(Task)],
    paged: true,
    handle: (app, { projectId, query: { search, ...by } }) =>
      search === undefined
        ? listTasks(app.db.manager, projectId, by)
        : searchTasks(app.db.manager, projectId, search, by),
  }),
  route({
    operationId: 'countTasks',
    method: 'get',
    path: '/projects/:projectId/stats',
    summary: 'Count the tasks of a project by status',
    guide: null,
    tag,
    access: inProject('viewer'),
    reply: [200, Statistics],
    handle: (app, { projectId }) => countByStatus(app.db.manager, projectId),
  }),
  route({
    operationId: 'getTask',
    method: 'get',
    path: '/tasks/:id',
    summary: 'Get a task',
    guide:
      'Read a task: its status, owner, branch, pull request, and in `attention` what waits for a person. Use it to follow a task that was started; ask again after half a minute, not at once.',
    tag,
    access: onTask('viewer'),
    reply: [200, Task],
    handle: async (_app, { task }) => task,
  }),
  route({
    operationId: 'updateTask',
    method: 'patch',
    path: '/tasks/:id',
    summary: 'Change a task',
    guide:
      "Change a task's title, description, owner, responsible person, status or dependencies. Left-out fields stay. Returns the task.",
    tag,
    access: onChangeableTask('member'),
    audit: { action: 'task.update', object: ({ task }) => task },
    body: UpdateTask,
    reply: [200, Task],
    errors: { 409: 'A run is live, a branch exists, or the task cannot move to this status' },
    waits: 'before it writes',
    waitsFor: namesBase,
    handle: (app, { task, user, body }) => updateTask(app, task.id, user.id, body),
  }),
  route({
    operationId: 'deleteTask',
    method: 'delete',
    path: '/tasks/:id',
    summary: 'Delete a task and its subtasks',
    guide: 'Delete a task that has no run under way. Cannot be undone; ask your person first.',
    tag,
    access: onChangeableTask('member'),
    audit: { action: 'task.delete', object: ({ task }) => task },
    reply: [204],
    errors: { 409: 'The task or one of its subtasks has a live run' },
    handle: (app, { task }) => deleteTask(app, task),
  }),
  route({
    operationId: 'listSubtasks',
    method: 'get',
    path: '/tasks/:id/subtasks',
    summary: 'List the subtasks of a task, oldest first',
    guide: 'List the tasks into which a task was split.',
    tag,
    access: onTask('viewer'),
    query: z.strictObject(wholeListQuery),
    reply: [200, z.array(Task)],
    paged: true,
    handle: (app, { task, query }) => listSubtasks(app.db.manager, task.id, query),
  }),
  route({
    operationId: 'createSubtask',
    method: 'post',
    path: '/tasks/:id/subtasks',
    summary: 'Add a subtask; the task then waits for its subtasks',
    guide: 'Add a subtask to a task. The parent waits until its subtasks are done.',
    tag,
    access: onChangeableTask('member'),
    audit: { action: 'task.add_subtask', object: ({ task }) => task },
    body: CreateSubtask,
    reply: [201, Task],
    errors: { 409: 'The task is a subtask itself, or its status forbids it' },
    handle: (app, { task, user, body }) => addSubtask(app, task.id, user.id, body),
  }),
  route({
    operationId: 'getTaskDiff',
    method: 'get',
    path: '/tasks/:id/diff',
    summary: 'Get the changes of a task, from the merge base to the head of its branch',
    guide:
      "Read the diff of a task's branch against its base. Use it to review a change; `getTaskChange` has the judgement about it.",
    tag,
    access: onTask('viewer'),
    reply: [200, TaskDiff],
    handle: (app, { task }) => readDiff(app, task),
  }),
  route({
    operationId: 'listHandoffs',
    method: 'get',
    path: '/tasks/:id/handoffs',
    summary: 'List what each run of the task left for later runs',
    guide: 'List what the agents of earlier runs of a task left as notes for the next one.',
    tag,
    access: onTask('viewer'),
    reply: [200, Handoffs],
    handle: async (app, { task }) => ({ handoffs: await listHandoffs(app.db.manager, task.id) }),
  }),
  route({
    operationId: 'listPullRequests',
    method: 'get',
    path: '/tasks/:id/prs',
    summary: 'List the pull requests of a task, oldest first',
    guide: 'List the pull requests of a task, with their numbers, states and addresses.',
    tag,
    access: onTask('viewer'),
    reply: [200, z.array(PullRequestEntry)],
    handle: (app, { task }) => listPulls(app.db.manager, task.id),
  }),
];
