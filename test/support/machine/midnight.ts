import { setTimeout as sleep } from 'node:timers/promises';

const dayMs = 86_400_000;
/** Longer than such a test takes on a busy machine. */
const marginMs = 180_000;

/** Waits until after midnight (UTC) if that is near, for tests whose sprints begin today and are looked at later. */
export async function awayFromMidnight(): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs < marginMs) await sleep(leftMs);
}

/** Returns the date a number of days from today. */
export const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
