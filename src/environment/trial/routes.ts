import { type Route, route } from '../../http/route.ts';
import { onRepository } from '../../repositories/routes.ts';
import { getTrial, startTrial } from './operations.ts';
import { StartedTrial, Trial } from './schemas.ts';

const path = '/repositories/:id/environment';
const tag = 'repositories';

export const environmentTrialRoutes: Route[] = [
  route({
    operationId: 'startEnvironmentTrial',
    method: 'post',
    path,
    summary: 'Try set-up and checks on the default branch, without an agent',
    tag,
    access: onRepository('member'),
    audit: { action: 'repository.try_environment', object: ({ repository }) => repository },
    reply: [202, StartedTrial],
    errors: { 409: 'A trial of this repository is running' },
    costs: 'start',
    handle: (app, { repository }) => startTrial(app, { repositoryId: repository.id }),
  }),
  route({
    operationId: 'getEnvironmentTrial',
    method: 'get',
    path,
    summary: 'Get the last trial of the environment of a repository',
    tag,
    access: onRepository('member'),
    reply: [200, Trial],
    handle: (app, { repository }) => getTrial(app, repository.id),
  }),
];
