import { z } from 'zod';
import type { RepositoryRow } from '../db/tables.ts';
import { accessTo, inProjectOfBody, inProjectOfQuery } from '../http/access.ts';
import { type Route, route } from '../http/route.ts';
import { IdText } from '../http/shapes.ts';
import { connectRepository, validateRepository } from './operations.ts';
import { ConnectRepository, Repository, RepositoryEntry, Validation } from './schemas.ts';
import { listRepositories, repositoryColumns } from './store.ts';

const tag = 'repositories';

const onRepository = accessTo<RepositoryRow, 'repository'>({
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
    method: 'post',
    path: '/repositories',
    summary: 'Connect a repository to a project',
    tag,
    access: inProjectOfBody('admin'),
    body: ConnectRepository,
    reply: [201, Repository],
    errors: { 409: 'The name or the URL is taken in the project' },
    handle: (app, { user, body }) => connectRepository(app, user.id, body),
  }),
  route({
    method: 'get',
    path: '/repositories',
    summary: 'List repositories, of one project or of all the caller is in',
    tag,
    access: inProjectOfQuery,
    query: z.strictObject({ projectId: IdText.optional() }),
    reply: [200, z.array(RepositoryEntry)],
    handle: (app, { user, projectId }) => listRepositories(app.db.manager, user.id, projectId),
  }),
  route({
    method: 'get',
    path: '/repositories/:id',
    summary: 'Get a repository',
    tag,
    access: onRepository('member'),
    reply: [200, Repository],
    handle: async (_app, { repository }) => repository,
  }),
  route({
    method: 'post',
    path: '/repositories/:id/validate',
    summary: 'Check that the service can reach the repository',
    tag,
    access: onRepository('member'),
    reply: [200, Validation],
    handle: (app, { repository }) => validateRepository(app, repository),
  }),
];
