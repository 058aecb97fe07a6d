import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { until } from '../../demo/real-service.ts';
import { freePort } from '../../demo/settings.ts';

const root = '/usr/lib/postgresql';

/** Two servers of PostgreSQL. The second copies the first, and a commit waits for both. */
export interface Servers {
  /** An address that names both, of which the service uses the one that accepts writes. */
  url: string;
  /** Restarts the first server as an administrator does: sessions end at once. */
  restart(): Promise<void>;
  /** Kills the first server, and starts it again after so many milliseconds. */
  kill(pauseMs: number): Promise<void>;
  /** Kills the first server for good, and makes the second accept writes. */
  failOver(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the PostgreSQL that Debian installed, with a streaming replica.
 * @throws Error if it is not installed
 */
export async function startServers(): Promise<Servers> {
  const bin = await binaries();
  const user = await databaseUser();
  const dir = await mkdtemp(join(tmpdir(), 'deckhand-fleet-db-'));
  if (user) await chown(dir, user.uid, user.gid);
  const run = (name: string, args: string[]) => promisify(execFile)(join(bin, name), args, { ...user, cwd: dir });
  const [one, two] = [await server(dir, bin, user, 'one'), await server(dir, bin, user, 'two')];
  await run('initdb', ['-D', one.folder, '-U', 'deckhand', '-A', 'trust', '-E', 'UTF8', '--locale', 'C']);
  await one.start();
  const copy = `host=127.0.0.1 port=${one.port} user=deckhand application_name=two`;
  await run('pg_basebackup', ['-D', two.folder, '-d', copy, '-R', '-X', 'stream', '-c', 'fast']);
  await two.start();
  await until('the replica', () => one.ask(`select true from pg_stat_replication where state = 'streaming'`));
  // Otherwise the last commits before a failover could be missing on the replica.
  const waits = one.starting('synchronous_standby_names=two');
  await one.end('SIGINT');
  await waits.start();
  return {
    url: `postgres://deckhand@127.0.0.1:${one.port},127.0.0.1:${two.port}/postgres?target_session_attrs=read-write`,
    restart: async () => {
      await one.end('SIGINT');
      await waits.start();
    },
    kill: async (pauseMs) => {
      await one.end('SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await waits.start();
    },
    failOver: async () => {
      await one.end('SIGKILL');
      await run('pg_ctl', ['promote', '-w', '-D', two.folder]);
    },
    close: async () => {
      await Promise.all([one.end('SIGQUIT'), two.end('SIGQUIT')]);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

const settingsOfServers = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=600',
  // A commit waits until the replica is connected again.
  'wal_retrieve_retry_interval=500ms',
];

async function server(dir: string, bin: string, user: { uid: number; gid: number } | undefined, name: string) {
  const port = await freePort();
  const folder = join(dir, name);
  let child: ChildProcess | undefined;
  const ask = async (text: string) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'deckhand', database: 'postgres' });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query(text)).rows.length > 0;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  };
  const starting = (...more: string[]) => ({
    start: async () => {
      const settings = [...settingsOfServers, ...more].flatMap((setting) => ['-c', setting]);
      const launch = () => {
        child = spawn(join(bin, 'postgres'), ['-D', folder, '-p', String(port), ...settings], {
          ...user,
          cwd: dir,
          stdio: 'ignore',
        });
      };
      launch();
      await until(`the server ${name}`, async () => {
        // After a kill, the first try may find that processes of the dead server still use its memory.
        if (child?.exitCode !== null) launch();
        return ask('select 1');
      });
    },
  });
  return {
    port,
    folder,
    ask,
    starting,
    start: starting().start,
    end: async (signal: NodeJS.Signals) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child?.once('exit', resolve));
      child.kill(signal);
      await gone;
    },
  };
}

async function binaries(): Promise<string> {
  const versions = await readdir(root).catch(() => []);
  const newest = versions.map(Number).sort((a, b) => b - a)[0];
  if (newest === undefined)
    throw new Error(`This bench needs a PostgreSQL with its tools in ${root}. On Debian: apt-get install postgresql`);
  return join(root, String(newest), 'bin');
}

/** PostgreSQL refuses to run as root. */
async function databaseUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (flag: string) => Number((await promisify(execFile)('id', [flag, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}
