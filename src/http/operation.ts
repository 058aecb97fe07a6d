import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { App } from '../app.ts';
import { forPerson } from '../threads/tenant.ts';
import type { Beginning } from '../tracing/traced.ts';
import { type Caller, findCaller } from './access/access.ts';
import { enter } from './access/scope.ts';
import { answerEvents, type EventStream, wantsEvents } from './events.ts';
import { answerOnce, noteResult, type Reply, type StoredReply, streamOnce, takeKey } from './idempotency.ts';
import { assertReadsReplies, countStream, countUnsent } from './limits/replies.ts';
import type { Leave } from './limits/user-line.ts';
import { linksOf, type Page, readList } from './lists.ts';
import { noBody, readBody, validated } from './request.ts';
import { Later, methodsWithBody, Preview, Repeated, type Route, Serialized, waitsOf } from './route.ts';

const contentType = 'application/x-ndjson';

/** Returns whether a caller wants an export. Links cannot set headers, so they say it in the query. */
function wantsLines(req: Request, query: unknown): boolean {
  const { format } = query as { format?: unknown };
  return format === 'ndjson' || (req.headers.accept ?? '').toLowerCase().includes(contentType);
}

/**
 * Sends a list of any length, one entry per line. The next portion is read when the last one is sent, so the memory is
 * bounded and no database connection waits for the client. If access is lost, the connection is closed.
 * @throws AppError 429 over the limit of a user, 503 over that of the process
 */
async function answerLines(
  res: Response,
  shape: z.ZodType | undefined,
  { userId, recheck }: { userId: string; recheck: () => Promise<unknown> },
  portions: AsyncIterable<unknown[]>,
): Promise<void> {
  const uncount = countStream(userId);
  const setUnsent = countUnsent(res, userId);
  const list = shape ?? z.array(z.unknown());
  async function* texts() {
    for await (const portion of portions) {
      await recheck();
      const entries = list.parse(portion) as unknown[];
      const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
      setUnsent(Buffer.byteLength(text));
      yield text;
    }
  }
  try {
    const rest = texts();
    // If the first portion cannot be read, the reply can still be an error.
    const first = await rest.next();
    res.status(200).setHeader('Content-Type', `${contentType}; charset=utf-8`);
    res.setHeader('Content-Disposition', 'attachment; filename="export.ndjson"');
    await pipeline(Readable.from(continued(first, rest), { highWaterMark: 1 }), res);
  } catch (error) {
    if (!res.headersSent) throw error;
    // The client sees that its connection is closed before the end.
    res.destroy();
  } finally {
    uncount();
  }
}

async function* continued(first: IteratorResult<string>, rest: AsyncIterable<string>): AsyncGenerator<string> {
  if (!first.done) yield first.value;
  yield* rest;
}

/** Waits until the user has a free slot for a request. @throws AppError 400, 429 */
type Line = (userId: string, client: Socket) => Promise<Leave>;

export interface OperationParts {
  /** Returns the id of the caller's token. @throws AppError 401, 403, 429 */
  tokenIdOf: (req: Request, res: Response, declared: Route) => Promise<string>;
  /** The lines of requests that hold a connection to the database, and of reads that wait for GitHub or a git host. */
  lines: { quick: Line; waiting: Line };
}

/**
 * Returns the line of a request. Reads that wait have one of their own, so that a silent host delays no other request. Without it,
 * hundreds of large answers of GitHub would be in memory at once. Writes read little from GitHub.
 */
function lineOf({ method, access }: Route, isWaiting: boolean, { quick, waiting }: OperationParts['lines']): Line {
  if (!isWaiting) return quick;
  return method === 'get' && access.kind !== 'public' ? waiting : async () => () => {};
}

/** A request that may change something. What callers say about their own traces is ignored, because anybody can say it. */
function spanOf({ method, path, operationId }: Route): Beginning {
  const attributes = {
    'http.request.method': method.toUpperCase(),
    'http.route': path,
    'deckhand.operation': operationId,
  };
  return { name: `${method.toUpperCase()} ${path}`, kind: 'server', attributes };
}

/** One request to a declared route. */
interface Call {
  app: App;
  declared: Route;
  req: Request;
  res: Response;
  tokenId: string;
  params: Record<string, string>;
  /** Releases the user's slot before the request has ended. */
  leave: Leave;
}

/** The result of the access rule, with the validated query and body. */
type Input = { user?: Caller; query: unknown; body: unknown };

/**
 * Creates the handler of a declared route. It checks in this order: token, limits, body, access, query, body against
 * its schema.
 */
