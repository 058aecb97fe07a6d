import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { type Remote, remoteSeconds } from './engine.ts';

/** Limits on the resources of git while it talks to a remote; git has none of its own. */
export interface Room {
  /** Memory of each process. */
  memoryBytes: number;
  /** Size of one file; git writes what it receives into a single one. */
  fileBytes: number;
}

/** The default limits. The index of a pack of 10 million objects takes 1 GB. */
const usual: Room = { memoryBytes: 2_000_000_000, fileBytes: 10_000_000_000 };

/** Returns the limits for a fetch, which may use half of the free disk space, so that no remote can fill the disk. */
export async function roomIn(folder: string): Promise<Room> {
  const { bavail, bsize } = await statfs(folder);
  return { ...usual, fileBytes: Math.min(usual.fileBytes, Math.floor((bavail * bsize) / 2)) };
}

/** Added to the time limit that the service enforces. `timeout` then ends git even if the service was killed. */
const graceSeconds = 60;

/**
 * Returns the commands that git is wrapped in: `timeout` and resource limits. If the service is killed, the kernel
 * signals `timeout`, which ends its whole process group. Git alone would leave its transport processes running.
 */
export function guarded({ limitSeconds = remoteSeconds }: Remote, { memoryBytes, fileBytes } = usual): string[] {
  const [setpriv, timeout, prlimit] = ['/usr/bin/setpriv', '/usr/bin/timeout', '/usr/bin/prlimit'];
  if (![setpriv, timeout, prlimit].every((path) => existsSync(path))) return [];
  const time = [timeout, '--kill-after=5', String(limitSeconds + graceSeconds)];
  return [setpriv, '--pdeathsig', 'TERM', ...time, prlimit, `--fsize=${fileBytes}`, `--data=${memoryBytes}`, '--'];
}
