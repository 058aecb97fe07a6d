import { randomUUID } from 'node:crypto';
import compression from 'compression';
import express, { type Express, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import type { App } from '../app.ts';
import { AppError, badField } from '../errors.ts';
import { authentication } from './access/authenticate.ts';
import { docsPage } from './documents/docs-page.ts';
import { openapiDocument } from './documents/openapi.ts';
import { errorReply } from './error-reply.ts';
import { anonymousLimit } from './limits/rate-limit.ts';
import { userLines } from './limits/user-line.ts';
import { mcpEndpoint, metadataPath, resourceMetadata } from './mcp/endpoint.ts';
import { operation } from './operation.ts';
import { type Readiness, readiness } from './readiness.ts';
import type { Method, Route } from './route.ts';

/**
 * Replies that may be compressed at the same time, each with up to 1.2 MB of tables. Further replies are sent
 * uncompressed, so that clients that read slowly cannot use up the memory.
 */
export const maxAtOnce = 50;

/** Compresses replies of 1 kB or more with Brotli or gzip, depending on what the client accepts. */
export function compressed(): RequestHandler {
  let underWay = 0;
  return compression({
    filter: (req, res) => {
      if (!compression.filter(req, res) || !mayBeHeldBack(res) || underWay >= maxAtOnce) return false;
      underWay += 1;
      res.once('close', () => {
        underWay -= 1;
      });
      return true;
    },
  });
}

/**
 * Returns whether a reply may be compressed. A compressor buffers data until it has enough or the reply ends, which would
 * delay events and the replies of closing connections.
 */
function mayBeHeldBack(res: Response): boolean {
  const isEvents = String(res.getHeader('Content-Type')).startsWith('text/event-stream');
  // The reply to an unread body must be sent completely before its connection is closed.
  const closes = res.getHeader('Connection') === 'close';
  return !isEvents && !closes;
}

const basePath = '/api/v1';
const mcpPath = `${basePath}/mcp`;

/** The parts of the server besides the REST API. */
export interface Extras {
  /** Mounted before anything that reads bodies, because the webhook receiver needs the raw bytes. */
  webhooks?: { path: string; handler: RequestHandler };
  /** Sign-in, setup and the dashboard. */
  pages?: RequestHandler[];
  /** The check of the process, so that a change of the database's state is logged once; by default one of its own. */
  isReady?: () => Promise<Readiness>;
}

/** Creates the Express app: health checks, webhooks, pages, and every declared route under /api/v1. */
export function createServer(app: App, routes: Route[], extras: Extras = {}): Express {
  const server = express();
  server.disable('x-powered-by');
  server.set('query parser', 'simple');
  server.set('etag', false);
  server.set('trust proxy', app.config.TRUST_PROXY);
  server.use(nameRequest);
  server.use(closeWhileDraining(app.draining));
  server.use(securityHeaders(app.config.BASE_URL));
  server.use(refuseMalformed);
  server.use(compressed());
  const anonymous = anonymousLimit(app.config);
  server.get('/healthz', (_req, res) => res.json({ status: 'ok' }));
  const isReady = extras.isReady ?? readiness(app);
  server.get('/readyz', async (_req, res) => {
    const status = await isReady();
    res.status(status === 'ok' ? 200 : 503).json({ status });
  });
  if (extras.webhooks) server.post(extras.webhooks.path, extras.webhooks.handler);
  server.all(/^\/(?:login\/|setup|mail\/|badge\/|\.well-known\/)/i, anonymous);
  for (const pages of extras.pages ?? []) server.use(pages);
  server.get([metadataPath, `${metadataPath}${mcpPath}`], anonymous, (_req, res) =>
    res.json(resourceMetadata(app.config.BASE_URL, `${app.config.BASE_URL}${mcpPath}`)),
  );
  server.use(basePath, api(app, routes, anonymous, server));
  server.use((_req, _res, next) => next(new AppError(404, 'No such address')));
  server.use(errorReply(app));
  return server;
}

/** Assigns an id to each request, for replies and logs. Uses the client's own id if that is harmless. */
const nameRequest: RequestHandler = (req, res, next) => {
  const id = req.headers['x-request-id'];
  res.locals.requestId = typeof id === 'string' && /^[\w.-]{1,100}$/.test(id) ? id : randomUUID();
  res.setHeader('X-Request-Id', res.locals.requestId);
  next();
};

/** Lets callers open their next connection elsewhere: behind a load balancer they would reuse this one. */
function closeWhileDraining(draining: AbortSignal): RequestHandler {
  return (_req, res, next) => {
    if (draining.aborted) res.setHeader('Connection', 'close');
    next();
  };
}

/** Makes the checks of HTTP/1.1 that the listener turns off in Node (limits/listener.ts). */
const refuseMalformed: RequestHandler = ({ headers, httpVersion }, _res, next) => {
  if (httpVersion !== '1.1') return next();
  if (headers.host === undefined) throw badField('Host', 'The request must have a Host header');
  const { expect = '100-continue' } = headers;
  if (!/^100-continue$/i.test(expect)) throw new AppError(417, 'Expect must be 100-continue');
  next();
};

function api(app: App, routes: Route[], anonymous: RequestHandler, server: Express): express.Router {
  const router = express.Router();
  router.use((_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    next();
  });
  // Serialized once, because it is 400 kB and requires no token; when it is first requested, because that takes 90 ms.
  let document: Buffer | undefined;
  const read = () => {
    document ??= Buffer.from(JSON.stringify(openapiDocument(routes, app.config.BASE_URL)));
    return document;
  };
  router.all(/^\/(?:openapi\.json|docs)\/?$/i, anonymous);
  router.get('/openapi.json', (_req, res) => res.type('json').send(read()));
  router.use('/docs', docsPage(`${basePath}/openapi.json`, routes));
  router.all(['/openapi.json', '/docs'], (_req, _res, next) => next(methodNotAllowed(['get'])));
  const authenticated = authentication(app, anonymous);
  const { tokenIdOf, onRefusal } = authenticated;
  const parts = { tokenIdOf, lines: { quick: userLines(), waiting: userLines() } };
  router.post('/mcp', mcpEndpoint({ app, routes, authentication: authenticated, server, basePath }));
  // There are no sessions, which a client could follow or end.
  router.all('/mcp', (_req, _res, next) => next(methodNotAllowed(['post'])));
  for (const declared of routes) router[declared.method](declared.path, operation(app, declared, parts));
  for (const [path, methods] of methodsByPath(routes))
    router.all(path, (_req, _res, next) => next(methodNotAllowed(methods)));
  router.use(onRefusal);
  return router;
}

function methodNotAllowed(methods: Method[]): AppError {
  const headers = { Allow: methods.map((m) => m.toUpperCase()).join(', ') };
  return new AppError(405, 'Method not allowed', { headers });
}

function methodsByPath(routes: Route[]): Map<string, Method[]> {
  const byPath = new Map<string, Method[]>();
  for (const { path, method } of routes) byPath.set(path, [...(byPath.get(path) ?? []), method]);
  return byPath;
}

/**
 * Sets helmet's default headers. Over plain http, headers that require https are omitted. The policy is that of replies that are not
 * pages, such as JSON and scripts: they may load nothing, and nobody may put them into a frame. Pages replace it with their own.
 */
function securityHeaders(baseUrl: string): RequestHandler {
  return helmet({
    strictTransportSecurity: baseUrl.startsWith('https:'),
    xFrameOptions: { action: 'deny' },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
  });
}
