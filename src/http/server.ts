import { randomUUID } from 'node:crypto';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import helmet from 'helmet';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { isDatabaseAway } from '../db/database.ts';
import { Refused } from '../domain/machine.ts';
import { AppError, badRequest, unauthorized } from '../errors.ts';
import { findCaller } from './access.ts';
import { bearerPassport, type TokenClaims } from './auth.ts';
import { docsPage } from './docs-page.ts';
import { openapiDocument } from './openapi.ts';
import { rateLimits } from './rate-limit.ts';
import type { Method, Route } from './route.ts';
import { tokenUse } from './token-use.ts';

/** A database that does not answer in that time is away. */
const readyMs = 2000;

export const basePath = '/api/v1';

/** What stands at the root beside the REST interface. */
export interface Extras {
  /** Mounted before any body parser: the webhook receiver needs the raw bytes. */
  webhooks?: { path: string; handlers: RequestHandler[] };
}

/** The Express app: health, webhooks, and every declared route under /api/v1. */
export function createServer(app: App, routes: Route[], extras: Extras = {}): Express {
  const server = express();
  server.disable('x-powered-by');
  server.set('query parser', 'simple');
  server.set('etag', false);
  server.use((req, res, next) => {
    const id = req.headers['x-request-id'];
    res.locals.requestId = typeof id === 'string' && /^[\w.-]{1,100}$/.test(id) ? id : randomUUID();
    res.setHeader('X-Request-Id', res.locals.requestId);
    next();
  });
  server.use(helmet());
  server.get('/healthz', (_req, res) => res.json({ status: 'ok' }));
  server.get('/readyz', async (_req, res) => {
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, readyMs, false).unref());
    const asked = app.db.ping().then(
      () => true,
      () => false,
    );
    const ready = await Promise.race([asked, late]);
    res.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'database away' });
  });
  if (extras.webhooks) server.post(extras.webhooks.path, ...extras.webhooks.handlers);
  server.use(basePath, api(app, routes));
  server.use((_req, _res, next) => next(new AppError(404, 'No such address')));
  server.use(errorReply(app));
  return server;
}

function api(app: App, routes: Route[]): express.Router {
  const router = express.Router();
  router.use((_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    next();
  });
  const document = openapiDocument(routes, app.config.BASE_URL);
  router.get('/openapi.json', (_req, res) => res.json(document));
  router.use('/docs', docsPage(`${basePath}/openapi.json`));
  const passport = bearerPassport(app.keys.jwtSecret, app.config.BASE_URL);
  const authenticate = (req: Request, res: Response) =>
    new Promise<TokenClaims>((resolve, reject) =>
      passport.authenticate('jwt', { session: false }, (error: unknown, claims: TokenClaims | false) =>
        error || !claims ? reject(error ?? unauthorized()) : resolve(claims),
      )(req, res, reject),
    );
  const noteUse = tokenUse(app);
  const limit = rateLimits(app.config);
  const known = async (req: Request, res: Response, { costs }: Route) => {
    const { jti } = await authenticate(req, res);
    res.locals.tokenId = jti;
    await limit(req, res, costs);
    noteUse(jti);
    return jti;
  };
  for (const declared of routes) router[declared.method](declared.path, operation(app, declared, known));
  for (const [path, methods] of methodsByPath(routes))
    router.all(path, (_req, _res, next) =>
      next(
        new AppError(405, 'Method not allowed', { headers: { Allow: methods.map((m) => m.toUpperCase()).join(', ') } }),
      ),
    );
  return router;
}

const jsonBody = express.json({ limit: '1mb', strict: false, type: 'application/json' });

/** One declared route as a handler, its checks in the order of decisions, section 2. */
function operation(
  app: App,
  declared: Route,
  tokenIdOf: (req: Request, res: Response, declared: Route) => Promise<string>,
): RequestHandler {
  const [status, shape] = declared.reply;
  return async (req, res) => {
    const measure = app.metrics.requests.startTimer({ method: declared.method, route: declared.path });
    res.once('finish', () => measure({ status: res.statusCode }));
    const isPublic = declared.access.kind === 'public';
    const tokenId = isPublic ? '' : await tokenIdOf(req, res, declared);
    const hasBody = declared.method === 'post' || declared.method === 'patch';
    if (hasBody) {
      // A dead token must win over a broken body; the access rule would come to know it only later.
      if (!isPublic) await findCaller(app.db, tokenId);
      await readBody(req, res);
    }
    const query = req.query as Record<string, unknown>;
    const params = req.params as Record<string, string>;
    const context = await declared.access.load(app, { tokenId, params, body: req.body, query });
    const given = {
      ...context,
      query: validated(declared, 'query', query),
      body: validated(declared, 'body', req.body),
    };
    let result = await declared.handle(app, given);
    if (declared.paged)
      result = cutPage(req, res, result as unknown[], given.query as { limit: number; offset: number });
    if (shape === undefined) res.status(status).end();
    else res.status(status).json(shape.parse(result));
  };
}

