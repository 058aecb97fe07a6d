import { z } from 'zod';
import { type Route, route } from '../../http/route.ts';
import { pageQuery } from '../../http/shapes.ts';
import { onTask } from '../../tasks/routes.ts';
import { TimelineEntry } from './schemas.ts';
import { listTimeline } from './store.ts';

export const timelineRoutes: Route[] = [
  route({
    operationId: 'listTaskTimeline',
    method: 'get',
    path: '/tasks/:id/timeline',
    summary: 'List what happened to a task and who did it, newest first',
    tag: 'tasks',
    access: onTask('member'),
    query: z.strictObject(pageQuery),
    reply: [200, z.array(TimelineEntry)],
    paged: true,
    handle: (app, { task, query }) => listTimeline(app.db.manager, task.id, query),
  }),
];
