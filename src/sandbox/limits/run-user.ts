import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { RunFailed } from '../../domain/run.ts';

/** Outside the ranges of system users and of containers, and not `nobody`, which other services may run as. */
const [firstUid, lastUid] = [61_234, 62_233];

/** A user that no other run on this machine has. */
export interface RunUser {
  uid: number;
  release(): Promise<void>;
}

/**
 * Takes the first free uid. The kernel limits much per user (inotify watches, pipe buffers, signals), so runs with the
 * same uid could use up each other's share. A uid that has a process is skipped, whoever started it.
 */
export async function takeRunUser(): Promise<RunUser> {
  const inUse = await usersOfProcesses();
  for (let uid = firstUid; uid <= lastUid; uid++) {
    const release = inUse.has(uid) ? undefined : await hold(uid);
    if (release !== undefined) return { uid, release };
  }
  throw new RunFailed(
    'sandbox',
    `no user is free for the run: all from ${firstUid} to ${lastUid} have processes; end them, or start fewer runs`,
  );
}

/**
 * Reserves a uid for this process; undefined when another process has reserved it. The lock is an abstract unix socket,
 * which exists in the kernel only, so it disappears however its holder ends.
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

/** The uids of all running processes. Takes about 3 ms for 1,000 processes. */
async function usersOfProcesses(): Promise<Set<number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return new Set(pids.flatMap((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? []));
}
