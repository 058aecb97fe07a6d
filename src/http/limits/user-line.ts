import { AppError } from '../../errors.ts';

/** The pool of the database has 20 connections; a user whose calls wait for something must leave some to others. */
const maxAtOnce = 8;
const maxWaiting = 1000;

/** Leaves the line; calling it again does nothing. */
export type Leave = () => void;

interface Line {
  atWork: number;
  waiting: (() => void)[];
}

/** Lets a few requests of each user be worked on at once; the others wait in the order in which they came. */
export function userLines(): (userId: string) => Promise<Leave> {
  const lines = new Map<string, Line>();
  return async (userId) => {
    const line = lines.get(userId) ?? { atWork: 0, waiting: [] };
    lines.set(userId, line);
    if (line.waiting.length >= maxWaiting)
      throw new AppError(429, `At most ${maxWaiting} requests of a user may wait; send fewer at once`, {
        headers: { 'Retry-After': '1' },
      });
    if (line.atWork < maxAtOnce) line.atWork += 1;
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const next = line.waiting.shift();
      // The place is handed on.
      if (next !== undefined) return next();
      line.atWork -= 1;
      if (line.atWork === 0) lines.delete(userId);
    };
  };
}
