import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, link, lstat, mkdir, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import type { Logger } from 'pino';
import { freeBytes, isAlive, isReachable, makeReserve, reserveBytes } from './db/embedded/embedded.ts';
import { reachableRoot } from './db/embedded/embedded-binaries.ts';
import { removeTree } from './sandbox/neutral-path.ts';

const megabyte = 2 ** 20;
/** If less is free, a warning is logged and `doctor` reports a failure. */
export const lowBytes = 1024 * megabyte;
/** If less is free, no run is started, because the database needs the rest. */
const fullBytes = 2 * reserveBytes;
const lookMs = 5000;

/** Returns whether the disk of a folder has room for another run. */
export async function hasRoom(folder: string): Promise<boolean> {
  return (await freeBytes(folder)) >= fullBytes;
}

/**
 * Watches the disks of these folders and logs a warning each time one becomes low. Creates the reserve of an embedded
 * database in `databaseFolder` whenever there is room for it. Returns a function that stops it.
 */
export function watchDisks(folders: string[], databaseFolder: string | undefined, log: Logger): () => void {
  const low = new Set<string>();
  const look = async () => {
    if (databaseFolder !== undefined) await makeReserve(databaseFolder);
    const disks = new Set<number>();
    for (const folder of folders) {
      const { dev } = await stat(folder);
      if (disks.has(dev)) continue;
      disks.add(dev);
      const free = await freeBytes(folder);
      if (low.has(folder) === free < lowBytes) continue;
      if (low.delete(folder)) log.info(`the disk of ${folder} has enough space again: ${inMegabytes(free)} are free`);
      else {
        low.add(folder);
        log.warn(`only ${inMegabytes(free)} are free on the disk of ${folder}; free some space there`);
      }
    }
  };
  let isLooking = false;
  let failed = '';
  const lookOnce = async () => {
    if (isLooking) return;
    isLooking = true;
    await look().catch((error: Error) => {
      if (error.message !== failed) log.warn({ err: error }, 'the free disk space could not be read');
      failed = error.message;
    });
    isLooking = false;
  };
  void lookOnce();
  const timer = setInterval(lookOnce, lookMs).unref();
  return () => clearInterval(timer);
}

export function inMegabytes(bytes: number): string {
  return Number.isFinite(bytes) ? `${Math.floor(bytes / megabyte)} MB` : 'an unknown number of MB';
}

/**
 * Returns a folder whose path reveals nothing about this machine or its user, because the list of mounts inside a
 * sandbox shows source paths. Returns undefined if there is no such folder that only this user can write to.
 */
