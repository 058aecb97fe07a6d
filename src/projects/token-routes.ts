import type { SecretKind } from '../db/tables/project.ts';
import { inProject, theProject } from '../http/access/access.ts';
import { type Route, route } from '../http/route.ts';
import { SetToken, TokenSet, TokenState } from './schemas.ts';
import { dropSecret, keepSecret, secretState } from './secrets.ts';

const tag = 'projects';

/**
 * The operations on a project's own tokens for git hosts and for models. The tokens are stored encrypted and never
 * returned.
 */
export const projectTokenRoutes: Route[] = [
  ...tokenRoutes('git-token', 'GitToken', 'git_token', 'git token'),
  ...tokenRoutes('model-token', 'ModelToken', 'model_token', 'model token'),
];

function tokenRoutes(segment: string, noun: string, kind: SecretKind, name: string): Route[] {
  const path = `/projects/:projectId/${segment}`;
  const access = inProject('admin');
  return [
    route({
      operationId: `set${noun}`,
      method: 'post',
      path,
      summary: `Set the ${name}`,
      tag,
      access,
      audit: { action: `project.set_${kind}`, object: theProject },
      body: SetToken,
      reply: [200, TokenSet],
      handle: async (app, { projectId, body }) => {
        await keepSecret(app, projectId, kind, body.token);
        return { configured: true };
      },
    }),
    route({
      operationId: `get${noun}`,
      method: 'get',
      path,
      summary: `Check whether a ${name} is set`,
      tag,
      access,
      reply: [200, TokenState],
      handle: (app, { projectId }) => secretState(app, projectId, kind),
    }),
    route({
      operationId: `remove${noun}`,
      method: 'delete',
      path,
      summary: `Remove the ${name}`,
      tag,
      access,
      audit: { action: `project.remove_${kind}`, object: theProject },
      reply: [204],
      handle: (app, { projectId }) => dropSecret(app, projectId, kind),
    }),
  ];
}
