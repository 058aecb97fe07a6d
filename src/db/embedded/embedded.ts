import type { ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endLeftProcesses, makeCluster, type ServerSettings, startServer, stopServer } from './cluster.ts';
import { reachableRoot, usableBinaries, writeOnce } from './embedded-binaries.ts';

/**
 * Locks a folder for this process. Returns undefined while another process, or another part of this one, holds the
 * lock. The lock is an abstract unix socket: it disappears when its holder ends for any reason, and it needs no pid,
 * which the kernel could reuse. Its name contains the folder's inode, because two containers on the host's network may
 * mount different folders at the same path.
 */
export async function holdFolder(folder: string): Promise<(() => Promise<void>) | undefined> {
  const { dev, ino } = await stat(folder);
  const holder = createServer((asked) => asked.destroy()).unref();
  return new Promise((resolve, reject) => {
    holder.once('error', (error: Error & { code?: string }) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    holder.listen(`\0deckhand-database-${dev}-${ino}`, () =>
      resolve(() => new Promise<void>((released) => void holder.close(() => released()))),
    );
  });
}

/** Four segments of PostgreSQL's write-ahead log: enough to recover and to write the following checkpoint. */
export const reserveBytes = 64 * 2 ** 20;

const chunkBytes = 2 ** 20;

/**
 * Returns the bytes that ordinary users can still write to the disk of a folder; the last blocks are often reserved for
 * root. Some container and network file systems do not report their size and count as unlimited.
 */
export async function freeBytes(folder: string): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(folder);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}

const fileOf = (folder: string) => join(folder, 'reserve');

/**
 * Creates the reserve unless it exists or would leave less than its own size free. The file is filled with random
 * bytes, because a sparse file has no blocks and some file systems allocate none for zeros.
 */
