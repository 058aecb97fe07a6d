import { AppError } from '../../errors.ts';

/**
 * Requests of one user handled at the same time. The database pool has 20 connections, so a user with slow requests
 * must leave some of them to others.
 */
const maxAtOnce = 8;
const maxWaiting = 1000;

/** Releases the slot. Calling it again has no effect. */
export type Leave = () => void;

interface Line {
  active: number;
  waiting: (() => void)[];
}

/**
 * Limits how many requests of each user are handled at the same time. Further ones wait in the order of their arrival.
 */
export function userLines(): (userId: string) => Promise<Leave> {
  const lines = new Map<string, Line>();
  return async (userId) => {
    const line = lines.get(userId) ?? { active: 0, waiting: [] };
    lines.set(userId, line);
    if (line.waiting.length >= maxWaiting)
      throw new AppError(429, `At most ${maxWaiting} requests of a user may wait; send fewer at the same time`, {
        headers: { 'Retry-After': '1' },
      });
    if (line.active < maxAtOnce) line.active += 1;
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const next = line.waiting.shift();
      // Pass the slot on to the next request.
      if (next !== undefined) return next();
      line.active -= 1;
      if (line.active === 0) lines.delete(userId);
    };
  };
}
