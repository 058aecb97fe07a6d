import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { oomScores, protectFromOom } from '../../host/oom-score.ts';
import { endLeftProcesses } from './cluster-processes.ts';
import { identity } from './embedded-binaries.ts';

export interface ServerSettings {
  /** Trades durability for speed; for tests only. */
  unsafe?: boolean;
  maxConnections?: number;
  /** Returns a port that is currently free; by default the kernel chooses it. */
  choosePort?: () => Promise<number>;
}

/** Environment variables that make PostgreSQL's child processes set their OOM score when they start. */
const childScore = {
  PG_OOM_ADJUST_FILE: '/proc/self/oom_score_adj',
  PG_OOM_ADJUST_VALUE: String(oomScores.databaseChild),
};

/** Maximum number of attempts to start. Another process may take the port first, but not this many times in a row. */
const maxStarts = 5;

/** Starts the server on a free port. If another process has taken the port in the meantime, tries the next one. */
export async function startServer(
  { native, dir, uid }: { native: string; dir: string; uid: number | undefined },
  settings: ServerSettings,
): Promise<{ server: ChildProcess; port: number }> {
  for (let starts = 1; ; starts++) {
    const port = await (settings.choosePort ?? freePort)();
    const server = spawn(
      join(native, 'bin/postgres'),
      ['-D', dir, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...configured(settings)],
      // Detached from our process group, which receives Ctrl+C: the service must close its connections before the
      // server ends.
      {
        ...identity(uid),
        env: { LC_ALL: 'C', PGDATA: dir, ...childScore },
        cwd: '/',
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      },
    );
    protectFromOom(server.pid, oomScores.databaseServer);
    try {
      await ready(server);
      return { server, port };
    } catch (error) {
      const isInTheWay = /could not bind|lock file .* already exists|pre-existing shared memory block/;
      if (starts === maxStarts || !isInTheWay.test((error as Error).message)) throw error;
      await endLeftProcesses(dir);
    }
  }
}

function configured({ maxConnections = 100, unsafe = false }: ServerSettings): string[] {
  const settings = [`max_connections=${maxConnections}`];
  if (unsafe) settings.push('fsync=off', 'synchronous_commit=off', 'full_page_writes=off');
  return settings.flatMap((s) => ['-c', s]);
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      log = (log + chunk).slice(-4000);
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('exit', (code) => reject(new Error(`the embedded PostgreSQL ended with ${code}: ${log.trim()}`)));
    server.once('error', reject);
  });
}

/** Lets the server end its sessions and write a checkpoint, and waits until it has exited. */
export async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGINT');
  await gone;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
