import type { Socket } from 'node:net';
import { AppError } from '../../errors.ts';

/**
 * Requests of one user at the same time, each until its client has read the reply. The database pool has 20 connections,
 * so a user with slow requests must leave some of them to others.
 */
const maxAtOnce = 8;
const maxWaiting = 1000;

/** Releases the slot. Calling it again has no effect. */
export type Leave = () => void;

interface Line {
  active: number;
  /** In the order of their arrival. Calling one lets its request begin. */
  waiting: Set<() => void>;
}

/**
 * Limits how many requests of each user are handled at the same time. Further ones wait in the order of their arrival,
 * for as long as their client stays connected. A client may disconnect once its request has begun.
 */
export function userLines(): (userId: string, client: Socket) => Promise<Leave> {
  const lines = new Map<string, Line>();
  return async (userId, client) => {
    const line = lines.get(userId) ?? { active: 0, waiting: new Set() };
    lines.set(userId, line);
    if (line.waiting.size >= maxWaiting)
      throw new AppError(429, `At most ${maxWaiting} requests of a user may wait; send fewer at the same time`, {
        headers: { 'Retry-After': '1' },
      });
    if (line.active < maxAtOnce) line.active += 1;
    else await turnIn(line, client);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const [next] = line.waiting;
      // Pass the slot on to the next request.
      if (next !== undefined) return next();
      line.active -= 1;
      if (line.active === 0) lines.delete(userId);
    };
  };
}

/** Resolves when a request has been given a slot. @throws AppError 400 if its client disconnects first */
function turnIn({ waiting }: Line, client: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      waiting.delete(begin);
      client.removeListener('close', drop);
      resolve();
    };
    const drop = () => {
      waiting.delete(begin);
      reject(new AppError(400, 'The connection ended before the request began'));
    };
    if (client.destroyed) return drop();
    waiting.add(begin);
    client.once('close', drop);
  });
}
