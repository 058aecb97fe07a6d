import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { type Denial, type Gate, pinnedTo } from './dial.ts';
import type { Target } from './host-names.ts';

/** How long a host may keep silent. */
const silenceMs = 60_000;

/** Headers that concern one connection (RFC 9110, section 7.6.1), and those of a body, which no request has here. */
const ofConnection = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * Answers a request for port 80. Forwards it if its method is GET or HEAD and its Host header names the same host.
 * Resolves when the exchange with the host has ended.
 */
export async function forward(
  { req, res, target }: { req: IncomingMessage; res: ServerResponse; target: Target & { path: string } },
  { gate, agent }: { gate: Gate; agent: Agent },
): Promise<void> {
  const verdict = await gate.admit(target);
  if ('says' in verdict) return deny(res, verdict);
  const problem = problemOf(req, target);
  if (problem !== undefined) return deny(res, gate.refuse(target, problem));
  const { host, path } = target;
  const headers = { ...endToEnd(req.headers), host };
  const lookup = pinnedTo(verdict.addresses);
  const sent = request({ agent, host, port: 80, method: req.method, path, headers, lookup, timeout: silenceMs });
  sent.once('timeout', () => sent.destroy(new Error(`no answer within ${silenceMs / 1000} s`)));
  sent.once('response', (answer) => {
    try {
      passOn(answer, res);
    } catch {
      // Such as a status below 100.
      sent.destroy(new Error('bad answer'));
    }
  });
  let why = 'bad answer';
  sent.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    why = code ?? message;
  });
  // May close without an error, for example after an answer that switches the protocol.
  sent.once('close', () => {
    if (!res.headersSent) deny(res, { status: 502, says: `host ${host} could not be reached (${why})` });
  });
  const abandon = () => sent.destroy();
  req.socket.once('close', abandon);
  sent.end();
  await new Promise<void>((resolve) => sent.once('close', resolve));
  req.socket.off('close', abandon);
}

/** Replies with a refusal or a failure; ends the connection, because a body may follow that nobody reads. */
export function deny(res: ServerResponse, { status, says }: Denial | { status: 400 | 503; says: string }): void {
  if (res.headersSent) return void res.destroy();
  res.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' }).end(`${says}\n`);
}

function problemOf({ method = '', headers, headersDistinct }: IncomingMessage, target: Target): string | undefined {
  const { host, port } = target;
  if (port !== 80) return `port ${port} is for TLS only`;
  if (method !== 'GET' && method !== 'HEAD') return `only GET and HEAD are allowed on port 80, not ${method}`;
  const length = headers['content-length'] ?? '0';
  if (headers['transfer-encoding'] !== undefined || length !== '0') return 'a request on port 80 must not have a body';
  if (headers.upgrade !== undefined) return 'a connection on port 80 cannot be upgraded';
  const [name, ...more] = headersDistinct.host ?? [];
  const isSame = more.length === 0 && [host, `${host}:80`].includes(name?.toLowerCase() ?? '');
  return isSame ? undefined : 'the Host header must name the same host';
}

function passOn(answer: IncomingMessage, res: ServerResponse): void {
  const { 'content-length': length, ...headers } = answer.headers;
  const framing = length === undefined ? {} : { 'content-length': length };
  res.writeHead(answer.statusCode ?? 502, { ...endToEnd(headers), ...framing });
  pipeline(answer, res, () => {});
}

/** Leaves out the headers that concern one connection, those that `Connection` names included. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? '').toLowerCase().split(/[\s,]+/);
  const left = Object.entries(headers).filter(([name]) => !ofConnection.includes(name) && !named.includes(name));
  return Object.fromEntries(left);
}
