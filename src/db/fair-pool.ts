import pg from 'pg';

interface Waiting {
  tenant: string | undefined;
  begin(): void;
}

/** Tenants that have fewer connections than this may also take those that are kept. */
const few = 2;

/** The error of `pg` for the same reason, so that callers treat both alike. */
const tookTooLong = 'timeout exceeded when trying to connect';

/**
 * Decides who gets a connection of a pool next, so that the slow requests of a few people leave some to everybody else. A quarter of
 * the connections goes only to tenants that have fewer than two, and a connection that becomes free goes to the tenant with the
 * fewest. Work for nobody in particular, such as the renewal of leases, goes first.
 */
export class Shares {
  readonly #most: number;
  readonly #kept: number;
  readonly #waitMs: number;
  readonly #lent = new Map<string | undefined, number>();
  readonly #waiting: Waiting[] = [];
  #total = 0;

  constructor(most: number, waitMs: number) {
    this.#most = most;
    this.#kept = Math.floor(most / 4);
    this.#waitMs = waitMs;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Calls `begin` when a tenant may take a connection, which it gives back by calling the function that it is passed. */
  ask(tenant: string | undefined, begin: (giveBack: () => void) => void, onTooLate: (error: Error) => void): void {
    const mine: Waiting = {
      tenant,
      begin: () => {
        clearTimeout(timer);
        begin(this.#take(tenant));
      },
    };
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(mine), 1);
      onTooLate(new Error(tookTooLong));
    }, this.#waitMs);
    this.#waiting.push(mine);
    this.#next();
  }

  #countOf(tenant: string | undefined): number {
    return tenant === undefined ? -1 : (this.#lent.get(tenant) ?? 0);
  }

  #take(tenant: string | undefined): () => void {
    this.#total += 1;
    this.#lent.set(tenant, (this.#lent.get(tenant) ?? 0) + 1);
    return () => {
      this.#total -= 1;
      const left = (this.#lent.get(tenant) ?? 1) - 1;
      if (left > 0) this.#lent.set(tenant, left);
      else this.#lent.delete(tenant);
      this.#next();
    };
  }

  #next(): void {
    while (this.#waiting.length > 0 && this.#total < this.#most) {
      const fewest = Math.min(...this.#waiting.map(({ tenant }) => this.#countOf(tenant)));
      if (fewest >= few && this.#total + this.#kept >= this.#most) return;
      const at = this.#waiting.findIndex(({ tenant }) => this.#countOf(tenant) === fewest);
      const [next] = this.#waiting.splice(at, 1);
      next?.begin();
    }
  }
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: pg.PoolClient['release'],
) => void;

interface FairConfig extends pg.PoolConfig {
  /** Returns for whom the caller works; undefined for nobody in particular. */
  tenant?: () => string | undefined;
}

/** A pool that lends its connections fairly between tenants. See `Shares`. */
export class FairPool extends pg.Pool {
  readonly #shares: Shares;
  readonly #tenant: () => string | undefined;

  constructor(config: FairConfig = {}) {
    super(config);
    this.#tenant = config.tenant ?? (() => undefined);
    this.#shares = new Shares(config.max ?? 10, config.connectionTimeoutMillis ?? 5_000);
  }

  /** How many callers wait for a connection. */
  get waiting(): number {
    return this.waitingCount + this.#shares.waiting;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (callback !== undefined) return void this.#lend(callback);
    return new Promise((resolve, reject) => {
      this.#lend((error, client) => (client === undefined ? reject(error) : resolve(client)));
    });
  }

  #lend(callback: Connected): void {
    const begin = (giveBack: () => void) =>
      super.connect((error, client, release) => {
        if (client === undefined) {
          giveBack();
          return callback(error, client, release);
        }
        client.release = (broken) => {
          release(broken);
          giveBack();
        };
        callback(undefined, client, client.release);
      });
    this.#shares.ask(this.#tenant(), begin, (error) => callback(error, undefined, () => {}));
  }
}
