import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { isAlive, isReachable } from './db/embedded/embedded.ts';
import { reachableRoot } from './db/embedded/embedded-binaries.ts';
import { hasRoom } from './disk.ts';
import { isOneDisk, neutralRoot } from './neutral-place.ts';
import { removeTree } from './sandbox/remove-tree.ts';

/** Where a process keeps what it works with. */
export interface DataFolders {
  /** The data folder, or a folder elsewhere when the tools' user cannot pass into that one. */
  place: string;
  /** Workspaces of this process; on the disk of `place`, under a name that tells nothing. */
  work: string;
  /** Programs that the tools run. */
  tools: string;
  gitCache: string;
}

/** Names the folders, and makes the first of them. */
export async function openDataFolders(dataDir: string): Promise<DataFolders> {
  const place = await reachableDir(dataDir);
  const neutral = await neutralRoot();
  const workPlace = neutral !== undefined && (await isOneDisk(place, neutral)) ? neutral : place;
  return {
    place,
    work: join(workPlace, 'runs', randomBytes(6).toString('hex')),
    tools: join(neutral ?? place, 'tools'),
    gitCache: join(place, 'git-cache'),
  };
}

/** A folder that the tools' uid can pass into: the data folder, or as root one of its own where that one is closed. */
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
 * Removes what processes that are gone left behind. It comes before the database is opened: on a full disk an embedded
 * one could not start otherwise. On such a disk the whole git cache goes too.
 */
export async function clearLeftovers({ place, work, tools, gitCache }: DataFolders, log: Logger): Promise<void> {
  const remove = (folder: string) =>
    removeTree(folder).catch((error) => log.warn({ err: error, folder }, 'a leftover was not removed'));
  // Until version 0.1 all of them were in the data folder.
  for (const all of new Set([dirname(work), join(place, 'runs')])) await clearWorkspaces(all, remove);
  // Copies under way are named `<copy>.<pid>`.
  for (const name of await namesIn(tools)) {
    const pid = /\.(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(tools, name), { force: true });
  }
  // Half of an exchange has a dot in its name. A process that is at it now fetches without the cache.
  const isFull = !(await hasRoom(place));
  for (const name of await namesIn(gitCache)) if (isFull || name.includes('.')) await remove(join(gitCache, name));
}

/** What a machine that is not heard of left behind this long ago belongs to no run. */
const forgottenMs = 2 * 86_400_000;

/** Removes the workspaces of processes that are gone; runs that are continued get new ones. */
async function clearWorkspaces(all: string, remove: (folder: string) => Promise<void>): Promise<void> {
  for (const name of await namesIn(all)) {
    const folder = join(all, name);
    const owner = await readFile(join(folder, ownerFile), 'utf8').catch(() => name);
    const [, host, pid] = /^(?:(.*)-)?(\d+)$/.exec(owner) ?? [];
    const isHere = pid !== undefined && (host === undefined || host === hostname());
    // Another worker that starts may have removed it by now.
    const changedMs = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    const isLeft = isHere ? !(await isService(Number(pid))) : changedMs < Date.now() - forgottenMs;
    if (isLeft) await remove(folder);
  }
}

/** Whether a process with that number may be one of ours; a program that is not Node has got a used number. */
async function isService(pid: number): Promise<boolean> {
  // Ours has no folder yet: one with our number is that of an earlier process; in a container every one is.
  if (pid === process.pid || !isAlive(pid)) return false;
  const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  return program === undefined || /\/node( \(deleted\))?$/.test(program);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** Says whose a folder of workspaces is, `<host>-<pid>`; its name is seen inside sandboxes and does not. */
const ownerFile = 'owner';

/** Makes the folder for workspaces, which the tools' users may pass through. */
export async function makeWorkFolder({ work }: DataFolders): Promise<void> {
  await mkdir(work, { recursive: true, mode: 0o711 });
  for (const folder of [dirname(work), work]) await chmod(folder, 0o711);
  await writeFile(join(work, ownerFile), `${hostname()}-${process.pid}`, { mode: 0o600 });
}
