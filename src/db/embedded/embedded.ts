import type { ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endLeftProcesses } from './cluster-processes.ts';
import { reachableRoot, usableBinaries } from './embedded-binaries.ts';
import { type ServerSettings, startServer, stopServer } from './embedded-server.ts';
import { holdFolder } from './folder-lock.ts';
import { makeCluster } from './make-cluster.ts';
import { freeBytes, giveUpReserve } from './reserve.ts';
import { writeOnce } from './write-once.ts';

/** PostgreSQL refuses to run as root; `nobody` has a passwd entry everywhere, which initdb wants. */
const nobody = 65_534;

export interface EmbeddedPostgres {
  url: string;
  /** What the person who started us should know, such as data that had to lie elsewhere. */
  notes: string[];
  /** Rejects when the server ends although nobody stopped it. */
  broken: Promise<never>;
  /** Where the cluster and its reserve lie, when the server was started here. */
  folder: string | undefined;
  stop(): Promise<void>;
}

export interface EmbeddedOptions extends ServerSettings {
  /** The folder that holds the cluster; made when missing. */
  dataDir: string;
  /** Use the server that another process runs there, if one does, instead of refusing. */
  attach?: boolean;
}

/**
 * Starts PostgreSQL from its npm package: first start 0.6 to 0.9 s, later 40 ms. It listens on loopback with a
 * password that only the owner of the data folder can read; as root it runs under `nobody`. Whatever an earlier service
 * left behind when it was killed (its server, parts of it, an unfinished initdb) is ended and removed first.
 * @throws Error saying what is missing or in the way
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir } = options;
  const uid = process.getuid?.() === 0 ? nobody : undefined;
  await mkdir(dataDir, { recursive: true, mode: uid === undefined ? 0o700 : 0o711 });
  if (uid !== undefined) await chmod(dataDir, 0o711);
  const wanted = join(dataDir, 'postgres');
  const dir = await reachableFolder(wanted, uid);
  const notes =
    dir === wanted ? [] : [`a parent of ${wanted} is closed to the database's user, so the database lies in ${dir}`];
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
      notes.push(`the disk of ${folder} is full, and its reserve is used up; make room there`);
    const password = await clusterPassword(dataDir);
    notes.push(...(await makeCluster({ native, dir, password, uid })));
    // A full disk may have no room for it.
    await writeFile(ownerFile(dataDir), String(process.pid)).catch(() => {});
    const { server, port } = await startServer({ native, dir, uid }, options);
    return { url: address(port, password), notes, folder, ...ending(server, dataDir, held.release) };
  } catch (error) {
    await held.release();
    const free = await freeBytes(folder);
    if (free > fullBytes) throw error;
    throw new Error(`the disk of ${folder} is full; make room there and start again (${(error as Error).message})`);
  }
}

/** With less than one segment of its log PostgreSQL cannot start. */
const fullBytes = 16 * 2 ** 20;

/** Only for the message that names who holds the folder; whether somebody does, the lock tells. */
const ownerFile = (dataDir: string) => join(dataDir, 'postgres.owner');

/** A service that was told to stop needs a moment to let go of its folder. */
const holdMs = 10_000;

/** Holds the data folder for this process; or, where attaching is wanted, finds the port of the holder's server. */
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
      if (!isStopping) reject(new Error(`the embedded PostgreSQL ended by itself (${by ?? code})`));
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
  // Earlier versions could leave an empty one when they were killed; no cluster was made with it.
  if ((await readFile(file, 'utf8').catch(() => undefined)) === '') await rm(file);
  await writeOnce(file, randomBytes(24).toString('hex'));
  return readPassword(dataDir);
}

async function readPassword(dataDir: string): Promise<string> {
  return (await readFile(join(dataDir, 'postgres.password'), 'utf8')).trim();
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
