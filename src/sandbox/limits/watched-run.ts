import type { RunFailed } from '../../domain/run.ts';
import type { RunLimits } from '../sandbox.ts';

/** What the watchdog needs to know about a run. */
export interface WatchedRun {
  limits: RunLimits;
  /** The pids, as the host sees them, of the first process of each sandbox. */
  sandboxes: Set<number>;
  /** Every folder that the run can write to, all on one disk. */
  folders: Set<string>;
  /** The limit that was exceeded according to the kernel, where a cgroup limits the run. */
  exceeded?: (() => Promise<Exceeded | undefined>) | undefined;
  end(why: RunFailed): void;
}

export type Exceeded = 'memory' | 'processes';
