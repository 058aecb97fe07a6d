import type { RunFailed } from '../../domain/run.ts';
import type { RunLimits } from '../sandbox.ts';

/** The facts about a run that the watchdog needs. */
export interface WatchedRun {
  limits: RunLimits;
  /** The pids, as the host sees them, of the first process of each sandbox. */
  sandboxes: Set<number>;
  /** Every folder that the run can write to. All are on one disk. */
  folders: Set<string>;
  /** Returns the limit that the kernel reports as exceeded; only for a run with a cgroup. */
  exceeded?: (() => Promise<Exceeded | undefined>) | undefined;
  end(why: RunFailed): void;
}

export type Exceeded = 'memory' | 'processes';
