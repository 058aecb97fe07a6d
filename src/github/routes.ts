import { type Route, route } from '../http/route.ts';
import { onTask } from '../tasks/routes.ts';
import { Task } from '../tasks/schemas.ts';
import { mergeTask } from './merge.ts';

export const githubRoutes: Route[] = [
  route({
    method: 'post',
    path: '/tasks/:id/merge',
    summary: 'Merge the open pull requests of a task',
    tag: 'tasks',
    access: onTask('member'),
    reply: [200, Task],
    errors: {
      409: 'Nothing to merge, or GitHub refused; the message says why and what is merged already',
      502: 'GitHub answered with an error',
      503: 'No git credential is configured',
    },
    handle: (app, { task }) => mergeTask(app, task.id),
  }),
];