export function operation(app: App, declared: Route, { tokenIdOf, lines }: OperationParts): RequestHandler {
  return async (req, res) => {
    const stopTimer = app.metrics.requests.startTimer({ method: declared.method, route: declared.path });
    res.once('finish', () => stopTimer({ status: res.statusCode }));
    const isPublic = declared.access.kind === 'public';
    const tokenId = isPublic ? '' : await tokenIdOf(req, res, declared);
    const userId = String(res.locals.userId);
    if (!isPublic) assertReadsReplies(userId);
    // Check the token before reading the body, so that a revoked token is reported rather than an invalid body. The
    // access rule, which also checks the token, runs later.
    const hasBody = methodsWithBody.includes(declared.method);
    if (hasBody && !isPublic) await findCaller(app.db, tokenId);
    const body = hasBody ? await readBody(req, userId) : noBody;
    let leave: Leave = () => {};
    try {
      req.body = body.value;
      const isWaiting = waitsOf(declared, body.value) !== undefined;
      leave = await lineOf(declared, isWaiting, lines)(userId, req.socket);
      const params = req.params as Record<string, string>;
      const call = { app, declared, req, res, tokenId, params, leave };
      await forPerson(userId, () =>
        declared.method === 'get' ? perform(call) : app.traces.begin(spanOf(declared), () => perform(call)),
      );
    } finally {
      // A reply that is not read occupies its user's slot.
      if (res.closed) leave();
      else res.once('close', leave);
      // The reply may be read slowly. It must not keep the body in memory.
      req.body = undefined;
      body.release();
    }
  };
}

async function perform(call: Call): Promise<void> {
  const { app, declared, req, params } = call;
  const input = await loadInput(call);
  const { user } = input;
  const path = [declared.path, ...Object.values(params)].join(' ');
  const attempt = declared.method === 'post' && user ? await takeKey(app.db, req, user.id, path) : undefined;
  if (attempt !== undefined && 'status' in attempt) return replay(call, user, attempt);
  const keyed = attempt && { id: attempt.id, isAgain: attempt.isAgain };
  const { stream } = declared;
  if (stream !== undefined && user !== undefined && (declared.isStream || wantsEvents(req)))
    return sendEvents(call, user.id, (out) =>
      streamOnce(app, { declared, input }, attempt, out, (kept) => stream(app, { ...input, keyed }, kept)),
    );
  if (declared.exports !== undefined && user !== undefined && wantsLines(req, input.query))
    return sendLines(call, user.id, declared.exports(app, input));
  const answer = async (given: Input) => {
    if (declared.paged) return listReply(call, given);
    const result = await declared.handle(app, { ...given, keyed });
    noteResult(app, declared, given, result);
    return toReply(declared, result);
  };
  sendReply(call, await answerOnce(app, declared, attempt, answer, { first: input, again: () => loadInput(call) }));
}

async function loadInput({ app, declared, req, res, tokenId, params }: Call): Promise<Input> {
  const query = req.query as Record<string, unknown>;
  const context = await enter(app, declared, { tokenId, params, body: req.body, query });
  // Set by the MCP server, for a call of a tool.
  if (res.locals.via === 'mcp' && context.user) context.user.via = 'mcp';
  return {
    ...context,
    query: validated(declared, 'query', query),
    body: validated(declared, 'body', req.body),
  };
}

/**
 * Sends the stored reply of an earlier request with the same Idempotency-Key. A client that accepts an event stream gets
 * it as the final event, any other as JSON.
 */
async function replay(call: Call, user: Caller | undefined, kept: StoredReply): Promise<void> {
  const { declared, req, res } = call;
  res.setHeader('Idempotent-Replayed', 'true');
  if (declared.stream === undefined || user === undefined || !wantsEvents(req) || kept.status >= 300)
    return sendReply(call, { status: kept.status, body: kept.body ?? undefined });
  const data = JSON.parse(kept.body ?? 'null');
  return sendEvents(call, user.id, async ({ send }) => send({ event: 'done', data }));
}

function sendEvents(call: Call, userId: string, tell: (out: EventStream) => Promise<void>): Promise<void> {
  const { app, req, res, leave } = call;
  // Streams have a separate limit.
  leave();
  return answerEvents(req, res, { userId, stopping: app.stopping, recheck: () => loadInput(call) }, (out) => {
    // A stream of changes begins only once it knows from which change it continues.
    if (!call.declared.isStream) out.begin();
    return tell(out);
  });
}

function sendLines(call: Call, userId: string, portions: AsyncIterable<unknown[]>): Promise<void> {
  const { declared, res, leave } = call;
  // Exports count as streams.
  leave();
  return answerLines(res, declared.reply[1], { userId, recheck: () => loadInput(call) }, portions);
}

function toReply({ reply: [status, shape], previews }: Route, result: unknown): Reply {
  if (result instanceof Preview && previews !== undefined)
    return { status: 200, body: JSON.stringify(previews.shape.parse(result.value)) };
  if (result instanceof Serialized) return { status, body: result.text };
  const [value, as] = unwrapped(result, status);
  return { status: as, body: shape && JSON.stringify(shape.parse(value)) };
}

function unwrapped(result: unknown, status: number): [value: unknown, status: number] {
  if (result instanceof Repeated) return [result.value, 200];
  return result instanceof Later ? [result.value, 202] : [result, status];
}

async function listReply({ app, declared, req, res }: Call, input: Input): Promise<Reply> {
  const part = await readList(app, declared, input);
  const links = linksOf(req, input.query as Page, part);
  if (links !== '') res.setHeader('Link', links);
  return { status: declared.reply[0], body: part.text };
}

function sendReply({ res }: Call, { status, body }: Reply): void {
  if (body === undefined) return void res.status(status).end();
  const bytes = Buffer.from(body);
  countUnsent(res, String(res.locals.userId))(bytes.length);
  res.status(status).type('json').send(bytes);
}
