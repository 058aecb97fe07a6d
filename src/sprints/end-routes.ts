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
    audit: { action: 'sprint.cancel', object: ({ sprint }) => sprint },
    reply: [200, Sprint],
    errors: { 409: 'The sprint is not active' },
    // Each run is cancelled in a transaction of its own, which may wait for a push that is under way.
    waits: 'between writes',
    handle: (app, { sprint, keyed }) => cancelSprint(app, sprint.id, keyed?.isAgain),
  }),
  route({
    operationId: 'deleteSprint',
    method: 'delete',
    path: '/sprints/:sprintId',
    summary: 'Delete a sprint but keep its tasks. Deleting an active sprint requires `force=true` and the admin role',
    tag: 'sprints',
    access: onSprint('member'),
    audit: { action: 'sprint.delete', object: ({ sprint }) => sprint },
    query: DeleteSprint,
    reply: [204],
    errors: { 409: 'The sprint is active' },
    waits: 'between writes',
    handle: (app, { sprint, role, query }) => deleteSprint(app, sprint, role, query.force),
  }),
];