async function neutralRoot(): Promise<string | undefined> {
  try {
    const uid = process.getuid?.();
    const folder = uid === 0 ? join(await reachableRoot(), 'work') : `/var/tmp/deckhand-${uid}`;
    // If the service runs as root, tools run as other users, which must be able to enter the folder.
    await mkdir(folder, { recursive: true, mode: uid === 0 ? 0o711 : 0o700 });
    const found = await lstat(folder);
    // Anyone may write to /var/tmp, so another user may have created the folder.
    return found.isDirectory() && found.uid === uid && (found.mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a file can be hard-linked from one folder to the other: they are on the same disk and mount. */
async function isOneDisk(one: string, other: string): Promise<boolean> {
  const names = [one, other].map((folder) => join(folder, `.probe-${process.pid}`)) as [string, string];
  try {
    await writeFile(names[0], '');
    await link(...names);
    return true;
  } catch {
    return false;
  } finally {
    for (const name of names) await rm(name, { force: true }).catch(() => {});
  }
}

/** The folders in which a process keeps its files. */
export interface DataFolders {
  /** The data folder, or another one if the tools' user cannot enter it. */
  place: string;
  /** Workspaces of this process, on the same disk as `place`. The path reveals nothing about this machine. */
  work: string;
  /** Programs that tools run. */
  tools: string;
  gitCache: string;
  /** Kept results of set-up, and the caches of package managers. */
  kept: string;
  /** Unpacked images, which sandboxes read. */
  images: string;
}

/** Chooses the folders and creates `place`. */
export async function openDataFolders(dataDir: string): Promise<DataFolders> {
  const place = await reachableDir(dataDir);
  const neutral = await neutralRoot();
  const workPlace = neutral !== undefined && (await isOneDisk(place, neutral)) ? neutral : place;
  return {
    place,
    work: join(workPlace, 'runs', randomBytes(6).toString('hex')),
    tools: join(neutral ?? place, 'tools'),
    gitCache: join(place, 'git-cache'),
    kept: join(place, 'environments'),
    images: join(workPlace, 'images'),
  };
}

/**
 * Returns a folder that the tools' user can enter: the data folder, or another one if the service is root and the data
 * folder is private.
 */
async function reachableDir(dataDir: string): Promise<string> {
  const isRoot = process.getuid?.() === 0;
  await mkdir(dataDir, { recursive: true, mode: isRoot ? 0o711 : 0o700 });
  if (!isRoot || (await isReachable(dataDir))) return dataDir;
  const place = join(await reachableRoot(), 'work');
  await mkdir(place, { recursive: true, mode: 0o711 });
  await chmod(place, 0o711);
  return place;
}

/**
 * Removes the files of processes that have ended. It must run before the database is opened, because on a full disk an
 * embedded database could not start. On a full disk it also empties the git cache.
 */
export async function clearLeftovers({ place, work, tools, gitCache, kept }: DataFolders, log: Logger): Promise<void> {
  const remove = (folder: string) =>
    removeTree(folder).catch((error) =>
      log.warn({ err: error, folder }, 'a folder that an ended process left was not removed'),
    );
  // Earlier versions kept all workspaces in the data folder.
  for (const all of new Set([dirname(work), join(place, 'runs')])) await clearWorkspaces(all, remove);
  // Unfinished copies are named `<copy>.<pid>`.
  for (const name of await namesIn(tools)) {
    const pid = /\.(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(tools, name), { force: true });
  }
  // Unfinished cache entries have a dot in their name. A process whose unfinished entry is removed fetches without the
  // cache.
  const isFull = !(await hasRoom(place));
  for (const name of await namesIn(gitCache)) if (isFull || name.includes('.')) await remove(join(gitCache, name));
  for (const name of await namesIn(kept)) if (isFull || isUnfinished(name)) await remove(join(kept, name));
}

/** Returns whether a file is part of a result of set-up that was not kept to the end. */
function isUnfinished(name: string): boolean {
  return !/^[0-9a-f]{64}\.(tar\.zst|json|caches)$/.test(name);
}

/** Workspaces of other machines that have not changed for this long belong to no run. */
const forgottenMs = 2 * 86_400_000;

/** Removes the workspaces of processes that have ended. Runs that are continued get new ones. */
async function clearWorkspaces(all: string, remove: (folder: string) => Promise<void>): Promise<void> {
  for (const name of await namesIn(all)) {
    const folder = join(all, name);
    const owner = await readFile(join(folder, ownerFile), 'utf8').catch(() => name);
    const [, host, pid] = /^(?:(.*)-)?(\d+)$/.exec(owner) ?? [];
    const isHere = pid !== undefined && (host === undefined || host === hostname());
    // Another worker that is starting may have removed it.
    const changedMs = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    const isLeft = isHere ? !(await isService(Number(pid))) : changedMs < Date.now() - forgottenMs;
    if (isLeft) await remove(folder);
  }
}

/**
 * Returns whether the process with that id may be a running service. The kernel may have given the id to another
 * program.
 */
async function isService(pid: number): Promise<boolean> {
  // This process has no folder yet, so a folder with its id belongs to an earlier process. In containers process ids
  // repeat.
  if (pid === process.pid || !isAlive(pid)) return false;
  const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  return program === undefined || /\/node( \(deleted\))?$/.test(program);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/**
 * A file that names the owner of the workspaces, `<host>-<pid>`. The folder's own name does not, because sandboxes see
 * it.
 */
const ownerFile = 'owner';

/** Creates the folder for workspaces, which the tools' users may enter. */
export async function makeWorkFolder({ work }: DataFolders): Promise<void> {
  await mkdir(work, { recursive: true, mode: 0o711 });
  for (const folder of [dirname(work), work]) await chmod(folder, 0o711);
  await writeFile(join(work, ownerFile), `${hostname()}-${process.pid}`, { mode: 0o600 });
}

/** Removes the folder of this process's workspaces. Without the file of its owner, it is usually empty. */
export async function removeWorkFolder({ work }: DataFolders): Promise<void> {
  await rm(join(work, ownerFile), { force: true });
  await removeTree(work);
}

/** Where systems keep the certificates that they trust, in one file. */
const ofSystems = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * Writes the certificates of the system and those of `NODE_EXTRA_CA_CERTS` into one file in the data folder, because git
 * trusts those of one file only. Returns its path, or undefined when there are no further certificates.
 */
export async function writeCertificates(extra: string | undefined, dataDir: string): Promise<string | undefined> {
  if (extra === undefined) return undefined;
  const system = ofSystems.find((file) => existsSync(file));
  const usual = system === undefined ? rootCertificates.join('\n') : await readFile(system, 'utf8');
  const path = join(dataDir, 'certificates.pem');
  // Other processes of the service may be reading the file.
  const made = `${path}.${process.pid}`;
  await writeFile(made, `${usual}\n${await readFile(extra, 'utf8')}\n`, { mode: 0o644 });
  await rename(made, path);
  return path;
}
