// The services that commands of a trial asked for, and how .deckhand.yml can provide them.

import type { Checkout } from '../../git/engine.ts';
import { apart } from '../../threads/apart.ts';
import { OverLimit } from '../../threads/start-thread.ts';
import type { ComposeService } from './read-compose.ts';

/** A service as .deckhand.yml lists it. */
export interface NeededService {
  run: string;
  port: number;
}

/** What commands asked for, and could not reach. */
export interface Needed {
  services: NeededService[];
  /** Names of hosts that do not exist where commands run, as those of a compose file. */
  hosts: string[];
  /** Variables of the compose file that name such hosts, with localhost instead. */
  env: Record<string, string>;
}

/** The account and the databases that the compose file names for services of a kind. */
interface Account {
  user?: string | undefined;
  databases: string[];
}

interface Kind {
  port: number;
  /** The names of its images. */
  image: RegExp;
  /** The names that people give its host. */
  host: RegExp;
  /** What only its clients write about a host that they cannot find. */
  says?: RegExp;
  /** The variables of its image that name an account and a database, the one that counts first. */
  user?: string[];
  database?: string[];
  /** Starts it as an ordinary user, also on what an earlier process left behind. */
  run(account: Account): string;
}

/** The services that Deckhand knows. Debian has their programs outside of the usual PATH. */
const kinds: Kind[] = [
  {
    port: 5432,
    image: /^(?:postgres|postgresql|postgis|pgvector|timescaledb(?:-ha)?)$/,
    host: /^(?:postgres|postgresql|pg)$/,
    says: /could not translate host name|psycopg|asyncpg|\bPG::|\bpgx\b|postgres/i,
    user: ['POSTGRES_USER', 'POSTGRESQL_USERNAME'],
    // Without a name for it, the official image calls the database like the user.
    database: ['POSTGRES_DB', 'POSTGRESQL_DATABASE', 'POSTGRES_USER'],
    run: ({ user = 'postgres', databases }) =>
      [
        'for each in /usr/lib/postgresql/*/bin; do PATH="$PATH:$each"; done',
        // The server writes this file once the folder is complete.
        `[ -e /tmp/postgres/postmaster.opts ] || { rm -rf /tmp/postgres; initdb -D /tmp/postgres -U ${user} -E UTF8 >/dev/null${databases
          .filter((name) => name !== 'postgres')
          .map(
            (name) => ` && echo 'create database "${name}"' | postgres --single -D /tmp/postgres postgres >/dev/null`,
          )
          .join('')}; }`,
        'rm -f /tmp/postgres/postmaster.pid',
        'exec postgres -F -D /tmp/postgres -k /tmp -h 127.0.0.1',
      ].join('; '),
  },
  {
    port: 6379,
    image: /^(?:redis|redis-stack|valkey|keydb)$/,
    host: /^(?:redis|valkey)$/,
    run: () => 'redis-server --save "" --dir /tmp',
  },
  {
    port: 3306,
    image: /^(?:mariadb|mysql|mysql-server|percona)$/,
    host: /^(?:mysql|mariadb)$/,
    says: /mysql|mariadb/i,
    database: ['MARIADB_DATABASE', 'MYSQL_DATABASE'],
    run: ({ databases }) =>
      [
        'PATH="$PATH:/usr/sbin"',
        '[ -e /tmp/mariadb.made ] || { rm -rf /tmp/mariadb; mariadb-install-db --no-defaults --datadir=/tmp/mariadb >/dev/null && touch /tmp/mariadb.made; }',
        // MariaDB reads one statement from each line of the file.
        ...(databases.length === 0
          ? []
          : [
              `printf '%s\\n' ${databases.map((name) => `'create database if not exists \`${name}\`;'`).join(' ')} >/tmp/mariadb.sql`,
            ]),
        `exec mariadbd --no-defaults --datadir=/tmp/mariadb --socket=/tmp/mariadb.sock --bind-address=127.0.0.1 --skip-grant-tables${databases.length === 0 ? '' : ' --init-file=/tmp/mariadb.sql'}`,
      ].join('; '),
  },
  {
    port: 27017,
    image: /^(?:mongo|mongodb|mongodb-community-server)$/,
    host: /^mongo(?:db)?$/,
    says: /mongo/i,
    run: () => 'mkdir -p /tmp/mongo && exec mongod --dbpath /tmp/mongo --bind_ip 127.0.0.1',
  },
  { port: 11211, image: /^memcached$/, host: /^memcached?$/, run: () => 'memcached -l 127.0.0.1' },
];

/** Returns what failed commands asked for, by what they wrote and by what the compose file says. */
export function neededServices(outputs: string[], compose: ComposeService[] = []): Needed {
  const lines = outputs.flatMap((output) => output.split('\n').filter((line) => line.length <= maxLine));
  const refused = lines.filter((line) => isRefused.test(line) && isHere.test(line));
  const inCompose = compose.map((each) => ({ ...each, kind: kinds.find(({ image }) => image.test(each.image)) }));
  const names = new Set(compose.map(({ name }) => name));
  const unfound = lines.flatMap((line) =>
    unfoundHosts(line, names).map((host) => ({
      host,
      kind: inCompose.find(({ name }) => name === host)?.kind ?? kindOf(host, line),
    })),
  );
  const needed = kinds.filter(
    (kind) =>
      refused.some((line) => new RegExp(`\\b${kind.port}\\b`).test(line)) ||
      unfound.some((each) => each.kind === kind) ||
      (outputs.length > 0 && inCompose.some((each) => each.kind === kind)),
  );
  const services = needed.map((kind) => {
    // One server stands for all services of a kind.
    const all = inCompose.filter((each) => each.kind === kind).map(({ variables }) => variables);
    const inAll = (names?: string[]) => [
      ...new Set(all.map((variables) => nameIn(variables, names)).filter((name) => name !== undefined)),
    ];
    return { run: kind.run({ user: inAll(kind.user)[0], databases: inAll(kind.database) }), port: kind.port };
  });
  const hosts = [...new Set(unfound.map(({ host }) => host))].slice(0, maxHosts);
  const known = inCompose.filter(({ kind }) => kind !== undefined).map(({ name }) => name);
  return { services, hosts, env: outputs.length > 0 ? localEnv(compose, new Set([...hosts, ...known])) : {} };
}

