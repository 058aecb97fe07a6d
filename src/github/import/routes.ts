import { z } from 'zod';
import { inProject } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import { onRepository } from '../../repositories/routes.ts';
import { importIssues, listOpenIssues } from './issues.ts';
import { listInstalledRepositories } from './list-repositories.ts';
import { ImportedIssues, ImportIssues, InstalledRepository, OpenIssue } from './schemas.ts';

const tag = 'repositories';
const gitHubFailed = 'GitHub answered with an error';
const notInstalled = 'The GitHub App is not installed on the repository';

/** Lists of what is on GitHub, from which people choose instead of typing names. */
export const importRoutes: Route[] = [
  route({
    operationId: 'listInstalledRepositories',
    method: 'get',
    path: '/projects/:projectId/installed-repositories',
    summary:
      'List the repositories that the GitHub App reaches, in the account of the project and in those that the caller administers; at most 1,000',
    tag,
    access: inProject('admin'),
    reply: [200, z.array(InstalledRepository)],
    errors: { 502: gitHubFailed },
    waits: 'before it writes',
    handle: (app, { projectId, user }) => listInstalledRepositories(app, projectId, user.id),
  }),
  route({
    operationId: 'listOpenIssues',
    method: 'get',
    path: '/repositories/:id/issues',
    summary: 'List the open issues of a repository on GitHub, newest first; at most 300',
    tag,
    access: onRepository('member'),
    reply: [200, z.array(OpenIssue)],
    errors: { 502: gitHubFailed, 503: notInstalled },
    waits: 'before it writes',
    handle: (app, { repository }) => listOpenIssues(app, repository),
  }),
  route({
    operationId: 'importIssues',
    method: 'post',
    path: '/repositories/:id/issues',
    summary: 'Create a task for each of these issues that is open and has none',
    tag,
    access: onRepository('member'),
    audit: { action: 'repository.import_issues', object: ({ repository }) => repository },
    body: ImportIssues,
    reply: [200, ImportedIssues],
    errors: { 502: gitHubFailed, 503: notInstalled },
    waits: 'before it writes',
    handle: (app, { repository, user, body }) => importIssues(app, repository, user.id, body),
  }),
];
