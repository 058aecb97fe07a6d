import { randomUUID } from 'node:crypto';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import type { App } from '../app.ts';
import { AppError } from '../errors.ts';
import { type Caller, findCaller } from './access/access.ts';
import { authentication } from './access/authenticate.ts';
import { compressed } from './compress.ts';
import { docsPage } from './documents/docs-page.ts';
import { openapiDocument } from './documents/openapi.ts';
import { errorReply } from './error-reply.ts';
import { answerEvents, type EventStream, wantsEvents } from './events.ts';
import { takeKey } from './idempotency.ts';
import { anonymousLimit } from './limits/rate-limit.ts';
import { type Leave, userLines } from './limits/user-line.ts';
import { answerOnce, streamOnce } from './once.ts';
import { readiness } from './readiness.ts';
import { replyText } from './reply-text.ts';
import { cutPage, readBody, validated } from './request.ts';
import { type Method, Repeated, type Route } from './route.ts';

export const basePath = '/api/v1';

/** What stands at the root beside the REST interface. */
export interface Extras {
  /** Mounted before any body parser: the webhook receiver needs the raw bytes. */
  webhooks?: { path: string; handlers: RequestHandler[] };
  /** Sign-in and setup. */
  pages?: RequestHandler[];
}

/** The Express app: health, webhooks, and every declared route under /api/v1. */
export function createServer(app: App, routes: Route[], extras: Extras = {}): Express {
  const server = express();
  server.disable('x-powered-by');
  server.set('query parser', 'simple');
  server.set('etag', false);
  server.set('trust proxy', app.config.TRUST_PROXY);
  server.use((req, res, next) => {
    const id = req.headers['x-request-id'];
    res.locals.requestId = typeof id === 'string' && /^[\w.-]{1,100}$/.test(id) ? id : randomUUID();
    res.setHeader('X-Request-Id', res.locals.requestId);
    next();
  });
  server.use(securityHeaders(app.config.BASE_URL));
  server.use(compressed());
  const anonymous = anonymousLimit(app.config);
  server.get('/healthz', (_req, res) => res.json({ status: 'ok' }));
  const isReady = readiness(app);
  server.get('/readyz', async (_req, res) => {
    const status = await isReady();
    res.status(status === 'ok' ? 200 : 503).json({ status });
  });
  if (extras.webhooks) server.post(extras.webhooks.path, ...extras.webhooks.handlers);
  server.all(/^\/(?:login\/|setup)/i, anonymous);
  for (const pages of extras.pages ?? []) server.use(pages);
  server.use(basePath, api(app, routes, anonymous));
  server.use((_req, _res, next) => next(new AppError(404, 'No such address')));
  server.use(errorReply(app));
  return server;
}

function api(app: App, routes: Route[], anonymous: RequestHandler): express.Router {
  const router = express.Router();
  router.use((_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    next();
  });
  // Written once: it is 400 kB, and a stranger may ask for it.
  const document = Buffer.from(JSON.stringify(openapiDocument(routes, app.config.BASE_URL)));
  router.all(/^\/(?:openapi\.json|docs)\/?$/i, anonymous);
  router.get('/openapi.json', (_req, res) => res.type('json').send(document));
  router.use('/docs', docsPage(`${basePath}/openapi.json`));
  router.all(['/openapi.json', '/docs'], (_req, _res, next) => next(methodNotAllowed(['get'])));
  const { tokenIdOf, onRefusal } = authentication(app, anonymous);
  const enterLine = userLines();
  for (const declared of routes) router[declared.method](declared.path, operation(app, declared, tokenIdOf, enterLine));
  for (const [path, methods] of methodsByPath(routes))
    router.all(path, (_req, _res, next) => next(methodNotAllowed(methods)));
  router.use(onRefusal);
  return router;
}

function methodNotAllowed(methods: Method[]): AppError {
  const headers = { Allow: methods.map((m) => m.toUpperCase()).join(', ') };
  return new AppError(405, 'Method not allowed', { headers });
}

