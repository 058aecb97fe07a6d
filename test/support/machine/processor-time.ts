import { readFileSync } from 'node:fs';

// Processor time says how long a thread worked. Unlike elapsed time it does not grow while other processes keep the
// machine busy, or while the machine pauses the thread.

/** Returns the processor time of this thread during `act`, in ms. */
export async function timeOf(act: () => unknown): Promise<number> {
  const began = process.threadCpuUsage();
  await act();
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1000;
}

/** Returns how long this thread handled nothing else during `act`, at most at a time, in ms of processor time. */
export async function longestBlock(act: () => Promise<unknown>): Promise<number> {
  let [longest, last] = [0, process.threadCpuUsage()];
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
  };
  const looking = setInterval(look, 10);
  await act().finally(() => clearInterval(looking));
  look();
  return longest;
}

/** Returns the processor time that the main thread of a process has used so far, in ms. */
export function mainThreadTime(pid: number): number {
  // In ns; see docs.kernel.org/scheduler/sched-stats.html.
  return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8'), 10) / 1e6;
}
