import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Express } from 'express';
import { networkOf } from './address.ts';
import { FairTurns } from './fair-turns.ts';
import { OpenConnections } from './open-connections.ts';

/**
 * Maximum number of pending requests of one connection. Browsers and proxies send one at a time, but Node accepts any
 * number: 200,000 requests, which are 7 MB to send, took a gigabyte of memory and blocked everybody else for 20 s.
 */
const maxPipelined = 4;

const preset = {
  /**
   * Maximum number of open connections. Each takes about 20 kB and a file descriptor. Beyond the limit, an idle
   * connection is closed for each new one.
   */
  maxConnections: 4000,
  /** Maximum number of connections from one address, so that one machine cannot use up all of them. */
  maxOfAddress: 1000,
  /** Time for the request's headers, which have a few hundred bytes. */
  headersMs: 10_000,
  /** Time for the whole request. Bodies have shorter limits. */
  requestMs: 30_000,
  /** Interval at which Node checks these timeouts. Node's default of 30 s would be added to them. */
  checkMs: 2_000,
  /** How long a client may read nothing of its reply before it is disconnected. */
  unreadMs: 30_000,
};

/** Health checks of orchestrators, which must be answered even under load. */
const urgentPaths = new Set(['/healthz', '/readyz']);

/**
 * Creates the HTTP server of the service. It limits the time, connections and memory that slow, idle and greedy clients
 * can take.
 */
export function httpServer(handler: Express, given: Partial<typeof preset> = {}): Server {
  const { maxConnections, maxOfAddress, headersMs, requestMs, checkMs, unreadMs } = { ...preset, ...given };
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    // Otherwise Node itself answers requests without a Host header, and the limits below do not apply to them.
    requireHostHeader: false,
  });
  const open = new OpenConnections(maxConnections, maxOfAddress);
  const turns = new FairTurns();
  server.on('connection', (socket) => {
    turns.noteArrival();
    open.enter(socket, networkOf(socket.remoteAddress));
  });
  const take = (req: IncomingMessage, res: ServerResponse) => {
    const { socket } = req;
    const address = networkOf(socket.remoteAddress);
    // Node still emits requests that arrived in the same chunk of up to 64 kB.
    if (socket.destroyed) return;
    if (open.arrived(socket, address) > maxPipelined) return void socket.destroy();
    res.once('close', () => open.answered(socket, address));
    const handle = () => {
      if (socket.destroyed) return;
      // The socket's timeout ends an idle connection. It starts with the reply, because a model may think for minutes
      // before the reply starts.
      atHead(res, () => socket.setTimeout(unreadMs));
      handler(req, res);
    };
    turns.add(address, handle, urgentPaths.has(req.url ?? ''));
  };
  server.on('request', take);
  // Without these listeners Node itself answers every request with an `Expect` header, before its turn and even if it
  // will be refused. Here the code that reads the body sends `100 Continue` (read-body.ts).
  server.on('checkContinue', take);
  server.on('checkExpectation', take);
  return server;
}

/** Calls `act` when the head of the reply is written. Node has no event for that. */
function atHead(res: ServerResponse, act: () => void): void {
  const { writeHead } = res;
  res.writeHead = ((...head: Parameters<typeof writeHead>) => {
    act();
    return writeHead.apply(res, head);
  }) as typeof writeHead;
}
