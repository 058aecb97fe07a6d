import { createServer, type Server } from 'node:http';
import type { Express } from 'express';

/** Each takes some 20 kB, and a file descriptor. */
const maxConnections = 4000;

const patience = {
  /** For the head of a request, which is a few hundred bytes. */
  headersMs: 10_000,
  /** For the whole request. Bodies have shorter limits of their own. */
  requestMs: 30_000,
  /** How often Node looks for what is late; its default of 30 s would come on top. */
  checkMs: 2_000,
  /** For a reply of which nothing is read. */
  unreadMs: 30_000,
};

/** The HTTP server of the service. It ends what slow and idle clients would hold: connections, and the memory of replies. */
export function httpServer(handler: Express, { headersMs, requestMs, checkMs, unreadMs } = patience): Server {
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
  });
  server.maxConnections = maxConnections;
  server.on('request', (req, res) => {
    // The timeout of a socket ends a connection on which nothing moves. It begins with the reply: until then a model may
    // think for minutes.
    const startTimeout = () => req.socket.setTimeout(unreadMs);
    res.once('prefinish', startTimeout).once('pipe', startTimeout);
    handler(req, res);
  });
  return server;
}
