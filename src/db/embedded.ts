import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { identity, reachableRoot, usableBinaries } from './embedded-binaries.ts';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root; `nobody` has a passwd entry everywhere, which initdb wants. */
const nobody = 65_534;

/** Clusters of this very process; a pid in a file may be an earlier process's. */
const startedHere = new Set<string>();

export interface EmbeddedPostgres {
  url: string;
  /** What the person who started us should know, such as data that had to lie elsewhere. */
  notes: string[];
  /** Rejects when the server ends although nobody stopped it. */
  broken: Promise<never>;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** The folder that holds the cluster; made when missing. */
  dataDir: string;
  /** Use the server that another process runs there, if one does, instead of refusing. */
  attach?: boolean;
  /** Gives up durability for speed; for tests only. */
  unsafe?: boolean;
  maxConnections?: number;
}

/**
 * Starts PostgreSQL from its npm package: first start 0.6 to 0.9 s, later 40 ms. It listens on loopback with a
 * password that only the owner of the data folder can read; as root it runs under `nobody`.
 * @throws Error saying what is missing or in the way
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const uid = process.getuid?.() === 0 ? nobody : undefined;
  await mkdir(options.dataDir, { recursive: true, mode: uid === undefined ? 0o700 : 0o711 });
  if (uid !== undefined) await chmod(options.dataDir, 0o711);
  const wanted = join(options.dataDir, 'postgres');
  const dir = await reachableFolder(wanted, uid);
  const notes =
    dir === wanted ? [] : [`a parent of ${wanted} is closed to the database's user, so the database lies in ${dir}`];
  const password = await clusterPassword(options.dataDir);
  const running = await runningServer(dir, join(options.dataDir, 'postgres.owner'), options.attach ?? false);
  if (running !== undefined)
    return { url: address(running, password), notes, broken: new Promise(() => {}), stop: async () => {} };
  const native = await usableBinaries(uid);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await chmod(dir, 0o700);
  if (uid !== undefined) await chown(dir, uid, uid);
  if ((await readdir(dir)).length === 0) await initialise(native, dir, password, uid);
  await writeFile(join(options.dataDir, 'postgres.owner'), String(process.pid));
  const port = await freePort();
  const server = spawn(
    join(native, 'bin/postgres'),
    ['-D', dir, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...serverSettings(options)],
    // Detached: Ctrl+C in a terminal goes to the whole group, and we want to close our connections first.
    { ...identity(uid), env: { LC_ALL: 'C' }, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  await ready(server);
  startedHere.add(dir);
  let isStopping = false;
  const broken = new Promise<never>((_resolve, reject) =>
    server.once('exit', (code, by) => {
      if (!isStopping) reject(new Error(`the embedded PostgreSQL ended by itself (${by ?? code})`));
    }),
  );
  broken.catch(() => {});
  return {
    url: address(port, password),
    notes,
    broken,
    stop: async () => {
      isStopping = true;
      await stop(server);
      startedHere.delete(dir);
      await rm(join(options.dataDir, 'postgres.owner'), { force: true });
    },
  };
}

function address(port: number, password: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

function serverSettings(options: EmbeddedOptions): string[] {
  const settings = [`max_connections=${options.maxConnections ?? 100}`];
  if (options.unsafe) settings.push('fsync=off', 'synchronous_commit=off', 'full_page_writes=off');
  return settings.flatMap((s) => ['-c', s]);
}

/** The wanted folder, or one of its own elsewhere when a parent is closed to that uid. */
async function reachableFolder(wanted: string, uid: number | undefined): Promise<string> {
  if (uid === undefined || (await isReachable(dirname(wanted)))) return wanted;
  const digest = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  const parent = join(await reachableRoot(), `data-${digest}`);
  await mkdir(parent, { recursive: true, mode: 0o711 });
  return join(parent, 'postgres');
}

/** Whether everyone may pass through every folder of a path. */
export async function isReachable(path: string): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

async function clusterPassword(dataDir: string): Promise<string> {
  const file = join(dataDir, 'postgres.password');
  // `wx`: of two processes that start at once one writes, and both read the same.
  await writeFile(file, randomBytes(24).toString('hex'), { mode: 0o600, flag: 'wx' }).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return (await readFile(file, 'utf8')).trim();
}

async function initialise(native: string, dir: string, password: string, uid: number | undefined): Promise<void> {
  const file = `${dir}.pw`;
  await writeFile(file, password, { mode: 0o600 });
  if (uid !== undefined) await chown(file, uid, uid);
  const args = ['-D', dir, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${file}`, '--no-sync'];
  try {
    await run(join(native, 'bin/initdb'), [...args, '--locale=C', '--encoding=UTF8'], {
      ...identity(uid),
      env: { LC_ALL: 'C' },
      cwd: '/',
    });
  } catch (error) {
    // A half-made cluster would be taken for a whole one next time.
    await rm(dir, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(file, { force: true });
  }
}

/**
 * The port of the server that runs on this cluster for a living process, when attaching is wanted. A server that
 * outlived its killed service is ended.
 */
async function runningServer(dir: string, ownerFile: string, attach: boolean): Promise<number | undefined> {
  for (let tries = 0; ; tries++) {
    const lines = (await readFile(join(dir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    const pid = Number(lines[0]);
    if (!(pid > 1) || !(await isServerOf(pid, dir))) return undefined;
    const owner = Number(await readFile(ownerFile, 'utf8').catch(() => ''));
    const isOwned = owner === process.pid ? startedHere.has(dir) : owner > 1 && isAlive(owner);
    if (isOwned && attach && lines[7]?.startsWith('ready')) return Number(lines[3]);
    if (!isOwned && tries === 0) process.kill(pid, 'SIGINT');
    if (tries === 200)
      throw new Error(`the data folder is in use by process ${owner}; stop it, or set another DATA_DIR`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function isServerOf(pid: number, dir: string): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').includes(dir);
}

/** Whether a process of that number runs, whoever's it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
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

async function stop(server: ChildProcess): Promise<void> {
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
