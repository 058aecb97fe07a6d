import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Express } from 'express';
import { networkOf } from './address.ts';
import { FairTurns } from './fair-turns.ts';
import { OpenConnections } from './open-connections.ts';

/**
 * Unanswered requests of one connection. Browsers and proxies send one at a time, but Node accepts any number: 200,000
 * requests, which are 7 MB to send, took a gigabyte of memory and blocked everybody else for 20 s.
 */
const maxPipelined = 4;

const preset = {
  /** Each takes about 20 kB and a file descriptor. Beyond these an idle one gives way. */
  maxConnections: 4000,
  /** Connections of one address, so that one machine cannot use up all of them. */
  maxOfAddress: 1000,
  /** Time for the head of a request, which has a few hundred bytes. */
  headersMs: 10_000,
  /** Time for the whole request. Bodies have shorter limits of their own. */
  requestMs: 30_000,
  /** How often Node checks these times. Its default of 30 s would be added to them. */
  checkMs: 2_000,
  /** How long a client may read nothing of its reply. */
  unreadMs: 30_000,
};

/** What orchestrators ask for, to decide whether the process lives. */
const urgentPaths = new Set(['/healthz', '/readyz']);

/** The HTTP server of the service. It bounds the time, connections and memory that slow, idle and greedy clients can take. */
export function httpServer(handler: Express, given: Partial<typeof preset> = {}): Server {
  const { maxConnections, maxOfAddress, headersMs, requestMs, checkMs, unreadMs } = { ...preset, ...given };
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
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
    // Node still reports the requests that arrived in the same chunk of up to 64 kB.
    if (socket.destroyed) return;
    if (open.arrived(socket, address) > maxPipelined) return void socket.destroy();
    res.once('close', () => open.answered(socket, address));
    const handle = () => {
      if (socket.destroyed) return;
      // The timeout of a socket ends a connection on which nothing moves. It starts with the reply, because before that a
      // model may think for minutes.
      atHead(res, () => socket.setTimeout(unreadMs));
      handler(req, res);
    };
    turns.add(address, handle, urgentPaths.has(req.url ?? ''));
  };
  server.on('request', take);
  // By itself Node would invite every body, refused ones too. Whoever reads a body invites it (read-body.ts).
  server.on('checkContinue', take);
  return server;
}

/** Calls `act` when the head of the reply is written; Node has no event for it. */
function atHead(res: ServerResponse, act: () => void): void {
  const { writeHead } = res;
  res.writeHead = ((...head: Parameters<typeof writeHead>) => {
    act();
    return writeHead.apply(res, head);
  }) as typeof writeHead;
}
