import { z } from 'zod';
import type { RepositoryRow } from '../db/tables/project.ts';
import { notFound } from '../errors.ts';
import { accessTo, inProject, inProjectOfBody, inProjectOfQuery } from '../http/access/access.ts';
import { IdText, longText, type Route, route } from '../http/route.ts';
import { searchBranches } from './branches.ts';
import { connectRepository, disconnectRepository, updateRepository } from './operations.ts';
import { ConnectRepository, Repository, RepositoryEntry, TaskTemplate, UpdateRepository } from './schemas.ts';
import { findDocs, findPrimary, listRepositories, repositoryColumns } from './store.ts';
import { listTemplates } from './templates/list-templates.ts';

const tag = 'repositories';

export const onRepository = accessTo<RepositoryRow, 'repository'>({
  kind: 'Repository',
  as: 'repository',
  columns: repositoryColumns,
  from: 'repositories r',
  id: 'r.id',
  project: 'r.project_id',
  param: 'id',
});

export const repositoryRoutes: Route[] = [
  route({
    operationId: 'connectRepository',
    method: 'post',
    path: '/repositories',
    summary: 'Connect a repository to a project',
    tag,
    access: inProjectOfBody('admin'),
    audit: { action: 'repository.connect', made: ({ id, projectId }) => ({ id, projectId }) },
    body: ConnectRepository,
    reply: [201, Repository],
    errors: { 409: 'The project already has a repository with this name or URL' },
    waits: 'before it writes',
    handle: (app, { user, body }) => connectRepository(app, user.id, body),
  }),
  route({
    operationId: 'listRepositories',
    method: 'get',
    path: '/repositories',
    summary: 'List the repositories of one project, or of all projects of the caller',
    guide: 'List the repositories of a project. A task with none works in the primary one.',
    tag,
    access: inProjectOfQuery,
    query: z.strictObject({ projectId: IdText.optional() }),
    reply: [200, z.array(RepositoryEntry)],
    handle: (app, { user, projectId }) => listRepositories(app.db.manager, user.id, projectId),
  }),
  route({
    operationId: 'getRepository',
    method: 'get',
    path: '/repositories/:id',
    summary: 'Get a repository',
    tag,
    access: onRepository('viewer'),
    reply: [200, Repository],
    handle: async (_app, { repository }) => repository,
  }),
  route({
    operationId: 'searchBranches',
    method: 'get',
    path: '/repositories/:id/branches',
    summary: 'List the names of branches, the default branch first, at most 100; their host is asked',
    tag,
    access: onRepository('viewer'),
    query: z.strictObject({ search: longText(255).default('') }),
    reply: [200, z.array(z.string())],
    errors: { 502: 'The host cannot list its branches' },
    waits: 'before it writes',
    handle: (app, { repository, query }) => searchBranches(app, repository, query.search),
  }),
  route({
    operationId: 'listTaskTemplates',
    method: 'get',
    path: '/repositories/:id/task-templates',
    summary:
      'List the templates of issues of a repository, at most 10, which propose the text of new tasks; GitHub is asked',
    tag,
    access: onRepository('member'),
    reply: [200, z.array(TaskTemplate)],
    errors: { 502: 'GitHub cannot be asked' },
    waits: 'before it writes',
    handle: (app, { repository, user }) => listTemplates(app, repository, user.id),
  }),
  route({
    operationId: 'updateRepository',
    method: 'patch',
    path: '/repositories/:id',
    summary: 'Change a repository',
    tag,
    access: onRepository('admin'),
    audit: { action: 'repository.update', object: ({ repository }) => repository },
    body: UpdateRepository,
    reply: [200, Repository],
    errors: { 409: 'The name or URL is taken, a task has a branch in the repository, or a run has read it' },
    waits: 'before it writes',
    handle: (app, { repository, user, body }) => updateRepository(app, repository, user.id, body),
  }),
  route({
    operationId: 'disconnectRepository',
    method: 'delete',
    path: '/repositories/:id',
    summary: 'Disconnect a repository. Nothing changes on its host',
    tag,
    access: onRepository('admin'),
    audit: { action: 'repository.disconnect', object: ({ repository }) => repository },
    reply: [204],
    errors: { 409: 'A task has a live run or an open pull request in the repository' },
    handle: (app, { repository }) => disconnectRepository(app, repository),
  }),
  flagged('getPrimaryRepository', 'primary', 'Primary repository', findPrimary),
  flagged('getDocsRepository', 'docs', 'Documentation repository', findDocs),
];

/** Builds the route for the one repository of a project that has a flag. */
function flagged(operationId: string, segment: string, name: string, find: typeof findPrimary): Route {
  return route({
    operationId,
    method: 'get',
    path: `/repositories/${segment}/:projectId`,
    summary: `Get the ${name.toLowerCase()} of a project`,
    tag,
    access: inProject('viewer'),
    reply: [200, Repository],
    handle: async (app, { projectId }) => {
      const found = await find(app.db.manager, projectId);
      if (found === null) throw notFound(`${name} of project`, projectId);
      return found;
    },
  });
}
