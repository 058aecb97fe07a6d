import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { readsOfStrangers } from '../host/fair-turns.ts';
import { bodyOf, EndlessPreface, TooManyChunks, whenUnanswered } from '../host/strangers.ts';
import {
  authorizationFor,
  connectTo,
  explained,
  ProxyFailed,
  refusedByProxy,
  requestThrough,
} from '../host/through-proxy.ts';
import { type Connect, type Denial, type Gate, pinnedTo, type Way } from './dial.ts';
import { connectTarget, type Target, urlTarget } from './host-names.ts';
import { openTunnel, refuse } from './tunnel.ts';

/**
 * Returns a function that waits for its turn: at once for the first `burst` calls, then `perSecond` times a second. It
 * returns false at once if the turn would come later than `patienceMs`, which limits the number of those who wait.
 */
export function paced(perSecond: number, burst: number, patienceMs: number): () => Promise<boolean> {
  const intervalMs = 1000 / perSecond;
  let due = 0;
  return async () => {
    const now = performance.now();
    const mine = Math.max(due, now - burst * intervalMs) + intervalMs;
    if (mine > now + patienceMs) return false;
    due = mine;
    if (mine > now) await sleep(mine - now);
    return true;
  };
}

const preset = {
  /** Connections at the same time. Package managers open 10 to 64. Further ones are closed at once. */
  connections: 128,
  /**
   * Requests a second after a burst. Further ones wait, so that a command cannot keep the service busy; a connection
   * whose turn would come too late is closed.
   */
  perSecond: 200,
  burst: 400,
  patienceMs: 5000,
  /** Unanswered requests of one connection. apt sends up to 10 in advance. Beyond the limit all connections are closed, as below. */
  pipelined: 16,
  /** Bytes and lines of a request's head; a larger one gets 431. */
  headBytes: 16_384,
  headLines: 100,
  /** Time for a request's head, and then for the TLS hello. */
  headMs: 10_000,
  helloMs: 10_000,
  /** Interval at which Node looks for connections that exceed `headMs`. */
  checkMs: 2000,
  /** How long a connection may be idle: after a reply, and in a tunnel. */
  keptMs: 30_000,
  idleMs: 300_000,
  /** Requests to hosts on port 80 at the same time; further ones are answered with 503. */
  forwarded: 128,
  /** Idle connections to hosts on port 80 that are kept for further requests. */
  idle: 16,
  /**
   * Pieces of bodies in a second. No request may have a body, and reading thousands of pieces takes long, so beyond the limit all
   * connections are closed, and there are no new ones for a time, which doubles each time up to the longest.
   */
  pieces: 1000,
  closedMs: 5000,
  longestClosedMs: 60_000,
};

/** Keeps connections for further requests on port 80: those to hosts, and those to each company's proxy. */
function keptConnections(connect: Connect, { idle, keptMs }: Pick<typeof preset, 'idle' | 'keptMs'>) {
  const byProxy = new Map<string, Agent>();
  const agentWith = (createConnection: Agent['createConnection']) =>
    Object.assign(new Agent({ keepAlive: true, maxFreeSockets: idle, timeout: keptMs }), { createConnection });
  const direct = agentWith((options) => connect(options as Parameters<Connect>[0]));
  return {
    find: (way: Way): Agent => {
      if ('addresses' in way) return direct;
      const { proxy } = way;
      const agent = byProxy.get(proxy.href) ?? agentWith(() => connectTo(proxy, connect));
      byProxy.set(proxy.href, agent);
      return agent;
    },
    end: () => {
      for (const agent of [direct, ...byProxy.values()]) agent.destroy();
    },
  };
}

/** Returns a function that ends all connections of a server, and lets it accept none for a time that doubles with each call. */
function closer(
  server: Server,
  sockets: Set<Socket>,
  { connections, closedMs, longestClosedMs }: Pick<typeof preset, 'connections' | 'closedMs' | 'longestClosedMs'>,
): () => void {
  let nextMs = closedMs;
  return () => {
    for (const socket of sockets) socket.destroy();
    if (server.maxConnections === 0) return;
    server.maxConnections = 0;
    setTimeout(() => Object.assign(server, { maxConnections: connections }), nextMs).unref();
    nextMs = Math.min(2 * nextMs, longestClosedMs);
  };
}

