import type { Socket } from 'node:net';

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
export class OpenConnections {
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
