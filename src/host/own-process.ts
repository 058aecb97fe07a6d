import { readFileSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/**
 * Returns the variable with which a process or thread uses the compile cache of this process, if it has one. With it, a
 * thread starts with half the processor time, because Node need not remove the types of its modules again.
 */
export function sharedCompileCache(): Record<string, string> {
  const ofThisVersion = getCompileCacheDir();
  return ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) };
}

/** How far the heap may grow beyond what was live at the last collection, in percent, before the next one starts. */
const growthPercent = 50;

/**
 * Limits how far the heap grows between two collections of its old generation. V8's default is up to four times the live
 * objects, and it keeps most of the pages that it frees, so the service would hold the memory of its busiest minute.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}

/**
 * OOM scores, which decide which processes the kernel kills first when memory runs out: from -1000 (never) to 1000
 * (first). Children inherit the score. The service and PostgreSQL come last, because nothing works without them. Git
 * can be run again, and sandboxes have 1000 (src/sandbox). Lowering a score requires CAP_SYS_RESOURCE, or the container
 * engine (compose.yaml). Children of PostgreSQL's server return to 0 (PG_OOM_ADJUST), because the server recovers when
 * one of them is killed.
 */
export const oomScores = { databaseServer: -900, service: -500, databaseChild: 0, child: 500 } as const;

const fileOf = (pid: number | 'self') => `/proc/${pid}/oom_score_adj`;

/** Lowers the OOM score of a process if the kernel permits it. Leaves a lower score unchanged. */
export function protectFromOom(pid: number | 'self' | undefined, score: number): void {
  try {
    if (pid !== undefined && Number(readFileSync(fileOf(pid), 'utf8')) > score)
      writeFileSync(fileOf(pid), String(score));
  } catch {
    // Not permitted, not on Linux, or the process is gone.
  }
}

/** Raises the OOM score of a new child process, so that it does not keep the low score inherited from the service. */
export function exposeToOom(pid: number | undefined): void {
  try {
    if (pid !== undefined) writeFileSync(fileOf(pid), String(oomScores.child));
  } catch {
    // Not on Linux, or the process is gone.
  }
}
