import { z } from 'zod';
import { type Access, anyUser, type InProject, inProject } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import { removeSecret, setSecret } from './operations.ts';
import { EnvironmentSecret, SetEnvironmentSecret, UnassignedSecrets } from './schemas.ts';
import { listSecrets, listUnassigned } from './store.ts';

const path = '/projects/:projectId/environment-secrets';
const tag = 'projects';

/** Adds the name in the path to what the handler receives. It need not exist. */
function ofName(role: 'admin'): Access<InProject & { name: string }> {
  const project = inProject(role);
  return {
    ...project,
    load: async (app, asked) => ({ ...(await project.load(app, asked)), name: asked.params.name ?? '' }),
  };
}

export const environmentSecretRoutes: Route[] = [
  route({
    operationId: 'listUnassignedSecrets',
    method: 'get',
    path: '/me/unassigned-secrets',
    summary: 'List the environment secrets that no repository may use, in all projects that the caller can administer',
    tag,
    access: anyUser,
    reply: [200, z.array(UnassignedSecrets)],
    handle: (app, { user }) => listUnassigned(app.db.manager, user.id),
  }),
  route({
    operationId: 'listEnvironmentSecrets',
    method: 'get',
    path,
    summary: 'List the environment secrets of a project. Their values are never shown',
    tag,
    access: inProject('member'),
    reply: [200, z.array(EnvironmentSecret)],
    handle: (app, { projectId }) => listSecrets(app.db.manager, projectId),
  }),
  route({
    operationId: 'setEnvironmentSecret',
    method: 'put',
    path: `${path}/:name`,
    summary:
      'Set an environment secret with the repositories that may use it. A secret that exists is replaced as a whole',
    tag,
    access: ofName('admin'),
    audit: { action: 'secret.set', object: ({ name, projectId }) => ({ id: name, projectId }) },
    body: SetEnvironmentSecret,
    reply: [204],
    errors: { 409: 'The project has too many environment secrets' },
    handle: (app, { projectId, name, body }) => setSecret(app, projectId, name, body),
  }),
  route({
    operationId: 'removeEnvironmentSecret',
    method: 'delete',
    path: `${path}/:name`,
    summary: 'Delete an environment secret',
    tag,
    access: ofName('admin'),
    audit: { action: 'secret.remove', object: ({ name, projectId }) => ({ id: name, projectId }) },
    reply: [204],
    handle: (app, { projectId, name }) => removeSecret(app, projectId, name),
  }),
];