function readBody(req: Request, res: Response): Promise<void> {
  const isEmpty = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  if (isEmpty) return Promise.resolve();
  if (!req.is('application/json')) throw new AppError(415, 'The body must be JSON (Content-Type: application/json)');
  return new Promise((resolve, reject) =>
    jsonBody(req, res, (error) => (error ? reject(bodyError(error)) : resolve())),
  );
}

function bodyError(error: { type?: string; status?: number }): unknown {
  if (error.type === 'entity.too.large') return new AppError(413, 'The body must have at most 1 MB');
  if (error.type === 'entity.parse.failed') return badRequest([{ path: '', message: 'The body must be valid JSON' }]);
  if (error.status === 415) return new AppError(415, 'The body has an encoding or charset that is not supported');
  return error.status === 400 ? badRequest([{ path: '', message: 'The body could not be read' }]) : error;
}

function validated(declared: Route, where: 'query' | 'body', value: unknown): unknown {
  const schema = declared[where];
  if (schema === undefined) {
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw badRequest([{ path: '', message: 'The body must be empty' }]);
    const keys = Object.keys(value);
    if (keys.length === 0) return undefined;
    throw badRequest(keys.map((key) => ({ path: key, message: `${key} is not known here` })));
  }
  const parsed = schema.safeParse(value === undefined ? {} : value);
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues.flatMap(problemsOf));
}

function problemsOf(issue: z.core.$ZodIssue): { path: string; message: string }[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const at = path ? `${path}.${key}` : key;
      return { path: at, message: `${at} is not known here` };
    });
  return [{ path, message: path ? `${path}: ${issue.message}` : issue.message }];
}

function cutPage(req: Request, res: Response, rows: unknown[], { limit, offset }: { limit: number; offset: number }) {
  const link = (rel: string, at: number) => {
    const query = new URLSearchParams(req.query as Record<string, string>);
    query.set('limit', String(limit));
    query.set('offset', String(at));
    return `<${req.baseUrl}${req.path}?${query}>; rel="${rel}"`;
  };
  const links = [];
  if (rows.length > limit) links.push(link('next', offset + limit));
  if (offset > 0) links.push(link('prev', Math.max(0, offset - limit)));
  if (links.length > 0) res.setHeader('Link', links.join(', '));
  return rows.slice(0, limit);
}

function methodsByPath(routes: Route[]): Map<string, Method[]> {
  const byPath = new Map<string, Method[]>();
  for (const { path, method } of routes) byPath.set(path, [...(byPath.get(path) ?? []), method]);
  return byPath;
}

/** Answers every error in the one shape of decisions, section 2. What is not ours to show becomes a plain 500. */
export function errorReply(app: App): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error);
    const known = knownError(error);
    if (known.status >= 500)
      app.log.error(
        { err: error, requestId: res.locals.requestId, method: req.method, path: req.path },
        'request failed',
      );
    for (const [name, value] of Object.entries(known.headers)) res.setHeader(name, value);
    const body = { statusCode: known.status, message: known.message };
    res.status(known.status).json(known.problems === undefined ? body : { ...body, errors: known.problems });
  };
}

function knownError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof Refused) return new AppError(409, error.message);
  if (isDatabaseAway(error)) return new AppError(503, 'The database is away', { headers: { 'Retry-After': '5' } });
  const { type } = error as { type?: string };
  if (type === 'entity.too.large') return new AppError(413, 'The body must have at most 25 MB');
  // A path that is not valid percent-encoding comes as an error of Express with this status.
  const status = (error as { status?: unknown }).status;
  if (status === 400) return new AppError(404, 'No such address');
  return new AppError(500, 'Internal server error');
}
