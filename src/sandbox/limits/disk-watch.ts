import type { RunLimits } from '../sandbox.ts';
import { diskUse, type Room, roomLeft, type usualReserve } from './disk-use.ts';
import { deletedFiles } from './process-use.ts';
import type { WatchedRun } from './watchdog.ts';

export interface DiskWatch {
  /** Compares what is free with what was; counts the run's files when that tells to, without waiting for it. */
  look(): Promise<void>;
  /** Memory that deleted files of the run take (`memfd_create`), as of the last count. */
  deletedMemory(): number;
  stop(): void;
}

interface Count {
  at: number;
  tookMs: number;
  /** The machine's room before the count. */
  room: Room;
  /** The machine's free inodes when the files were last counted. */
  inodes: number;
  /** Disk and memory in bytes; deleted files that are still open are part of both. */
  used: Room;
}

/** The files of a run are counted when the machine has lost this share of one of the run's limits. */
const noticeableShare = 1 / 16;
/** How often to count them anyway, and how often at most: counting takes a twentieth of the time. */
const [longestMs, shortestMs, busyShare] = [30_000, 500, 20];
/** A limit on files: one for each 4 kB of the disk that a run may use. */
const filesPerMb = 256;
const mb = 1024 ** 2;

/** All runs of this process that use a disk. */
const watched = new Set<{ count(): Promise<Count>; end(why: string): void }>();

/** Ends a run that uses too much disk, or the largest of all runs when less than the reserve is free. */
export function watchDisk(run: WatchedRun, reserve: typeof usualReserve, end: (why: string) => void): DiskWatch {
  const limits = limitsOf(run.limits);
  let last: Count | undefined;
  const stopped = new AbortController();
  let counting: Promise<Count> | undefined;
  const count = () => {
    counting ??= countUse(run, limits, last, stopped.signal).finally(() => {
      counting = undefined;
    });
    return counting.then((counted) => {
      last = counted;
      const { disk, files } = counted.used;
      if (disk > limits.disk) end(`the run used more than ${run.limits.diskMb} MB of disk (MAX_RUN_DISK_MB)`);
      if (files > limits.files)
        end(`the run made more than ${limits.files} files (${filesPerMb} for each MB of MAX_RUN_DISK_MB)`);
      return counted;
    });
  };
  const entry = { count, end };
  watched.add(entry);
  return {
    look: async () => {
      const [folder] = run.folders;
      if (folder === undefined) return;
      const failed = (error: Error) => {
        // A workspace may be removed while it is looked at.
        const isGone = stopped.signal.aborted || !run.folders.has(folder);
        if (!isGone) end(`the disk that the run uses cannot be measured: ${error.message}`);
      };
      try {
        const room = await roomLeft(folder);
        if (isCountDue(last, room, limits)) count().catch(failed);
        const reserveBytes = reserve(room.diskSize);
        if (room.disk < reserveBytes) await endLargest(reserveBytes);
      } catch (error) {
        failed(error as Error);
      }
    },
    deletedMemory: () => last?.used.memory ?? 0,
    stop: () => {
      watched.delete(entry);
      stopped.abort();
    },
  };
}

function limitsOf({ diskMb, memoryMb }: RunLimits): Room {
  return { disk: diskMb * mb, files: diskMb * filesPerMb, memory: memoryMb * mb };
}

const kinds = ['disk', 'files', 'memory'] as const;

function isCountDue(last: Count | undefined, room: Room, limits: Room): boolean {
  if (last === undefined) return true;
  const sinceMs = performance.now() - last.at;
  const lost = (kind: keyof Room) => (last.room[kind] - room[kind]) / limits[kind];
  // It may be over a limit by now.
  if (kinds.some((kind) => lost(kind) > 1 - last.used[kind] / limits[kind])) return sinceMs > shortestMs;
  const pauseMs = kinds.some((kind) => lost(kind) > noticeableShare) ? shortestMs : longestMs;
  return sinceMs > Math.max(pauseMs, last.tookMs * busyShare);
}

/** `du` once for the bytes, and once more for the files where the machine lost many of its inodes. */
async function countUse(
  { folders, sandboxes }: WatchedRun,
  limits: Room,
  last: Count | undefined,
  signal: AbortSignal,
): Promise<Count> {
  const began = performance.now();
  const [folder = '/'] = folders;
  const room = await roomLeft(folder);
  const deleted = await deletedFiles(sandboxes, folder);
  const disk = (await diskUse([...folders], 'bytes', signal)) + deleted.disk;
  const isCounted = last !== undefined && (last.inodes - room.files) / limits.files < noticeableShare;
  const files = isCounted ? last.used.files : await diskUse([...folders], 'files', signal);
  const inodes = isCounted ? last.inodes : room.files;
  const at = performance.now();
  return { at, tookMs: at - began, room, inodes, used: { disk, files, memory: deleted.memory } };
}

/** What a run must use at least to be ended for others, and how long to wait for the room that its end makes. */
const [leastBytes, reliefMs] = [64 * mb, 10_000];
let isRelieved = false;

/** Ends the run that uses the most disk, so that the others can go on. */
async function endLargest(reserveBytes: number): Promise<void> {
  if (isRelieved) return;
  isRelieved = true;
  setTimeout(() => {
    isRelieved = false;
  }, reliefMs).unref();
  const counted = await Promise.all(
    [...watched].map(async (run) => ({ ...run, bytes: (await run.count().catch(() => undefined))?.used.disk ?? 0 })),
  );
  const [largest] = counted.sort((a, b) => b.bytes - a.bytes);
  if (largest === undefined || largest.bytes < leastBytes) return;
  const inMb = (bytes: number) => Math.round(bytes / mb);
  largest.end(
    `less than ${inMb(reserveBytes)} MB are free on the worker's disk, and the run used the most of it, ${inMb(largest.bytes)} MB`,
  );
}