export async function makeReserve(folder: string): Promise<void> {
  const file = fileOf(folder);
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size === reserveBytes || (await freeBytes(folder)) < 2 * reserveBytes) return;
  const chunk = randomBytes(chunkBytes);
  const handle = await open(file, 'w', 0o600);
  try {
    for (let written = 0; written < reserveBytes; written += chunkBytes) await handle.write(chunk);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Deletes the reserve if the disk is full, and returns whether it did. */
export async function giveUpReserve(folder: string): Promise<boolean> {
  if ((await freeBytes(folder)) >= reserveBytes) return false;
  return rm(fileOf(folder)).then(
    () => true,
    () => false,
  );
}

/** PostgreSQL refuses to run as root, and initdb needs a user with a passwd entry. `nobody` exists everywhere. */
const nobody = 65_534;

export interface EmbeddedPostgres {
  url: string;
  /** Notes for the operator, such as that the data is in another folder. */
  notes: string[];
  /** Rejects if the server ends without being stopped. */
  broken: Promise<never>;
  /** The folder of the cluster and its disk reserve, if this process started the server. */
  folder: string | undefined;
  stop(): Promise<void>;
}

export interface EmbeddedOptions extends ServerSettings {
  /** The folder that contains the cluster. It is created if missing. */
  dataDir: string;
  /** Use the running server of another process instead of refusing to start. */
  attach?: boolean;
}

/**
 * Starts PostgreSQL from its npm package. The first start takes 0.6 to 0.9 s, later ones 40 ms. The server listens on
 * loopback, and its password is readable only for the owner of the data folder; as root it runs as `nobody`. Before
 * starting, ends and removes what a killed service left behind: its server, single server processes, an unfinished
 * initdb.
 * @throws Error that says what is missing or blocking the start
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir } = options;
  const uid = clusterUid();
  await mkdir(dataDir, { recursive: true, mode: uid === undefined ? 0o700 : 0o711 });
  if (uid !== undefined) await chmod(dataDir, 0o711);
  const wanted = join(dataDir, 'postgres');
  const dir = await clusterFolder(dataDir);
  const notes =
    dir === wanted ? [] : [`the database's user cannot enter a parent of ${wanted}, so the database is in ${dir}`];
  const held = await holdOrAttach(dataDir, dir, options.attach ?? false);
  if ('port' in held) {
    const url = address(held.port, await readPassword(dataDir));
    return { url, notes, broken: new Promise(() => {}), folder: undefined, stop: async () => {} };
  }
  const folder = dirname(dir);
  try {
    const native = await usableBinaries(uid);
    await endLeftProcesses(dir);
    if (await giveUpReserve(folder))
      notes.push(`the disk of ${folder} is full and its reserve was given up; free some space there`);
    const password = await clusterPassword(dataDir);
    notes.push(...(await makeCluster({ native, dir, password, uid })));
    // On a full disk this fails. The file is not essential.
    await writeFile(ownerFile(dataDir), String(process.pid)).catch(() => {});
    const { server, port } = await startServer({ native, dir, uid }, options);
    return { url: address(port, password), notes, folder, ...ending(server, dataDir, held.release) };
  } catch (error) {
    await held.release();
    const free = await freeBytes(folder);
    if (free > fullBytes) throw error;
    throw new Error(
      `the disk of ${folder} is full; free some space there and start again (${(error as Error).message})`,
    );
  }
}

/** PostgreSQL needs at least one segment of its write-ahead log to start. */
const fullBytes = 16 * 2 ** 20;

/** A file with the pid that holds the folder, for error messages. Only the lock decides whether the folder is held. */
const ownerFile = (dataDir: string) => join(dataDir, 'postgres.owner');

/** How long to wait for a stopping service to release the folder. */
const holdMs = 10_000;

/**
 * Locks the data folder for this process. If that fails and `attach` is set, returns the port of the running server.
 */
async function holdOrAttach(
  dataDir: string,
  dir: string,
  attach: boolean,
): Promise<{ release: () => Promise<void> } | { port: number }> {
  for (const begun = Date.now(); ; await sleep(50)) {
    const release = await holdFolder(dataDir);
    if (release !== undefined) return { release };
    const lines = (await readFile(join(dir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    if (attach && lines[7]?.startsWith('ready') && isAlive(Number(lines[0]))) return { port: Number(lines[3]) };
    if (Date.now() - begun < holdMs) continue;
    const owner = (await readFile(ownerFile(dataDir), 'utf8').catch(() => '')) || 'unknown';
    throw new Error(`the data folder is in use by process ${owner}; stop it, or set another DATA_DIR`);
  }
}

function ending(server: ChildProcess, dataDir: string, release: () => Promise<void>) {
  let isStopping = false;
  const broken = new Promise<never>((_resolve, reject) =>
    server.once('exit', (code, by) => {
      if (!isStopping) reject(new Error(`the embedded PostgreSQL ended unexpectedly (${by ?? code})`));
    }),
  );
  broken.catch(() => {});
  return {
    broken,
    stop: async () => {
      isStopping = true;
      await stopServer(server);
      await rm(ownerFile(dataDir), { force: true });
      await release();
    },
  };
}

function address(port: number, password: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

/** Returns the uid under which the database runs; undefined for that of this process. */
export function clusterUid(): number | undefined {
  return process.getuid?.() === 0 ? nobody : undefined;
}

/** Returns the folder of the cluster: in the data folder, or elsewhere if its user cannot enter a parent of that. */
export async function clusterFolder(dataDir: string): Promise<string> {
  const wanted = join(dataDir, 'postgres');
  if (clusterUid() === undefined || (await isReachable(dirname(wanted)))) return wanted;
  const digest = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  const parent = join(await reachableRoot(), `data-${digest}`);
  await mkdir(parent, { recursive: true, mode: 0o711 });
  return join(parent, 'postgres');
}

/** Returns whether all users may enter every folder of a path. */
export async function isReachable(path: string): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

async function clusterPassword(dataDir: string): Promise<string> {
  const file = join(dataDir, 'postgres.password');
  // Earlier versions left an empty file when they were killed. No cluster was created with it.
  if ((await readFile(file, 'utf8').catch(() => undefined)) === '') await rm(file);
  await writeOnce(file, randomBytes(24).toString('hex'));
  return readPassword(dataDir);
}

async function readPassword(dataDir: string): Promise<string> {
  return (await readFile(join(dataDir, 'postgres.password'), 'utf8')).trim();
}

/** Returns whether a process with that id exists, under any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}
