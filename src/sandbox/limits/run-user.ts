import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { RunFailed } from '../../domain/run.ts';

/** Outside the uid ranges of system users and containers. Not `nobody`, which other services may run as. */
const [firstUid, lastUid] = [61_234, 62_233];

/** A uid that no other run on this machine uses. */
export interface RunUser {
  uid: number;
  release(): Promise<void>;
}

/**
 * Reserves the first free uid. The kernel limits many resources per user (inotify watches, pipe buffers, signals), so
 * runs with the same uid could exhaust them for each other. A uid with a running process is skipped, whoever started
 * that process.
 */
export async function takeRunUser(): Promise<RunUser> {
  const inUse = await usersOfProcesses();
  for (let uid = firstUid; uid <= lastUid; uid++) {
    const release = inUse.has(uid) ? undefined : await hold(uid);
    if (release !== undefined) return { uid, release };
  }
  throw new RunFailed(
    'sandbox',
    `no uid is free for the run: all from ${firstUid} to ${lastUid} are in use; end their processes, or start fewer runs`,
  );
}

/**
 * Reserves a uid for this process; returns undefined when another process holds it. The lock is an abstract unix
 * socket, which exists only in the kernel, so it disappears when its holder ends for any reason.
 */
function hold(uid: number): Promise<(() => Promise<void>) | undefined> {
  const holder = createServer((asked) => asked.destroy()).unref();
  return new Promise((resolve, reject) => {
    holder.once('error', (error: Error & { code?: string }) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    holder.listen(`\0deckhand-user-${uid}`, () =>
      resolve(() => new Promise<void>((released) => void holder.close(() => released()))),
    );
  });
}

/** Returns the uids of all running processes. Takes about 3 ms for 1,000 processes. */
async function usersOfProcesses(): Promise<Set<number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return new Set(pids.flatMap((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? []));
}
