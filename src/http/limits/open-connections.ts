import type { Socket } from 'node:net';

interface Connection {
  socket: Socket;
  /** Requests without a reply yet. A connection without any is idle. */
  unanswered: number;
}

/**
 * The open connections by address. When one address or all addresses together have too many, the oldest idle connection
 * of the address with the most connections is closed. Clients that open connections and send nothing can therefore not
 * lock others out.
 */
export class OpenConnections {
  readonly #max: number;
  readonly #maxOfAddress: number;
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
    if (greediest !== undefined && !dismissOldestIdle(greediest)) return void socket.destroy();
    this.#byAddress.set(address, own);
    own.set(socket, { socket, unanswered: 0 });
    this.#count += 1;
    socket.once('close', () => {
      this.#count -= 1;
      own.delete(socket);
      if (own.size === 0) this.#byAddress.delete(address);
    });
  }

  /**
   * Records the start (1) or the end (-1) of a request and returns the number of pending requests of the connection.
   */
  note(socket: Socket, address: string, change: 1 | -1): number {
    const connection = this.#byAddress.get(address)?.get(socket);
    if (connection === undefined) return 0;
    connection.unanswered += change;
    return connection.unanswered;
  }

  #greediest(): Map<Socket, Connection> {
    let most = new Map<Socket, Connection>();
    for (const each of this.#byAddress.values()) if (each.size > most.size) most = each;
    return most;
  }
}

function dismissOldestIdle(connections: Map<Socket, Connection>): boolean {
  for (const { socket, unanswered } of connections.values()) {
    if (unanswered > 0 || socket.destroyed) continue;
    socket.destroy();
    return true;
  }
  return false;
}
