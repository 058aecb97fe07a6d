import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Whom the kernel ends first when memory runs out: processes have a score from -1000 (never) to 1000 (first), which their
 * children inherit. Without the service everything stops and without PostgreSQL too, while git can be run again; sandboxes
 * have 1000 (src/sandbox). Going lower takes root's rights (CAP_SYS_RESOURCE); a container gets it from its engine
 * (compose.yaml). Children of PostgreSQL's server go back to 0 (its PG_OOM_ADJUST settings): it recovers from their end.
 */
export const oomScores = { databaseServer: -900, service: -500, databaseChild: 0, child: 500 } as const;

const fileOf = (pid: number | 'self') => `/proc/${pid}/oom_score_adj`;

/** Lowers the score of a process where that is allowed; one that was given a lower score before keeps it. */
export function protectFromOom(pid: number | 'self' | undefined, score: number): void {
  try {
    if (pid !== undefined && Number(readFileSync(fileOf(pid), 'utf8')) > score)
      writeFileSync(fileOf(pid), String(score));
  } catch {
    // Not allowed, not Linux, or gone.
  }
}

/** Raises the score of a child just spawned, so that it inherits no protection from the service. */
export function exposeToOom(pid: number | undefined): void {
  try {
    if (pid !== undefined) writeFileSync(fileOf(pid), String(oomScores.child));
  } catch {
    // Not Linux, or gone.
  }
}