/** One declared route as a handler, its checks in the order of decisions, section 2. */
function operation(
  app: App,
  declared: Route,
  tokenIdOf: (req: Request, res: Response, declared: Route) => Promise<string>,
  enterLine: (userId: string) => Promise<Leave>,
): RequestHandler {
  return async (req, res) => {
    const measure = app.metrics.requests.startTimer({ method: declared.method, route: declared.path });
    res.once('finish', () => measure({ status: res.statusCode }));
    const isPublic = declared.access.kind === 'public';
    const tokenId = isPublic ? '' : await tokenIdOf(req, res, declared);
    const userId = String(res.locals.userId);
    const hasBody = declared.method === 'post' || declared.method === 'patch';
    if (hasBody) {
      // A dead token must win over a broken body; the access rule would come to know it only later.
      if (!isPublic) await findCaller(app.db, tokenId);
      req.body = await readBody(req, userId);
    }
    // What waits for others holds no connection to the database while it does.
    const leave = declared.waits === undefined ? await enterLine(userId) : () => {};
    try {
      await perform(app, declared, { req, res, tokenId, leave });
    } finally {
      leave();
    }
  };
}

interface Asking {
  req: Request;
  res: Response;
  tokenId: string;
  /** Lets the next request of the user begin before this one is over. */
  leave: Leave;
}

async function perform(app: App, declared: Route, { req, res, tokenId, leave }: Asking): Promise<void> {
  const [status, shape] = declared.reply;
  const query = req.query as Record<string, unknown>;
  const params = req.params as Record<string, string>;
  const enter = async () => ({
    ...(await declared.access.load(app, { tokenId, params, body: req.body, query })),
    query: validated(declared, 'query', query),
    body: validated(declared, 'body', req.body),
  });
  let given = await enter();
  const user = (given as { user?: Caller }).user;
  const use =
    declared.method === 'post' && user
      ? await takeKey(app.db, req, user.id, [declared.path, ...Object.values(params)].join(' '))
      : undefined;
  const inEvents = (userId: string, tell: (out: EventStream) => Promise<void>) => {
    // Streams have a limit of their own.
    leave();
    return answerEvents(req, res, { userId, stopping: app.stopping, recheck: enter }, tell);
  };
  if (use !== undefined && 'status' in use) {
    res.setHeader('Idempotent-Replayed', 'true');
    if (declared.stream !== undefined && user !== undefined && wantsEvents(req) && use.status < 300) {
      const data = JSON.parse(use.body ?? 'null');
      return inEvents(user.id, async ({ send }) => send({ event: 'done', data }));
    }
    res.status(use.status).type('json').send(use.body);
    return;
  }
  const keyed = use && { id: use.id, isAgain: use.isAgain };
  if (declared.stream !== undefined && user !== undefined && (declared.isStream || wantsEvents(req))) {
    const { stream } = declared;
    return inEvents(user.id, (out) =>
      streamOnce(app, declared, use, out, (kept) => stream(app, { ...given, keyed }, kept)),
    );
  }
  const answer = async () => {
    const result = await declared.handle(app, { ...given, keyed });
    const isRepeated = result instanceof Repeated;
    const value = isRepeated ? result.value : result;
    const page = given.query as { limit?: number; offset: number };
    const shown = declared.paged ? cutPage(req, res, value as unknown[], page) : value;
    const body = shape === undefined ? undefined : await replyText(shape, shown);
    return { status: isRepeated ? 200 : status, body };
  };
  const lookAgain = async () => {
    given = await enter();
  };
  const reply = await answerOnce(app, declared, use, answer, lookAgain);
  if (reply.body === undefined) res.status(reply.status).end();
  else res.status(reply.status).type('json').send(reply.body);
}

function methodsByPath(routes: Route[]): Map<string, Method[]> {
  const byPath = new Map<string, Method[]>();
  for (const { path, method } of routes) byPath.set(path, [...(byPath.get(path) ?? []), method]);
  return byPath;
}

/** helmet's defaults, framed by nobody; what only makes sense over https is left out over http. */
function securityHeaders(baseUrl: string): RequestHandler {
  const isHttps = baseUrl.startsWith('https:');
  return helmet({
    strictTransportSecurity: isHttps,
    xFrameOptions: { action: 'deny' },
    contentSecurityPolicy: {
      directives: { 'frame-ancestors': ["'none'"], ...(isHttps ? {} : { 'upgrade-insecure-requests': null }) },
    },
  });
}
