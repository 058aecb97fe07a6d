import { spawn } from 'node:child_process';
import { readFile, statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunFailed } from '../../domain/run.ts';
import type { Exceeded, RunLimits, WatchedRun } from '../sandbox.ts';
import { deletedFiles, exactMemory, type ProcessUse, processUse } from './process-use.ts';

/** Free space and free inodes of the machine. */
export interface FreeSpace {
  disk: number;
  files: number;
  memory: number;
}

/** Returns how much must stay free on a disk while runs write to it: 5 % of its size, at most 512 MB. */
function usualReserve(diskBytes: number): number {
  return Math.min(diskBytes / 20, 512 * 1024 ** 2);
}

/**
 * Returns the free bytes and inodes, without counting files. Returns `Infinity` for what the system does not report.
 */
async function freeSpaceOf(folder: string): Promise<FreeSpace & { diskSize: number }> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(folder);
  const meminfo = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const memory = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? Number.POSITIVE_INFINITY) * 1024;
  // Some file systems create inodes as needed and report 0.
  const filesLeft = files === 0 ? Number.POSITIVE_INFINITY : ffree;
  return { disk: bavail * bsize, files: filesLeft, memory, diskSize: blocks * bsize };
}

/**
 * Returns how much space these folders take on disk, in bytes or in files. Takes 0.06 s for 23,000 files.
 * @throws Error when `signal` aborts it, or when `du` reports nothing
 */
async function diskUse(folders: string[], unit: 'bytes' | 'files', signal: AbortSignal): Promise<number> {
  // Without an argument `du` would measure its working directory.
  if (folders.length === 0) return 0;
  const du = ['du', unit === 'bytes' ? '-sckx' : '-scx', ...(unit === 'files' ? ['--inodes'] : []), '--', ...folders];
  // Commands that run as the service's own user can remove its permissions on folders. As root of a user namespace,
  // `du` can read them anyway.
  const asRoot = process.getuid?.() === 0 ? [] : ['unshare', '--user', '--map-root-user'];
  const total = (await totalOf([...asRoot, ...du], signal)) ?? (await totalOf(du, signal));
  if (total === undefined) throw new Error(`du did not report the size of ${folders.join(', ')}`);
  return unit === 'bytes' ? total * 1024 : total;
}

/**
 * Returns the total from the last line of `du -c`. The exit code is ignored, because `du` fails when files disappear
 * while it counts.
 */
