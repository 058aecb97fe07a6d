import { type Route, route } from '../http/route.ts';
import { cancelSprint, deleteSprint } from './end-sprint.ts';
import { onSprint } from './routes.ts';
import { DeleteSprint, Sprint } from './schemas.ts';

/** The operations on sprints that end runs. */
export const sprintRunRoutes: Route[] = [
  route({
    operationId: 'cancelSprint',
    method: 'post',
    path: '/sprints/:sprintId/cancel',
    summary: 'Cancel a sprint and its runs. Its unfinished tasks are removed from it',
    tag: 'sprints',
    access: onSprint('member'),
    reply: [200, Sprint],
    errors: { 409: 'The sprint is not active' },
    handle: (app, { sprint }) => cancelSprint(app, sprint.id),
  }),
  route({
    operationId: 'deleteSprint',
    method: 'delete',
    path: '/sprints/:sprintId',
    summary: 'Delete a sprint but keep its tasks. Deleting an active sprint requires `force=true` and the admin role',
    tag: 'sprints',
    access: onSprint('member'),
    query: DeleteSprint,
    reply: [204],
    errors: { 409: 'The sprint is active' },
    handle: (app, { sprint, role, query }) => deleteSprint(app, sprint, role, query.force),
  }),
];
