import { z } from 'zod';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { severities } from '../../domain/reviewing/choose-comments.ts';
import { notFound } from '../../errors.ts';
import { withParam } from '../../http/access/access.ts';
import { type Route, route, Timestamp } from '../../http/route.ts';
import { onRepository } from '../../repositories/routes.ts';
import { Run, showRun } from '../schemas.ts';
import { askAboutPull } from './ask.ts';
import { forgetNotUseful, listNotUseful } from './store.ts';

/** Reads the number of a pull request from a path. @throws AppError 404 */
function numberIn(text: string, repository: RepositoryRow): number {
  const number = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
  if (number === undefined) throw notFound(`Pull request of repository ${repository.name}`, text);
  return number;
}

const ReviewExample = z
  .object({
    id: z.string(),
    number: z.int().meta({ description: 'the pull request' }),
    path: z.string(),
    quote: z.string().meta({ description: 'the line as it was' }),
    severity: z.enum(severities),
    text: z.string().meta({ description: 'the comment' }),
    why: z.enum(['resolved', 'thumbs_down']),
    at: Timestamp,
  })
  .meta({ id: 'ReviewExample' });

/** At most this many examples are listed, the latest ones. */
const maxExamples = 100;

export const reviewingRoutes: Route[] = [
  route({
    operationId: 'reviewPullRequest',
    method: 'post',
    path: '/repositories/:id/pulls/:number/review',
    summary:
      'Review a pull request: an agent reads it and comments on at most ten of its changed lines. Nothing is pushed or approved',
    tag: 'repositories',
    access: withParam(onRepository('member'), 'number'),
    audit: { action: 'repository.review', object: ({ repository }) => repository },
    reply: [202, Run],
    errors: {
      409: 'The pull request is closed, is being reviewed at this commit, or reviews are switched off',
      429: 'The repository has had all its reviews of today',
      502: 'GitHub answered with an error',
      503: 'No model or git credential is configured',
    },
    costs: 'start',
    waits: 'before it writes',
    handle: async (app, { repository, user, number }) =>
      showRun(
        await askAboutPull(app, {
          repository,
          number: numberIn(number, repository),
          kind: 'review',
          askedBy: user.id,
        }),
      ),
  }),
  route({
    operationId: 'listReviewExamples',
    method: 'get',
    path: '/repositories/:id/review-examples',
    summary:
      'List the review comments that people found not useful, the latest first, at most 100; reviews are told of them',
    tag: 'repositories',
    access: onRepository('viewer'),
    reply: [200, z.array(ReviewExample)],
    handle: (app, { repository }) => listNotUseful(app.db.manager, repository.id, maxExamples),
  }),
  route({
    operationId: 'forgetReviewExample',
    method: 'delete',
    path: '/repositories/:id/review-examples/:noteId',
    summary: 'Forget that a review comment was not useful',
    tag: 'repositories',
    access: withParam(onRepository('admin'), 'noteId'),
    audit: { action: 'repository.forget_example', object: ({ repository }) => repository },
    reply: [204],
    handle: async (app, { repository, noteId }) => {
      const text = await forgetNotUseful(app.db.manager, repository.id, noteId);
      if (text === undefined) throw notFound(`Review example of repository ${repository.name}`, noteId);
      app.audit.note({ example: [text, null] });
    },
  }),
];
