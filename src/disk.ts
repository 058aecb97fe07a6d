import { stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { freeBytes, makeReserve, reserveBytes } from './db/embedded/reserve.ts';

const megabyte = 2 ** 20;
/** If less is free, a warning is logged and `doctor` reports a failure. */
export const lowBytes = 1024 * megabyte;
/** If less is free, no run is started, because the database needs the rest. */
const fullBytes = 2 * reserveBytes;
const lookMs = 5000;

/** Returns whether the disk of a folder has room for another run. */
export async function hasRoom(folder: string): Promise<boolean> {
  return (await freeBytes(folder)) >= fullBytes;
}

/**
 * Watches the disks of these folders and logs a warning each time one becomes low. Creates the reserve of an embedded
 * database in `databaseFolder` whenever there is room for it. Returns a function that stops it.
 */
export function watchDisks(folders: string[], databaseFolder: string | undefined, log: Logger): () => void {
  const low = new Set<string>();
  const look = async () => {
    if (databaseFolder !== undefined) await makeReserve(databaseFolder);
    const disks = new Set<number>();
    for (const folder of folders) {
      const { dev } = await stat(folder);
      if (disks.has(dev)) continue;
      disks.add(dev);
      const free = await freeBytes(folder);
      if (low.has(folder) === free < lowBytes) continue;
      if (low.delete(folder)) log.info(`the disk of ${folder} has enough space again: ${inMegabytes(free)} are free`);
      else {
        low.add(folder);
        log.warn(`only ${inMegabytes(free)} are free on the disk of ${folder}; free some space there`);
      }
    }
  };
  let isLooking = false;
  let failed = '';
  const lookOnce = async () => {
    if (isLooking) return;
    isLooking = true;
    await look().catch((error: Error) => {
      if (error.message !== failed) log.warn({ err: error }, 'the free disk space could not be read');
      failed = error.message;
    });
    isLooking = false;
  };
  void lookOnce();
  const timer = setInterval(lookOnce, lookMs).unref();
  return () => clearInterval(timer);
}

export function inMegabytes(bytes: number): string {
  return Number.isFinite(bytes) ? `${Math.floor(bytes / megabyte)} MB` : 'an unknown number of MB';
}
