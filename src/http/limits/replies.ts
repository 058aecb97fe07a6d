import type { ServerResponse } from 'node:http';
import { AppError } from '../../errors.ts';
import { bodyBudget } from './body-budget.ts';

/** Streams that one user may have open in one process. */
const maxStreamsOfUser = 10;
/** Open streams of all users of this process. Each stream checks its caller's access every 800 ms. */
const maxOfAll = 1000;

const retryLater = { headers: { 'Retry-After': '5' } };
const openOf = new Map<string, number>();
let openOfAll = 0;

/**
 * Counts an open event stream. Call the returned function when the stream ends.
 * @throws AppError 429 over the user's limit, 503 over that of the process
 */
export function countStream(userId: string): () => void {
  const count = openOf.get(userId) ?? 0;
  if (count >= maxStreamsOfUser)
    throw new AppError(
      429,
      `You have ${maxStreamsOfUser} windows or programs with live updates open. Close one first`,
      retryLater,
    );
  if (openOfAll >= maxOfAll) throw new AppError(503, 'Too many streams are open; try again later', retryLater);
  openOf.set(userId, count + 1);
  openOfAll += 1;
  return () => {
    const left = (openOf.get(userId) ?? 1) - 1;
    openOfAll -= 1;
    if (left > 0) openOf.set(userId, left);
    else openOf.delete(userId);
  };
}

const megabyte = 1024 * 1024;

/** A user with more unread replies gets no further ones. Several large ones may be on their way through a slow network. */
const maxUnsentOfUser = 16 * megabyte;

/** Beyond the total, the connection of the largest reply to the user with the most unread bytes is closed. */
const budget = bodyBudget({ total: 64 * megabyte, each: 64 * megabyte });

/** @throws AppError 429 while the user leaves too much of earlier replies unread */
export function assertReadsReplies(userId: string): void {
  if (budget.heldBy(userId) < maxUnsentOfUser) return;
  const message = `Over ${maxUnsentOfUser / megabyte} MB of earlier replies are unread; read them or close their connections first`;
  throw new AppError(429, message, { headers: { 'Retry-After': '5' } });
}

/**
 * Counts what a reply keeps in memory until its client has read it or its connection has closed. Call the returned function
 * with the number of bytes whenever it changes.
 */
export function countUnsent(res: ServerResponse, userId: string): (bytes: number) => void {
  const share = budget.enter(userId, () => res.destroy());
  let counted = 0;
  if (res.closed) share.leave();
  else res.once('close', share.leave);
  return (bytes) => {
    share.take(bytes - counted);
    counted = bytes;
  };
}
