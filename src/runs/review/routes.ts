import { z } from 'zod';
import { type Route, route, Timestamp, wholeListQuery } from '../../http/route.ts';
import { onTask } from '../../tasks/routes.ts';
import { listReviewComments } from './store.ts';

const ReviewComment = z
  .object({
    id: z.string(),
    path: z.string(),
    line: z.int().nullable().meta({
      description: 'the line; of an outdated comment, the line that it was written on; null for the whole file',
    }),
    side: z.enum(['old', 'new']).meta({ description: 'whether the line is part of the old or of the new file' }),
    text: z.string().meta({ description: 'everything that the person wrote, as Markdown' }),
    author: z.string().meta({ description: 'the login of the person' }),
    at: Timestamp,
    round: z.int().meta({ description: '1 before the first revision of the task, and one more after each' }),
    state: z.enum(['open', 'addressed', 'outdated']).meta({
      description:
        '`addressed` if the agent answered it, or a run that was asked for it pushed a change; `outdated` if it was not and its line is no longer in the diff',
    }),
    told: z.boolean().meta({
      description:
        'whether the agent was asked to act on it; on GitHub, a review by somebody with write permission that requests changes does that',
    }),
    answer: z.string().nullable().meta({ description: 'what the agent answered; null before that' }),
  })
  .meta({ id: 'ReviewComment' });

export const reviewRoutes: Route[] = [
  route({
    operationId: 'listReviewComments',
    method: 'get',
    path: '/tasks/:id/review-comments',
    summary: 'List the comments of people on lines of the change of a task, oldest first',
    guide: "List the comments of reviews on a task's pull requests, and which of them the agent has answered.",
    tag: 'tasks',
    access: onTask('viewer'),
    query: z.strictObject(wholeListQuery),
    reply: [200, z.array(ReviewComment)],
    paged: true,
    handle: (app, { task, query }) => listReviewComments(app.db.manager, task.id, query),
  }),
];
