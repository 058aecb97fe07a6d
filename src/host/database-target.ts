import { Socket } from 'node:net';
import pg from 'pg';
import { type DatabaseHost, type DatabaseUrl, readDatabaseUrl } from './database-url.ts';

/** How long one server may take to say whether it is the one that is wanted. */
const askMs = 3000;
/** How long its answer counts for further connections. */
const freshMs = 1000;

/** What pg needs to connect: an address, and for several servers a socket that chooses one of them. */
interface Target {
  connectionString: string;
  stream?: () => Socket;
}

/**
 * Returns how to connect to an address of PostgreSQL. If the address names several servers, each connection goes to the
 * first that answers, and with `target_session_attrs=read-write` to the first that accepts writes. Everything that
 * connects to the database uses this, the queue included.
 */
export function targetOf(url: string): Target {
  const read = readDatabaseUrl(url);
  if (read === undefined || (read.hosts.length < 2 && !read.needsWrites)) return { connectionString: url };
  const choose = chooser(read);
  return { connectionString: read.single, stream: () => new ChoosingSocket(choose) };
}

type Choose = () => Promise<DatabaseHost>;

/** A socket that connects to the chosen server, whatever address it is given. */
class ChoosingSocket extends Socket {
  readonly #choose: Choose;

  constructor(choose: Choose) {
    super();
    this.#choose = choose;
  }

  override connect(): this {
    this.#choose().then(
      ({ host, port }) => {
        if (!this.destroyed) super.connect(port, host);
      },
      (error: Error) => this.destroy(error),
    );
    return this;
  }
}

function chooser(read: DatabaseUrl): Choose {
  let found: { host: DatabaseHost; at: number } | undefined;
  let asking: Promise<DatabaseHost> | undefined;
  return async () => {
    if (found !== undefined && performance.now() - found.at < freshMs) return found.host;
    asking ??= firstFitting(read)
      .then((host) => {
        found = { host, at: performance.now() };
        return host;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
}

/** @throws Error with the code of an unreachable server, which says what each of them answered */
async function firstFitting({ single, hosts, needsWrites }: DatabaseUrl): Promise<DatabaseHost> {
  const problems = await Promise.all(hosts.map((host) => problemWith(single, host, needsWrites)));
  const at = problems.indexOf(undefined);
  const chosen = hosts[at];
  if (chosen !== undefined) return chosen;
  const said = hosts.map(({ host, port }, i) => `${host}:${port} ${problems[i]}`).join(', ');
  const wanted = needsWrites ? 'accepts writes' : 'answers';
  throw Object.assign(new Error(`no server of DATABASE_URL ${wanted}: ${said}`), { code: 'ECONNREFUSED' });
}

async function problemWith(url: string, { host, port }: DatabaseHost, needsWrites: boolean) {
  const address = new URL(url);
  address.searchParams.set('host', host);
  address.searchParams.set('port', String(port));
  const client = new pg.Client({
    connectionString: address.href,
    connectionTimeoutMillis: askMs,
    query_timeout: askMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    if (!needsWrites) return undefined;
    const { rows } = await client.query('show transaction_read_only');
    return rows[0]?.transaction_read_only === 'on' ? 'is read-only' : undefined;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `cannot be used (${code ?? message})`;
  } finally {
    await client.end().catch(() => {});
  }
}