/** Returns a function that counts, and calls `act` when it was called more than `most` times in a second. */
function tooMany(most: number, act: () => void): () => void {
  let [count, endsAt] = [0, 0];
  return () => {
    const now = performance.now();
    if (now > endsAt) [count, endsAt] = [0, now + 1000];
    count += 1;
    if (count === most) act();
  };
}

export interface ProxyServer {
  server: Server;
  /** Ends all connections. */
  end(): void;
}

function serverWith(limits: typeof preset): Server {
  const server = createServer({
    maxHeaderSize: limits.headBytes,
    headersTimeout: limits.headMs,
    requestTimeout: limits.headMs,
    keepAliveTimeout: limits.keptMs,
    connectionsCheckingInterval: limits.checkMs,
    // Otherwise Node itself answers requests without a Host header, and the limits below do not apply to them.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections;
  server.maxHeadersCount = limits.headLines;
  server.timeout = limits.idleMs;
  return server;
}

/** Creates the proxy of one run. It speaks HTTP/1.1: `CONNECT`, and requests with an absolute address for port 80. */
export function proxyServer(gate: Gate, connect: Connect, given: Partial<typeof preset> = {}): ProxyServer {
  const limits = { ...preset, ...given };
  const server = serverWith(limits);
  const agents = keptConnections(connect, limits);
  const turn = paced(limits.perSecond, limits.burst, limits.patienceMs);
  const sockets = new Set<Socket>();
  /** The host of each connection that began with `CONNECT host:80`. Its requests go to that host. */
  const tunnelled = new WeakMap<Socket, Target>();
  const pending = new WeakMap<Socket, number>();
  let forwarded = 0;
  const closeForAWhile = closer(server, sockets, limits);
  const countPiece = tooMany(limits.pieces, closeForAWhile);
  const exchange = { gate, agentOf: agents.find, lane: server, closeForAWhile };

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    readsOfStrangers.watchClient(socket, server);
    // Each pipelined request adds listeners. Without a higher limit, Node warns of a leak.
    socket.setMaxListeners(2 * limits.pipelined);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });

  const answerConnect = async (req: IncomingMessage, client: Socket, head: Buffer) => {
    client.setTimeout(limits.idleMs, () => client.destroy());
    if (!(await turn()) || client.destroyed) return void client.destroy();
    const target = tunnelled.has(client) ? undefined : connectTarget(req.url ?? '');
    if (target === undefined) return refuse(client, { status: 400, says: 'CONNECT must name a host and a port' });
    if (target.port !== 80) return openTunnel({ client, head, target }, { gate, connect, helloMs: limits.helloMs });
    const verdict = await gate.admit(target);
    if ('says' in verdict) return refuse(client, verdict);
    tunnelled.set(client, target);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.unshift(head);
    server.emit('connection', client);
  };
  server.on('connect', (req, client: Socket, head) => {
    answerConnect(req, client, head).catch(() => client.destroy());
  });

  const answerRequest = async (req: IncomingMessage, res: ServerResponse) => {
    if (req.socket.destroyed) return;
    // Discards a body while the request waits for its turn.
    req.on('data', countPiece);
    const waiting = (pending.get(req.socket) ?? 0) + 1;
    if (waiting > limits.pipelined) return closeForAWhile();
    pending.set(req.socket, waiting);
    res.once('close', () => pending.set(req.socket, (pending.get(req.socket) ?? 1) - 1));
    if (!(await turn()) || req.socket.destroyed) return void req.socket.destroy();
    const target = targetOf(req, tunnelled.get(req.socket));
    if (target === undefined)
      return deny(res, { status: 400, says: 'this is a proxy: send CONNECT, or a request for http://<host>/' });
    if (forwarded === limits.forwarded) return deny(res, { status: 503, says: 'too many requests at the same time' });
    forwarded += 1;
    await forward({ req, res, target }, exchange).finally(() => {
      forwarded -= 1;
    });
  };
  // Without the last two, Node itself answers requests with an `Expect` header.
  for (const event of ['request', 'checkContinue', 'checkExpectation'])
    server.on(event, (req, res) => {
      answerRequest(req, res).catch(() => res.destroy());
    });

  const end = () => {
    for (const socket of sockets) socket.destroy();
    agents.end();
  };
  return { server, end };
}

