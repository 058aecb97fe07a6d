import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Gate } from './gate.ts';
import type { Fleet } from './processes.ts';
import type { Servers } from './servers.ts';

export interface Trouble {
  name: string;
  /** Makes the trouble and ends it. Returns why it cannot be made on this machine, if so. */
  happens(): Promise<string | undefined>;
}

const faketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const awayMs = 3000;
/** How long a run tries to reach GitHub (`REMOTE_RETRY_SECONDS`), which should be unreachable for longer. */
export const retrySeconds = 5;
/** The service asks for 128 MB before it starts a run. */
const smallDisk = '400m';
const fullMs = 10_000;

interface Given {
  fleet: Fleet;
  servers: Servers;
  github: Gate;
  dir: string;
  /** How long GitHub cannot be reached. */
  awaySeconds: number;
}

/** Returns what happens to the fleet, in this order. */
export function troublesOf({ fleet, servers, github, dir, awaySeconds }: Given): Trouble[] {
  const always = (name: string, act: () => Promise<void>): Trouble => ({
    name,
    happens: async () => {
      await act();
      return undefined;
    },
  });
  return [
    always('no trouble', () => sleep(awayMs)),
    always('PostgreSQL restarts', servers.restart),
    always('PostgreSQL is killed', () => servers.kill(awayMs)),
    always('the replica takes over', servers.failOver),
    always('a worker is killed', () => fleet.replaceWorker(0, 'SIGKILL')),
    always('the web process is killed', fleet.killWeb),
    always('all workers restart, one by one', async () => {
      for (const index of fleet.workers.keys()) await fleet.replaceWorker(index);
    }),
    always('the web process is replaced', fleet.replaceWeb),
    { name: 'the clock of a worker is an hour ahead', happens: () => worksAnHourAhead(fleet) },
    { name: 'the disk of a worker is full', happens: () => fillsDisk(fleet, join(dir, 'small')) },
    always('GitHub refuses connections', async () => {
      await github.shut();
      await sleep(awaySeconds * 1000);
      await github.open();
    }),
  ];
}

/** From then on, for the rest of the bench. */
async function worksAnHourAhead(fleet: Fleet): Promise<string | undefined> {
  if (!existsSync(faketime)) return 'libfaketime is not installed (Debian: libfaketime)';
  await fleet.replaceWorker(1, 'SIGTERM', { LD_PRELOAD: faketime, FAKETIME: '+1h', DONT_FAKE_MONOTONIC: '1' });
  return undefined;
}

/** Lets a worker use a small disk in memory, fills that for a while, and empties it again. */
async function fillsDisk(fleet: Fleet, folder: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root may mount a small disk';
  await mkdir(folder, { mode: 0o755 });
  await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', `size=${smallDisk},mode=0755`, 'tmpfs', folder]);
  await fleet.replaceWorker(2, 'SIGTERM', { DATA_DIR: folder });
  await sleep(fullMs / 2);
  const filler = join(folder, 'filler');
  const { bavail, bsize } = await statfs(folder);
  await writeFile(filler, Buffer.alloc(bavail * bsize)).catch((error: NodeJS.ErrnoException) => {
    // The worker has taken some of the space in the meantime.
    if (error.code !== 'ENOSPC') throw error;
  });
  await sleep(fullMs);
  await rm(filler);
  return undefined;
}

/** Unmounts the small disk, once no process uses it. */
export async function freeSmallDisk(dir: string): Promise<void> {
  const folder = join(dir, 'small');
  if (existsSync(folder)) await promisify(execFile)('umount', [folder]).catch(() => {});
}
