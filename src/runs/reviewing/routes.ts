import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { notFound } from '../../errors.ts';
import { type Route, route } from '../../http/route.ts';
import { onRepository } from '../../repositories/routes.ts';
import { Run, showRun } from '../schemas.ts';
import { askAboutPull } from './ask.ts';

/** Reads the number of a pull request from a path. @throws AppError 404 */
function numberIn(text: string, repository: RepositoryRow): number {
  const number = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
  if (number === undefined) throw notFound(`Pull request of repository ${repository.name}`, text);
  return number;
}

const onPull = onRepository('member');

export const reviewingRoutes: Route[] = [
  route({
    operationId: 'reviewPullRequest',
    method: 'post',
    path: '/repositories/:id/pulls/:number/review',
    summary:
      'Review a pull request: an agent reads it and comments on at most ten of its changed lines. Nothing is pushed or approved',
    tag: 'repositories',
    access: {
      ...onPull,
      load: async (app: App, asked) => ({ ...(await onPull.load(app, asked)), number: asked.params.number ?? '' }),
    },
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
];
