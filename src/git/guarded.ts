import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { type Remote, remoteSeconds } from './engine.ts';

/** What git may take of this machine while it speaks with a remote; it has no such limits of its own. */
export interface Room {
  /** Of each process. */
  memoryBytes: number;
  /** Of one file; what a remote sends is written into one as it comes. */
  fileBytes: number;
}

/** The index of a pack of 10 million objects takes 1 GB. */
const usual: Room = { memoryBytes: 2_000_000_000, fileBytes: 10_000_000_000 };

/** Room for what is fetched into a folder: half of what is free there, so that no remote fills the disk. */
export async function roomIn(folder: string): Promise<Room> {
  const { bavail, bsize } = await statfs(folder);
  return { ...usual, fileBytes: Math.min(usual.fileBytes, Math.floor((bavail * bsize) / 2)) };
}

/** Beyond the limit of an operation; then not even the service was there to end it. */
const graceSeconds = 60;

/**
 * A process that is killed cannot end what it has started, and git that speaks with a remote would go on for as long as that
 * drips. The system tells `timeout` of our end, and it ends its whole group; git alone would leave its children behind.
 */
export function guarded({ limitSeconds = remoteSeconds }: Remote, { memoryBytes, fileBytes } = usual): string[] {
  const [setpriv, timeout, prlimit] = ['/usr/bin/setpriv', '/usr/bin/timeout', '/usr/bin/prlimit'];
  if (![setpriv, timeout, prlimit].every((path) => existsSync(path))) return [];
  const time = [timeout, '--kill-after=5', String(limitSeconds + graceSeconds)];
  return [setpriv, '--pdeathsig', 'TERM', ...time, prlimit, `--fsize=${fileBytes}`, `--data=${memoryBytes}`, '--'];
}
