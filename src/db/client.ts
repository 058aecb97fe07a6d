import pg from 'pg';

/** Settings of a session in PostgreSQL, in milliseconds. */
type SessionSettings = Partial<Record<'idle_session_timeout' | 'idle_in_transaction_session_timeout', number>>;

/** The configuration of a client, or of a pool of them, with settings that it makes once it is connected. */
interface SessionConfig extends pg.ClientConfig {
  /** Not sent as startup parameters, because PgBouncer refuses those that it does not know. */
  session?: SessionSettings;
}

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * A client for pools. A lost connection never ends the process: a pool hands out a client before the borrower can add
 * an `error` handler, and PostgreSQL may accept a client and report a fatal error in one packet. Queries still fail,
 * and the pool drops the client.
 */
export class PooledClient extends pg.Client {
  readonly #session: SessionSettings;

  constructor(config: SessionConfig = {}) {
    super(config);
    this.#session = config.session ?? {};
    this.on('error', () => {});
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const statements = Object.entries(this.#session).map(([name, ms]) => `set ${name} = ${Math.ceil(ms)}`);
    const connected = super.connect().then(async (client) => {
      if (statements.length > 0) await this.query(statements.join('; '));
      return client;
    });
    if (callback === undefined) return connected;
    const tell = callback as (error: Error | null, client?: pg.Client) => void;
    connected.then((client) => tell(null, client), tell);
    return undefined;
  }
}
