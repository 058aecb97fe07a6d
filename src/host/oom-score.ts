import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Decides which processes the kernel ends first when memory runs out. A score is from -1000 (never) to 1000 (first) and
 * children inherit it. The service and PostgreSQL come last, because nothing works without them. Git can be run again, and
 * sandboxes have 1000 (src/sandbox). Lowering a score takes CAP_SYS_RESOURCE, or the container engine (compose.yaml).
 * Children of PostgreSQL's server go back to 0 (PG_OOM_ADJUST), because it recovers when one of them is ended.
 */
export const oomScores = { databaseServer: -900, service: -500, databaseChild: 0, child: 500 } as const;

const fileOf = (pid: number | 'self') => `/proc/${pid}/oom_score_adj`;

/** Lowers the score of a process, where that is allowed. A process that has a lower one keeps it. */
export function protectFromOom(pid: number | 'self' | undefined, score: number): void {
  try {
    if (pid !== undefined && Number(readFileSync(fileOf(pid), 'utf8')) > score)
      writeFileSync(fileOf(pid), String(score));
  } catch {
    // Not allowed, not on Linux, or the process is gone.
  }
}

/** Raises the score of a new child process, so that it does not keep the score it inherits from the service. */
export function exposeToOom(pid: number | undefined): void {
  try {
    if (pid !== undefined) writeFileSync(fileOf(pid), String(oomScores.child));
  } catch {
    // Not on Linux, or the process is gone.
  }
}
