import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import type { Express, Request } from 'express';

/** Sends a request to an operation, as the caller of another request. */
export type Dispatch = (asked: Asked) => Promise<Reply>;

interface Asked {
  method: string;
  /** Relative to the address of the REST API. */
  url: string;
  /** Sent as JSON; undefined for none. */
  body?: unknown;
}

interface Reply {
  status: number;
  /** Undefined for a reply without a body. */
  body: unknown;
  headers: IncomingHttpHeaders;
}

/** An export may be of any length, so it cannot be collected. */
const exportType = 'application/x-ndjson';

/**
 * Returns a function that sends requests to the server within this process, over a pair of streams. They are marked with
 * `via: mcp`, which no request from outside can have.
 */
export function dispatcher(
  server: Express,
  basePath: string,
): (asked: Asked, from: Request, requestId: string) => Promise<Reply> {
  const inner = createServer((req, res) => {
    Object.assign(res, { locals: { via: 'mcp' } });
    server(req, res);
  });
  return async ({ method, url, body }, from, requestId) => {
    const [near, far] = duplexPair();
    inner.emit('connection', Object.assign(far, { remoteAddress: from.socket.remoteAddress }));
    const forwarded = from.headers['x-forwarded-for'];
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const sent = request({
      createConnection: () => near as Socket,
      method,
      path: `${basePath}${url}`,
      headers: {
        host: 'localhost',
        authorization: from.headers.authorization,
        accept: 'application/json',
        'x-request-id': requestId,
        ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
        ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
      },
    });
    sent.end(payload);
    const reply = await new Promise<IncomingMessage>((resolve, reject) =>
      sent.once('response', resolve).once('error', reject),
    );
    const { statusCode = 500, headers } = reply;
    if (headers['content-type']?.startsWith(exportType)) {
      near.destroy();
      return { status: 400, body: { message: 'A tool cannot return an export. Leave out `format`.' }, headers: {} };
    }
    const received = await textOf(reply);
    near.destroy();
    if (received === undefined) return { status: 400, body: { message: tooLong }, headers: {} };
    return { status: statusCode, body: received === '' ? undefined : JSON.parse(received), headers };
  };
}

/** In bytes. No model can read more, and encoding a longer reply again would hold the event loop. */
const maxReply = 2_000_000;
const tooLong =
  'The reply is longer than 2 MB. Ask for less: with a smaller `limit`, or for one object at a time with its id.';

/** Reads a reply; undefined if it is too long. */
async function textOf(reply: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of reply) {
    length += chunk.length;
    if (length > maxReply) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
