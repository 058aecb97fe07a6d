import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { FairReads, FairTurns } from '../../host/fair-turns.ts';
import { networkOf } from './rate-limit.ts';

interface Connection {
  socket: Socket;
  /** Requests without a reply yet. A connection without any is idle. */
  unanswered: number;
}

/**
 * The open connections by address. When one address or all addresses together have too many, one connection of the
 * address with the most is closed: the one that has been idle for longest. Clients that open connections and send nothing
 * can therefore not lock others out.
 */
class OpenConnections {
  readonly #max: number;
  readonly #maxOfAddress: number;
  /** The connections of an address are ordered by their last reply, the least recent first. */
  readonly #byAddress = new Map<string, Map<Socket, Connection>>();
  #count = 0;

  constructor(max: number, maxOfAddress: number) {
    this.#max = max;
    this.#maxOfAddress = maxOfAddress;
  }

  /**
   * Adds a connection until it closes. Destroys it when the limit is reached and no idle connection can be closed
   * instead.
   */
  enter(socket: Socket, address: string): void {
    const own = this.#byAddress.get(address) ?? new Map<Socket, Connection>();
    const greediest = own.size >= this.#maxOfAddress ? own : this.#count >= this.#max ? this.#greediest() : undefined;
    if (greediest !== undefined && !closeLongestIdle(greediest)) return void socket.destroy();
    this.#byAddress.set(address, own);
    own.set(socket, { socket, unanswered: 0 });
    this.#count += 1;
    socket.once('close', () => {
      this.#count -= 1;
      own.delete(socket);
      if (own.size === 0) this.#byAddress.delete(address);
    });
  }

  /** Records that a request arrived and returns the number of pending requests of the connection. */
  arrived(socket: Socket, address: string): number {
    const connection = this.#byAddress.get(address)?.get(socket);
    if (connection === undefined) return 0;
    connection.unanswered += 1;
    return connection.unanswered;
  }

  /** Records that a request was answered. */
  answered(socket: Socket, address: string): void {
    const own = this.#byAddress.get(address);
    const connection = own?.get(socket);
    if (own === undefined || connection === undefined) return;
    connection.unanswered -= 1;
    own.delete(socket);
    own.set(socket, connection);
  }

  #greediest(): Map<Socket, Connection> {
    let most = new Map<Socket, Connection>();
    for (const each of this.#byAddress.values()) if (each.size > most.size) most = each;
    return most;
  }
}

function closeLongestIdle(connections: Map<Socket, Connection>): boolean {
  for (const { socket, unanswered } of connections.values()) {
    if (unanswered > 0 || socket.destroyed) continue;
    socket.destroy();
    return true;
  }
  return false;
}

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

/** Pieces that a body may have, and bytes for each further one. A piece that nobody has read yet takes a kilobyte of memory. */
const pieces = { free: 200, bytes: 64 };

/** Closes the connection of a request whose body comes in too many pieces, whether somebody reads it or not. */
function watchPieces(req: IncomingMessage, res: ServerResponse): void {
  let [count, bytes, isFlooded] = [0, 0, false];
  const push = req.push.bind(req);
  req.push = (piece, encoding) => {
    if (isFlooded) return false;
    count += 1;
    bytes += piece?.length ?? 0;
    isFlooded = count > pieces.free + bytes / pieces.bytes;
    if (!isFlooded) return push(piece, encoding);
    req.socket.destroy();
    return false;
  };
  // Otherwise Node would discard what follows the reply uncounted.
  res.once('prefinish', () => req.on('data', () => {}));
}

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
  const reads = new FairReads(turns);
  server.on('connection', (socket) => {
    turns.noteArrival();
    const address = networkOf(socket.remoteAddress);
    open.enter(socket, address);
    reads.watchClient(socket, address);
  });
  const take = (req: IncomingMessage, res: ServerResponse) => {
    const { socket } = req;
    const address = networkOf(socket.remoteAddress);
    // Node still emits requests that arrived in the same chunk of up to 64 kB.
    if (socket.destroyed) return;
    if (open.arrived(socket, address) > maxPipelined) return void socket.destroy();
    res.once('close', () => open.answered(socket, address));
    watchPieces(req, res);
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

/** Returns a function that resolves as soon as no request to the server is under way. */
export function allAnswered(server: Server): () => Promise<void> {
  const answered = new EventEmitter();
  let underWay = 0;
  const count = (_req: IncomingMessage, res: ServerResponse) => {
    underWay += 1;
    res.once('close', () => {
      underWay -= 1;
      if (underWay === 0) answered.emit('all');
    });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, count);
  return async () => {
    if (underWay > 0) await once(answered, 'all');
  };
}

/** Calls `act` when the head of the reply is written. Node has no event for that. */
function atHead(res: ServerResponse, act: () => void): void {
  const { writeHead } = res;
  res.writeHead = ((...head: Parameters<typeof writeHead>) => {
    act();
    return writeHead.apply(res, head);
  }) as typeof writeHead;
}
