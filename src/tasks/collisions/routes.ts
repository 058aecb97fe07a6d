import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { taskStatuses } from '../../domain/task.ts';
import { overlap } from '../../domain/text/named-paths.ts';
import { type Route, route, Timestamp } from '../../http/route.ts';
import { onTask } from '../routes.ts';
import type { TaskView } from '../store.ts';
import { listBusyFiles, listCollisions, listFilesOf, maxShown } from './store.ts';

const Collisions = z
  .object({
    collisions: z
      .array(
        z.object({
          repositoryId: z.string(),
          repositoryName: z.string(),
          prNumber: z.int().meta({ description: 'the pull request of this task' }),
          otherTaskId: z.string().nullable().meta({ description: 'null for a pull request that is not of a task' }),
          otherNumber: z.int(),
          otherUrl: z.string(),
          otherTitle: z.string(),
          otherAuthor: z.string().nullable().meta({ description: 'the login of the person who opened it' }),
          files: z.array(z.string()).meta({ description: 'the files that git cannot merge' }),
          at: Timestamp,
        }),
      )
      .meta({ description: `the open pull requests that collide, at most ${maxShown}, newest first` }),
    expected: z
      .array(
        z.object({
          taskId: z.string(),
          title: z.string(),
          status: z.enum(taskStatuses),
          files: z.array(z.string()).meta({ description: 'what this task will probably touch as well' }),
        }),
      )
      .meta({
        description:
          'for a task without a change: those in progress or in review that touch files which its plan or its text names',
      }),
  })
  .meta({ id: 'Collisions' });

export const collisionRoutes: Route[] = [
  route({
    operationId: 'listCollisions',
    method: 'get',
    path: '/tasks/:id/collisions',
    summary:
      'List the open pull requests that git cannot merge together with those of a task, and tasks that may collide',
    guide:
      'List open changes that git cannot merge together with the change of a task. Before a start, `expected` names the tasks in progress that touch the same files.',
    tag: 'tasks',
    access: onTask('viewer'),
    reply: [200, Collisions],
    handle: async (app, { task }) => ({
      collisions: await listCollisions(app.db.manager, task.id),
      expected: await expectedFor(app.db.manager, task),
    }),
  }),
];

/** Returns the tasks in progress that will probably change the same files as a task that has no change yet. */
async function expectedFor(em: EntityManager, task: TaskView) {
  const { id, projectId, repositoryId, status, branchName, dependsOn } = task;
  if (!['backlog', 'ready', 'in_progress'].includes(status) || branchName !== null) return [];
  const [own] = await listFilesOf(em, [id]);
  if (own === undefined || own.files.length === 0) return [];
  const busy = await listBusyFiles(em, projectId, repositoryId);
  return busy.flatMap((other) => {
    // It starts when they are done.
    if (other.id === id || dependsOn.includes(other.id)) return [];
    const files = overlap(own.files, other.files);
    return files.length === 0 ? [] : [{ ...other, taskId: other.id, files }];
  });
}