const maxLine = 2000;
const maxHosts = 10;
const isRefused = /refused|cannot assign|can't (?:connect|reach)|could not connect/i;
const isHere = /\b(?:localhost|127\.0\.0\.1)\b|::1\b/i;

/** How libraries say that a host does not exist. */
const isUnfound =
  /ENOTFOUND|EAI_AGAIN|\blookup \S+ on |resolve host|not known|name resolution|translate host name|no such host|unknown host|unknown mysql server host|UnknownHost|getaddrinfo|reach database server/i;

/** Names of hosts that say nothing about their kind. */
const ofAnyKind = new Set(['db', 'database']);

/**
 * The places of a host in such a line: in quotation marks, before a port, after what introduces a host, and before the
 * reason. Other words say nothing: `node` may be a service, but `node:dns:122:26` is a line of code.
 */
const places = [
  /["'`](?<host>[\w.-]+)(?::\d{1,5})?["'`]/g,
  /(?<![\w.-]|(?<!\/)\/)(?<host>[\w.-]+):\d{2,5}(?!\w|:\d)/g,
  /(?:\b(?:ENOTFOUND|EAI_AGAIN|lookup|getaddrinfo for|resolve(?! host)|host)|\b(?:UnknownHostException|host):|\bhost=) ?(?<host>[\w.-]+)(?!\w|:\/\/)/gi,
  /(?<![\w./:-])(?<host>[\w.-]+): (?:(?:\[Errno -?\d+\] )?Name or service|Temporary failure|no such host|nodename)/gi,
];

/** Returns the hosts that a line says do not exist: services of the compose file, and names that such services usually have. */
function unfoundHosts(line: string, names: Set<string>): string[] {
  if (!isUnfound.test(line)) return [];
  const hosts = places.flatMap((place) => [...line.matchAll(place)].map(({ groups }) => groups?.host ?? ''));
  const isHost = (name: string) => names.has(name) || ofAnyKind.has(name) || kinds.some(({ host }) => host.test(name));
  return [...new Set(hosts.filter(isHost))];
}

/** Returns what kind of service a host is, by its name, by its port, or by who looked for it. */
function kindOf(host: string, line: string): Kind | undefined {
  return (
    kinds.find((kind) => kind.host.test(host)) ??
    kinds.find(({ port }) => line.includes(`${host}:${port}`)) ??
    kinds.find(({ says }) => says?.test(line))
  );
}

/** Returns the value of the first variable that is set if it is an ordinary name, which is safe within a command. */
function nameIn(variables: ComposeService['variables'], names: string[] = []): string | undefined {
  const values = new Map(variables);
  const value = values.get(names.find((name) => values.has(name)) ?? '') ?? '';
  return /^[A-Za-z_][\w-]{0,62}$/.test(value) ? value : undefined;
}

/** Returns the variables of a compose file that name one of the hosts, with localhost in its place. */
function localEnv(compose: ComposeService[], hosts: Set<string>): Record<string, string> {
  const found = compose.flatMap(({ variables }) =>
    variables.flatMap(([name, value]): [string, string][] => {
      const [, before = '', host = '', after = ''] = (value.includes('://') ? inAddress : alone).exec(value) ?? [];
      const names = value.includes('://') || /HOST|ADDR|SERVER|ENDPOINT/i.test(name) || after !== '';
      return names && hosts.has(host) && !value.includes('$') ? [[name, `${before}localhost${after}`]] : [];
    }),
  );
  return Object.fromEntries(found.slice(0, maxEnv));
}

/** `postgres://user:password@host:5432/name`, and `host` or `host:5432`. */
const inAddress = /^((?:jdbc:)?[a-z][a-z0-9+.-]{0,30}:\/\/(?:[^/]*@)?)([\w-]+)(?![\w.-])(.*)$/i;
const alone = /^()([\w-]+)(:\d{1,5})?$/;
const maxEnv = 20;

const composeFiles = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];
/** A compose file of more bytes is not read. */
const maxCompose = 64_000;

const reading = apart<typeof import('./read-compose.ts')>(new URL('./read-compose.ts', import.meta.url), {
  seconds: 2,
  heapMb: 128,
});

/** Reads the services of the compose file in the root of a commit; none where there is no such file, or it cannot be read. */
export async function composeServices(
  checkout: Checkout,
  commit: string,
  paths: ReadonlyMap<string, unknown>,
): Promise<ComposeService[]> {
  const name = composeFiles.find((each) => paths.has(each));
  const file = name === undefined ? undefined : await checkout.readFile(commit, name);
  if (!Buffer.isBuffer(file) || file.length > maxCompose) return [];
  return reading.call('readCompose', file).catch((error) => {
    if (error instanceof OverLimit) return [];
    throw error;
  });
}
