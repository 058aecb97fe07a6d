import type { ServerResponse } from 'node:http';
import { AppError } from '../../errors.ts';
import { bodyBudget } from './body-budget.ts';

const megabyte = 1024 * 1024;

/** A user with more unread replies gets no further ones. Several large ones may be on their way through a slow network. */
const maxOfUser = 16 * megabyte;

/** Beyond the total, the connection of the largest reply to the user with the most unread bytes is closed. */
const budget = bodyBudget({ total: 64 * megabyte, each: 64 * megabyte });

/** @throws AppError 429 while the user leaves too much of earlier replies unread */
export function assertReadsReplies(userId: string): void {
  if (budget.heldBy(userId) < maxOfUser) return;
  const message = `Over ${maxOfUser / megabyte} MB of earlier replies are unread; read them or close their connections first`;
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
