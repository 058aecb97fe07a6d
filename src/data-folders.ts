import { chmod, mkdir, readdir, readlink, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { isAlive, isReachable } from './db/embedded.ts';
import { reachableRoot } from './db/embedded-binaries.ts';
import { hasRoom } from './disk.ts';
import { removeTree } from './sandbox/remove-tree.ts';

/** Where a process keeps what it works with. */
export interface DataFolders {
  /** The data folder, or a folder elsewhere when the tools' user cannot pass into that one. */
  place: string;
  /** Workspaces of this process. */
  work: string;
  /** Programs that the tools run. */
  tools: string;
  gitCache: string;
}

/** Names the folders, and makes the first of them. */
export async function openDataFolders(dataDir: string): Promise<DataFolders> {
  const place = await reachableDir(dataDir);
  return {
    place,
    work: join(place, 'runs', `${hostname()}-${process.pid}`),
    tools: join(place, 'tools'),
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
  await clearWorkspaces(join(place, 'runs'), work, remove);
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
async function clearWorkspaces(all: string, own: string, remove: (folder: string) => Promise<void>): Promise<void> {
  for (const name of await namesIn(all)) {
    const folder = join(all, name);
    const [, host, pid] = /^(?:(.*)-)?(\d+)$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const isHere = host === undefined || host === hostname();
    // Another worker that starts may have removed it by now.
    const changedMs = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    const isLeft = isHere ? !(await isService(Number(pid))) : changedMs < Date.now() - forgottenMs;
    // A folder with our own number is that of an earlier process; in a container every one is.
    if (isLeft || folder === own) await remove(folder);
  }
}

/** Whether a process with that number may be one of ours; a program that is not Node has got a used number. */
async function isService(pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  return program === undefined || /\/node( \(deleted\))?$/.test(program);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** Makes the folder for workspaces, which the tools' uid may pass through. */
export async function makeWorkFolder({ place, work }: DataFolders): Promise<void> {
  const all = join(place, 'runs');
  await mkdir(work, { recursive: true, mode: 0o711 });
  for (const folder of [all, work]) await chmod(folder, 0o711);
}