function targetOf({ url = '' }: IncomingMessage, host: Target | undefined): (Target & { path: string }) | undefined {
  if (host === undefined) return urlTarget(url);
  return url.startsWith('/') ? { ...host, path: url } : undefined;
}

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

interface Exchange {
  gate: Gate;
  agentOf: (way: Way) => Agent;
  /** Stands for the run in fair turns. */
  lane: object;
  closeForAWhile: () => void;
}

/**
 * Answers a request for port 80. Forwards it if its method is GET or HEAD and its Host header names the same host.
 * Resolves when the exchange with the host has ended.
 */
async function forward(
  { req, res, target }: { req: IncomingMessage; res: ServerResponse; target: Target & { path: string } },
  { gate, agentOf, lane, closeForAWhile }: Exchange,
): Promise<void> {
  const verdict = await gate.admit(target);
  if ('says' in verdict) return deny(res, verdict);
  const problem = problemOf(req, target);
  if (problem !== undefined) return deny(res, gate.refuse(target, problem));
  const { host, path } = target;
  const proxy = 'proxy' in verdict ? verdict.proxy : undefined;
  const headers = { ...endToEnd(req.headers), host, ...(proxy === undefined ? {} : authorizationFor(proxy)) };
  const where =
    'proxy' in verdict
      ? requestThrough(verdict.proxy, `http://${host}${path}`)
      : { host, port: 80, path, lookup: pinnedTo(verdict.addresses) };
  gate.reached(target);
  const sent = request({ ...where, agent: agentOf(verdict), method: req.method, headers, timeout: silenceMs });
  // A command and a host that work together would do it again at once.
  const cut = ({ message }: Error) => {
    gate.refuse(target, `${message}, so all connections of the run were closed for a while`);
    closeForAWhile();
  };
  sent.once('socket', (socket) => readsOfStrangers.watch(socket, lane));
  sent.once('timeout', () => sent.destroy(new Error(`no answer within ${silenceMs / 1000} s`)));
  sent.once('response', (answer) => {
    try {
      // The credentials are the service's, so this is not for the command to answer.
      if (proxy !== undefined && answer.statusCode === 407) throw refusedByProxy(proxy, 407, host);
      passOn(answer, res, cut);
    } catch (error) {
      // Otherwise a status below 100, for example.
      sent.destroy(error instanceof ProxyFailed ? error : new Error('bad answer'));
    }
  });
  let why = 'bad answer';
  sent.once('error', (error: NodeJS.ErrnoException) => {
    if (error instanceof EndlessPreface) cut(error);
    const failure = proxy === undefined ? error : explained(error, proxy, host);
    why = (failure as NodeJS.ErrnoException).code ?? failure.message;
  });
  whenUnanswered(sent, () => {
    if (!res.headersSent) deny(res, { status: 502, says: `host ${host} could not be reached (${why})` });
  });
  const abandon = () => sent.destroy();
  req.socket.once('close', abandon);
  sent.end();
  await new Promise<void>((resolve) => sent.once('close', resolve));
  req.socket.off('close', abandon);
}

/** Replies with a refusal or a failure; ends the connection, because a body may follow that nobody reads. */
function deny(res: ServerResponse, { status, says }: Denial | { status: 400 | 503; says: string }): void {
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

function passOn(answer: IncomingMessage, res: ServerResponse, cut: (error: Error) => void): void {
  const { 'content-length': length, ...headers } = answer.headers;
  const framing = length === undefined ? {} : { 'content-length': length };
  res.writeHead(answer.statusCode ?? 502, { ...endToEnd(headers), ...framing });
  pipeline(bodyOf(answer), res, (error) => {
    if (error instanceof TooManyChunks) cut(error);
  });
}

/** Leaves out the headers that concern one connection, those that `Connection` names included. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? '').toLowerCase().split(/[\s,]+/);
  const left = Object.entries(headers).filter(([name]) => !ofConnection.includes(name) && !named.includes(name));
  return Object.fromEntries(left);
}
