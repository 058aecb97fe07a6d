import { setTimeout as sleep } from 'node:timers/promises';
import { RunFailed } from '../../domain/run.ts';
import type { RunLimits } from '../sandbox.ts';
import { usualReserve } from './disk-use.ts';
import { type DiskWatch, watchDisk } from './disk-watch.ts';
import { exactMemory, type ProcessUse, processUse } from './process-use.ts';

/** What is watched of a run. */
export interface WatchedRun {
  limits: RunLimits;
  /** The first processes of its sandboxes, by their pids outside. */
  sandboxes: Set<number>;
  /** Everything that it can write to, all on one disk. */
  folders: Set<string>;
  /** What the kernel says was exceeded, where a cgroup limits the run. */
  exceeded?: (() => Promise<Exceeded | undefined>) | undefined;
  end(why: RunFailed): void;
}

export type Exceeded = 'memory' | 'processes';

export interface Watch {
  /** Looks now, without waiting for the disk. Never throws. */
  look(): Promise<void>;
  stop(): void;
}

/** A look at 30 processes takes 2 ms; at 1,000 of them 60 ms, and then the next one comes later. */
const [pauseMs, busyShare] = [500, 20];

/** Ends a run that takes more than its limits, soon after it did. */
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
  // A deleted file may be mapped as well, and must not count twice.
  const isTooMuch = ({ ownMemory, sharedMemory }: Omit<ProcessUse, 'processes'>) =>
    ownMemory + Math.max(sharedMemory, disk.deletedMemory()) > memoryMb * 1024 ** 2;
  // What processes share is counted for each of them at first.
  return isTooMuch(use) && isTooMuch(await exactMemory(run.sandboxes)) ? 'memory' : undefined;
}
