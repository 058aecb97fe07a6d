import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { RunFailed } from '../../domain/run.ts';

/** Not nobody, whose limits PostgreSQL would share; users of the system and of containers are outside of this range. */
const [firstUid, lastUid] = [61_234, 62_233];

/** A user that only one run on this machine has. */
export interface RunUser {
  uid: number;
  release(): Promise<void>;
}

/**
 * Takes the first free uid. The kernel counts much per user (inotify watches, buffers of pipes, signals), so that runs
 * with the same one could take it from each other. A uid that still has a process is passed over, whoever started it.
 */
export async function takeRunUser(): Promise<RunUser> {
  const inUse = await usersOfProcesses();
  for (let uid = firstUid; uid <= lastUid; uid++) {
    const release = inUse.has(uid) ? undefined : await hold(uid);
    if (release !== undefined) return { uid, release };
  }
  throw new RunFailed('sandbox', `none of the users ${firstUid} to ${lastUid} is free for the run`);
}

/**
 * Holds a uid for this process, or answers undefined while another one does. The lock is the name of a unix socket that
 * exists in the kernel only, so it ends with its holder, however that one ends.
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

/** About 3 ms for 1,000 processes. */
async function usersOfProcesses(): Promise<Set<number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return new Set(pids.flatMap((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? []));
}