async function totalOf(command: string[], signal: AbortSignal): Promise<number | undefined> {
  const child = spawn('nice', ['-n', '19', ...command], {
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
    signal,
    killSignal: 'SIGKILL',
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  await new Promise<void>((resolve, reject) => child.once('error', reject).once('close', () => resolve()));
  const total = /^(\d+)\ttotal$/m.exec(output)?.[1];
  return total === undefined ? undefined : Number(total);
}

export interface DiskWatch {
  /** Checks the free space of the machine and starts a count of the run's files if necessary. */
  look(): Promise<void>;
  /** Returns the memory held by deleted files of the run (`memfd_create`), as of the last count. */
  deletedMemory(): number;
  stop(): void;
}

interface Count {
  at: number;
  tookMs: number;
  /** The free space and inodes of the machine before the count. */
  space: FreeSpace;
  /** The free inodes of the machine when files were last counted. */
  inodes: number;
  /** What the run uses. Disk and memory are in bytes and include deleted files that are still open. */
  used: FreeSpace;
}

/**
 * A run's files are counted again when the machine has lost this fraction of one of the run's limits since the last
 * count.
 */
const noticeableShare = 1 / 16;
/** The longest and the shortest pause between two counts. */
const [longestMs, shortestMs] = [30_000, 500];
/** A pause is at least this many times as long as the count before it. */
const pausePerCount = 20;
/** The limit on files: one for each 4 kB of disk that a run may use. */
const filesPerMb = 256;
const mb = 1024 ** 2;

/** All runs of this process, to find the largest one. */
const watched = new Set<{ count(): Promise<Count>; end(why: string): void }>();

/**
 * Ends a run that uses too much disk. When less than the reserve is free on the disk, ends the run that uses the most.
 */
function watchDisk(run: WatchedRun, reserve: typeof usualReserve, end: (why: string) => void): DiskWatch {
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
        end(`the run created more than ${limits.files} files (${filesPerMb} for each MB of MAX_RUN_DISK_MB)`);
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
        // Measuring fails when the workspace is removed at the same time.
        const isGone = stopped.signal.aborted || !run.folders.has(folder);
        if (!isGone) end(`the disk that the run uses cannot be measured: ${error.message}`);
      };
      try {
        const space = await freeSpaceOf(folder);
        if (isCountDue(last, space, limits)) count().catch(failed);
        const reserveBytes = reserve(space.diskSize);
        if (space.disk < reserveBytes) await endLargest(reserveBytes);
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

function limitsOf({ diskMb, memoryMb }: RunLimits): FreeSpace {
  return { disk: diskMb * mb, files: diskMb * filesPerMb, memory: memoryMb * mb };
}

const kinds = ['disk', 'files', 'memory'] as const;

function isCountDue(last: Count | undefined, space: FreeSpace, limits: FreeSpace): boolean {
  if (last === undefined) return true;
  const sinceMs = performance.now() - last.at;
  const lost = (kind: keyof FreeSpace) => (last.space[kind] - space[kind]) / limits[kind];
  // The machine has lost so much space that this run may have exceeded a limit.
  if (kinds.some((kind) => lost(kind) > 1 - last.used[kind] / limits[kind])) return sinceMs > shortestMs;
  const pauseMs = kinds.some((kind) => lost(kind) > noticeableShare) ? shortestMs : longestMs;
  return sinceMs > Math.max(pauseMs, last.tookMs * pausePerCount);
}

/** Measures the bytes. Counts the files only if the machine lost many inodes since the last count. */
async function countUse(
  { folders, sandboxes }: WatchedRun,
  limits: FreeSpace,
  last: Count | undefined,
  signal: AbortSignal,
): Promise<Count> {
  const began = performance.now();
  const [folder = '/'] = folders;
  const space = await freeSpaceOf(folder);
  const deleted = await deletedFiles(sandboxes, folder);
  const disk = (await diskUse([...folders], 'bytes', signal)) + deleted.disk;
  const isCounted = last !== undefined && (last.inodes - space.files) / limits.files < noticeableShare;
  const files = isCounted ? last.used.files : await diskUse([...folders], 'files', signal);
  const inodes = isCounted ? last.inodes : space.files;
  const at = performance.now();
  return { at, tookMs: at - began, space, inodes, used: { disk, files, memory: deleted.memory } };
}

/** Runs that use less than this are not ended to free space for others. */
const leastBytes = 64 * mb;
/** How long to wait for the space that an ended run releases before another run is ended. */
const reliefMs = 10_000;
let isRelieved = false;

/** Ends the run that uses the most disk, so that the others can continue. */
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

export interface Watch {
  /** Checks the limits now, without waiting for a count of files. Never throws. */
  look(): Promise<void>;
  stop(): void;
}

/**
 * The pause between two checks. It grows so that checks take at most a twentieth of the time: a check takes 2 ms for 30
 * processes and 60 ms for 1,000.
 */
const [pauseMs, busyShare] = [500, 20];

/** Ends a run soon after it exceeds one of its limits. */
export function watchRun(run: WatchedRun, reserve = usualReserve): Watch {
  let isOver = false;
  const end = (why: string) => {
    if (isOver) return;
    isOver = true;
    run.end(new RunFailed('sandbox', why));
  };
  const disk = watchDisk(run, reserve, end);
  const look = async () => {
    try {
      const exceeded = run.exceeded === undefined ? await exceededBy(run, disk) : await run.exceeded();
      if (exceeded !== undefined && !isOver) end(sentences[exceeded](run.limits));
      await disk.look();
    } catch (error) {
      end(`what the run uses cannot be measured: ${(error as Error).message}`);
    }
  };
  const keepLooking = async () => {
    while (!isOver) {
      const began = performance.now();
      await look();
      await sleep(Math.max(pauseMs, (performance.now() - began) * busyShare), undefined, { ref: false });
    }
  };
  void keepLooking();
  return {
    look,
    stop: () => {
      isOver = true;
      disk.stop();
    },
  };
}

const sentences: Record<Exceeded, (limits: RunLimits) => string> = {
  memory: ({ memoryMb }) => `the run used more than ${memoryMb} MB of memory (MAX_RUN_MEMORY_MB)`,
  processes: ({ processes }) => `the run had more than ${processes} processes and threads (MAX_RUN_PROCESSES)`,
};

async function exceededBy(run: WatchedRun, disk: DiskWatch): Promise<Exceeded | undefined> {
  const { memoryMb, processes } = run.limits;
  const use = await processUse(run.sandboxes, processes);
  if (use.processes > processes) return 'processes';
  // A deleted file may also be mapped into memory. Do not count it twice.
  const isTooMuch = ({ ownMemory, sharedMemory }: Omit<ProcessUse, 'processes'>) =>
    ownMemory + Math.max(sharedMemory, disk.deletedMemory()) > memoryMb * 1024 ** 2;
  // The quick count includes shared memory once per process, so it only decides whether an exact count is needed.
  return isTooMuch(use) && isTooMuch(await exactMemory(run.sandboxes)) ? 'memory' : undefined;
}
