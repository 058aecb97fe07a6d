import { AppError } from '../../errors.ts';

/** The database pool has 20 connections. A user whose requests are slow must leave some of them to others. */
const maxAtOnce = 8;
const maxWaiting = 1000;

/** Gives up the place; calling it again does nothing. */
export type Leave = () => void;

interface Line {
  active: number;
  waiting: (() => void)[];
}

/** Handles a few requests of each user at a time; the others wait in the order in which they arrived. */
export function userLines(): (userId: string) => Promise<Leave> {
  const lines = new Map<string, Line>();
  return async (userId) => {
    const line = lines.get(userId) ?? { active: 0, waiting: [] };
    lines.set(userId, line);
    if (line.waiting.length >= maxWaiting)
      throw new AppError(429, `At most ${maxWaiting} requests of a user may wait; send fewer at once`, {
        headers: { 'Retry-After': '1' },
      });
    if (line.active < maxAtOnce) line.active += 1;
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const next = line.waiting.shift();
      // The next request takes over the place.
      if (next !== undefined) return next();
      line.active -= 1;
      if (line.active === 0) lines.delete(userId);
    };
  };
}
