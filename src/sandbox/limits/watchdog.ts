import { setTimeout as sleep } from 'node:timers/promises';
import { RunFailed } from '../../domain/run.ts';
import type { Exceeded, RunLimits, WatchedRun } from '../sandbox.ts';
import { type DiskWatch, usualReserve, watchDisk } from './disk-use.ts';
import { exactMemory, type ProcessUse, processUse } from './process-use.ts';

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
