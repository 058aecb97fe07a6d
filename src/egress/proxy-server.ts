import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connect, Gate } from './dial.ts';
import { connectTarget, type Target, urlTarget } from './host-names.ts';
import { deny, forward } from './plain-request.ts';
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
  /** Unanswered requests of one connection. apt sends up to 10 in advance. Beyond the limit the connection is closed. */
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
};

export interface ProxyServer {
  server: Server;
  /** Ends all connections. */
  end(): void;
}

/** Creates the proxy of one run. It speaks HTTP/1.1: `CONNECT`, and requests with an absolute address for port 80. */
export function proxyServer(gate: Gate, connect: Connect, given: Partial<typeof preset> = {}): ProxyServer {
  const limits = { ...preset, ...given };
  const server = createServer({
    maxHeaderSize: limits.headBytes,
    headersTimeout: limits.headMs,
    requestTimeout: limits.headMs,
    keepAliveTimeout: limits.keptMs,
    connectionsCheckingInterval: limits.checkMs,
  });
  server.maxConnections = limits.connections;
  server.maxHeadersCount = limits.headLines;
  server.timeout = limits.idleMs;
  const agent = new Agent({ keepAlive: true, maxFreeSockets: limits.idle, timeout: limits.keptMs });
  agent.createConnection = (options) => connect(options as Parameters<Connect>[0]);
  const turn = paced(limits.perSecond, limits.burst, limits.patienceMs);
  const sockets = new Set<Socket>();
  /** The host of each connection that began with `CONNECT host:80`. Its requests go to that host. */
  const tunnelled = new WeakMap<Socket, Target>();
  const pending = new WeakMap<Socket, number>();
  let forwarded = 0;

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
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
    const waiting = (pending.get(req.socket) ?? 0) + 1;
    if (waiting > limits.pipelined) return void req.socket.destroy();
    pending.set(req.socket, waiting);
    res.once('close', () => pending.set(req.socket, (pending.get(req.socket) ?? 1) - 1));
    if (!(await turn()) || req.socket.destroyed) return void req.socket.destroy();
    const target = targetOf(req, tunnelled.get(req.socket));
    if (target === undefined)
      return deny(res, { status: 400, says: 'this is a proxy: send CONNECT, or a request for http://<host>/' });
    if (forwarded === limits.forwarded) return deny(res, { status: 503, says: 'too many requests at the same time' });
    forwarded += 1;
    await forward({ req, res, target }, { gate, agent }).finally(() => {
      forwarded -= 1;
    });
  };
  server.on('request', (req, res) => {
    answerRequest(req, res).catch(() => res.destroy());
  });

  const end = () => {
    for (const socket of sockets) socket.destroy();
    agent.destroy();
  };
  return { server, end };
}

function targetOf({ url = '' }: IncomingMessage, host: Target | undefined): (Target & { path: string }) | undefined {
  if (host === undefined) return urlTarget(url);
  return url.startsWith('/') ? { ...host, path: url } : undefined;
}
