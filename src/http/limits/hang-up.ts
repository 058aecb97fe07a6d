import type { Request, Response } from 'express';
import { freeNow } from './read-body.ts';

/** A client that sends first and reads later needs its bytes to be taken, or it sees a broken connection instead of the answer. */
const drainMs = 2000;
const drainBytes = 32 * 1024 * 1024;
/** Chunks of a few bytes take more time than they hold data. */
const minChunkCost = 1024;
/** Beyond this many at once, connections are closed without waiting for their senders. */
const maxDraining = 32;
let draining = 0;

/** Whether a body is announced that has not arrived whole. */
export function isUnread(req: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = req.headers;
  return !req.complete && (coding !== undefined || Number(length) > 0);
}

/**
 * Answers a request whose body nobody will read, and closes its connection: left open, all of the body would be received
 * for nothing. What still comes is discarded for a moment.
 */
export function answerAndHangUp(req: Request, res: Response, body: string): void {
  res.setHeader('Connection', 'close');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  if (draining >= maxDraining || req.destroyed) {
    res.end(body);
    return;
  }
  draining += 1;
  // With its length known the answer is complete for the client before the connection ends.
  res.write(body);
  let left = drainBytes;
  const discard = (chunk: Buffer) => {
    left -= Math.max(chunk.length, minChunkCost);
    freeNow(chunk);
    if (left < 0) end();
  };
  const end = () => {
    clearTimeout(late);
    req.removeListener('data', discard).removeListener('end', end).removeListener('close', end);
    draining -= 1;
    res.end();
  };
  const late = setTimeout(end, drainMs);
  req.on('data', discard).once('end', end).once('close', end);
  req.resume();
}
