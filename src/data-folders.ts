import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { isAlive, isReachable } from './db/embedded/embedded.ts';
import { reachableRoot } from './db/embedded/embedded-binaries.ts';
import { hasRoom } from './disk.ts';
import { isOneDisk, neutralRoot } from './neutral-root.ts';
import { removeTree } from './sandbox/remove-tree.ts';

/** The folders in which a process keeps its files. */
export interface DataFolders {
  /** The data folder, or another one if the tools' user cannot enter it. */
  place: string;
  /** Workspaces of this process, on the same disk as `place`. The path reveals nothing about this machine. */
  work: string;
  /** Programs that tools run. */
  tools: string;
  gitCache: string;
  /** Kept results of set-up. */
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
  return !/^[0-9a-f]{64}\.(tar\.zst|json)$/.test(name);
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
