import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { networkOf } from './address.ts';

/** Each takes some 20 kB, and a file descriptor. */
const maxConnections = 4000;
/**
 * Requests of one connection that wait for their answer. Node takes any number of them: 200,000, which are 7 MB to send,
 * took the process a gigabyte and kept everybody else waiting for 20 s. Browsers send one at a time.
 */
const maxPipelined = 32;

const preset = {
  /** Connections of one address, so that one machine cannot use up all of them. */
  maxOfAddress: 1000,
  /** For the head of a request, which is a few hundred bytes. */
  headersMs: 10_000,
  /** For the whole request. Bodies have shorter limits of their own. */
  requestMs: 30_000,
  /** How often Node looks for what is late; its default of 30 s would come on top. */
  checkMs: 2_000,
  /** For a reply of which nothing is read. */
  unreadMs: 30_000,
};

/** The HTTP server of the service. It bounds what slow, idle and greedy clients can hold: time, connections and memory. */
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
    // What was received with it still comes, up to 64 kB.
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
