import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdir, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { oomScores, protectFromOom } from '../../host/own-process.ts';
import { identity } from './embedded-binaries.ts';

/** How long a server may take to write its last checkpoint. After that it is killed, and the next start recovers. */
const politeMs = 10_000;
/** How long a killed process may take to end: it may be waiting for the disk. */
const killedMs = 30_000;
const lookMs = 20;

/**
 * Finds the PostgreSQL processes that use a cluster: its server, the server's children, and initdb with its children.
 * Children that outlive a killed server hold its shared memory, and a new server refuses to start beside them. They are
 * recognized by their program and working folder, because they change their command lines.
 */
async function processesOn(dir: string): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(all.map(async (pid) => ((await worksOn(pid, dir)) ? [Number(pid)] : [])));
  return found.flat();
}

/**
 * Returns whether a process uses the cluster; false for a process that cannot be read (ended, a zombie, another
 * user's).
 */
async function worksOn(pid: string, dir: string): Promise<boolean> {
  const of = (link: string) => readlink(`/proc/${pid}/${link}`).catch(() => '');
  const texts = async (file: string) => (await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')).split('\0');
  // Linux appends a mark to the path of a deleted file: `/path/postgres (deleted)`.
  const plain = (path: string) => path.replace(/ \(deleted\)$/, '');
  if (!['postgres', 'initdb'].includes(basename(plain(await of('exe'))))) return false;
  const isOurs = (path: string) => path === dir || path.startsWith(makingPrefix(dir));
  if (isOurs(plain(await of('cwd'))) || (await texts('cmdline')).some(isOurs)) return true;
  return (await texts('environ')).some((text) => text.startsWith('PGDATA=') && isOurs(text.slice('PGDATA='.length)));
}

/** Returns the name prefix of the folders in which a new cluster is created before it is moved into place. */
function makingPrefix(dir: string): string {
  return `${dir}.making-`;
}

/**
 * Ends the processes that an earlier service left on a cluster and removes the server's pid file. By now the pid in that
 * file may belong to a zombie or to another process, which PostgreSQL would take for a running server. Only the process
 * that holds the data folder's lock may call this.
 * @throws Error with the processes that do not end
 */
export async function endLeftProcesses(dir: string): Promise<void> {
  const pidFile = join(dir, 'postmaster.pid');
  const begun = Date.now();
  let asked: number | undefined;
  for (let left = await processesOn(dir); left.length > 0; left = await processesOn(dir)) {
    const server = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
    const waitedMs = Date.now() - begun;
    if (waitedMs > politeMs + killedMs)
      throw new Error(
        `the PostgreSQL processes ${left.join(', ')} still use ${dir} and cannot be ended; end them and start again`,
      );
    if (left.includes(server) && waitedMs < politeMs) {
      if (asked !== server) signal(server, 'SIGINT');
      asked = server;
    } else for (const pid of left) signal(pid, 'SIGKILL');
    await sleep(lookMs);
  }
  await rm(pidFile, { force: true });
}

function signal(pid: number, by: NodeJS.Signals): void {
  try {
    process.kill(pid, by);
  } catch {
    // The process has already ended.
  }
}

const run = promisify(execFile);

export interface ClusterPlace {
  /** The folder of PostgreSQL's programs. */
  native: string;
  dir: string;
  password: string;
  uid: number | undefined;
}

/**
 * Creates the cluster if it does not exist. initdb works in a temporary folder that is then renamed into place, because
 * a killed initdb leaves something that looks like a cluster but lacks its databases. Returns notes for the operator.
 */
export async function makeCluster(place: ClusterPlace): Promise<string[]> {
  const { dir } = place;
  await removeUnfinished(dir);
  const notes = await setAsideUnfinished(dir);
  if ((await entriesOf(dir)).length > 0) return notes;
  const making = `${makingPrefix(dir)}${randomUUID()}`;
  await initialise(place, making);
  // A rename replaces a folder only if that is empty.
  await rename(making, dir);
  return notes;
}

/** Removes the files of a killed initdb. Its processes have already been ended. */
async function removeUnfinished(dir: string): Promise<void> {
  const prefix = basename(makingPrefix(dir));
  for (const name of await readdir(dirname(dir)))
    if (name.startsWith(prefix)) await rm(join(dirname(dir), name), { recursive: true, force: true });
}

/**
 * Moves an unfinished cluster out of the way. Earlier versions ran initdb in place. If no server has ever started in a
 * cluster and it is not a restored backup, then a killed initdb left it. It contains no data, and no server would start
 * with it.
 */
async function setAsideUnfinished(dir: string): Promise<string[]> {
  const names = await entriesOf(dir);
  const known = ['postmaster.opts', 'backup_label', 'backup_manifest', 'recovery.signal', 'standby.signal'];
  if (names.length === 0 || known.some((name) => names.includes(name))) return [];
  const aside = `${dir}.unfinished-${(await stat(dir)).mtimeMs.toFixed()}`;
  await rename(dir, aside);
  return [`${dir} was incomplete, so a new database was created; the old files are in ${aside}`];
}

async function entriesOf(dir: string): Promise<string[]> {
  return readdir(dir).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
}

async function initialise({ native, password, uid }: ClusterPlace, dir: string): Promise<void> {
  await mkdir(dir, { mode: 0o700 });
  const passwordFile = `${dir}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  for (const path of [dir, passwordFile]) if (uid !== undefined) await chown(path, uid, uid);
  const args = ['-D', dir, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync'];
  try {
    await run(join(native, 'bin/initdb'), [...args, '--locale=C', '--encoding=UTF8'], {
      ...identity(uid),
      env: { LC_ALL: 'C', PGDATA: dir },
      cwd: '/',
    });
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(passwordFile, { force: true });
  }
}

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
  if (unsafe) settings.push('fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'jit=off', 'autovacuum=off');
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
