import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { networkOf } from './address.ts';

/** Each takes about 20 kB and a file descriptor. Further connections are closed at once. */
const maxConnections = 4000;
/**
 * Unanswered requests of one connection. Browsers send one at a time, but Node accepts any number: 200,000 requests, which
 * are 7 MB to send, took a gigabyte of memory and blocked everybody else for 20 s.
 */
const maxPipelined = 32;

const preset = {
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

/** The HTTP server of the service. It bounds the time, connections and memory that slow, idle and greedy clients can take. */
export function httpServer(handler: Express, given: Partial<typeof preset> = {}): Server {
  const { maxOfAddress, headersMs, requestMs, checkMs, unreadMs } = { ...preset, ...given };
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
  });
  server.maxConnections = maxConnections;
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = networkOf(socket.remoteAddress);
    const count = (open.get(address) ?? 0) + 1;
    if (count > maxOfAddress) return void socket.destroy();
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
  const waiting = new WeakMap<Socket, number>();
  server.on('request', (req, res) => {
    const { socket } = req;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > maxPipelined) socket.destroy();
    // Node still reports the requests that arrived in the same chunk of up to 64 kB.
    if (socket.destroyed) return;
    waiting.set(socket, count);
    res.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    // The timeout of a socket ends a connection on which nothing moves. It starts with the reply, because before that a
    // model may think for minutes.
    atHead(res, () => socket.setTimeout(unreadMs));
    handler(req, res);
  });
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
