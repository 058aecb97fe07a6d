import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Route } from './route.ts';
import { ErrorReply } from './shapes.ts';

const reasons: Record<number, string> = {
  400: 'The body or query is invalid',
  401: 'The token is missing or not valid',
  429: 'Too many requests; Retry-After says when to come back',
  403: 'Not a member of the project, or the role is too low',
  404: 'Unknown, or not visible to the caller',
};

/** The OpenAPI 3.1 document of the declared routes. */
export function openapiDocument(routes: Route[], serverUrl: string): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const declared of routes) {
    const path = declared.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [declared.method]: operation(declared) };
  }
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Deckhand',
      version: '1',
      description: 'Projects, tasks, repositories and the AI agents that work on them.',
    },
    servers: [{ url: `${serverUrl}/api/v1` }],
    security: [{ bearer: [] }],
    tags: [...new Set(routes.map((r) => r.tag))].map((name) => ({ name })),
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    paths,
  });
}

function operation(declared: Route): ZodOpenApiOperationObject {
  const { access, path, query, body, reply } = declared;
  const [status, shape] = reply;
  const params = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const isPublic = access.kind === 'public';
  const always = [400, ...(isPublic ? [] : [401, 403, 429]), ...(params.length > 0 || access.names ? [404] : [])];
  const errors: Record<string, string> = {
    ...Object.fromEntries(always.map((code) => [code, reasons[code] ?? ''])),
    ...declared.errors,
  };
  return {
    operationId: operationId(declared),
    summary: declared.summary,
    tags: [declared.tag],
    ...(isPublic ? { security: [] } : {}),
    requestParams: {
      ...(params.length > 0 ? { path: z.object(Object.fromEntries(params.map((name) => [name, z.string()]))) } : {}),
      ...(query === undefined ? {} : { query: query as z.ZodObject }),
    },
    ...(body === undefined ? {} : { requestBody: { content: { 'application/json': { schema: body } } } }),
    responses: {
      [`${status}` as '200']: {
        description: declared.summary,
        ...(shape === undefined ? {} : { content: { 'application/json': { schema: shape } } }),
      },
      ...Object.fromEntries(
        Object.entries(errors).map(([code, description]) => [
          code,
          { description, content: { 'application/json': { schema: ErrorReply } } },
        ]),
      ),
    },
  };
}

/** `GET /tasks/:id/runs` becomes `getTasksByIdRuns`: stable, unique, and readable in a generated client. */
function operationId({ method, path }: Route): string {
  const words = path
    .split('/')
    .filter(Boolean)
    .map((part) => (part.startsWith(':') ? `By-${part.slice(1)}` : part));
  return method + words.map((w) => w.replace(/(^|-)(\w)/g, (_all, _dash, letter) => letter.toUpperCase())).join('');
}
