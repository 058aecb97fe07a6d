import type { Request, Response } from 'express';
import { freeNow } from './read-body.ts';

/** A client that reads only after it has sent everything would see a broken connection instead of the answer. */
const drainMs = 2000;
const drainBytes = 32 * 1024 * 1024;
/** What a chunk counts for at least, because tiny chunks cost time rather than bytes. */
const minChunkCost = 1024;
/** With this many connections being drained, further ones are closed at once. */
const maxDraining = 32;
let draining = 0;

/** Whether the request has a body that has not arrived completely. */
export function isUnread(req: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = req.headers;
  return !req.complete && (coding !== undefined || Number(length) > 0);
}

/**
 * Answers a request whose body will not be read, and closes its connection, because otherwise the whole body would be
 * received for nothing. For a short time, arriving bytes are discarded.
 */
export function answerAndHangUp(req: Request, res: Response, body: string): void {
  res.setHeader('Connection', 'close');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  if (draining >= maxDraining || req.destroyed) {
    res.end(body);
    return;
  }
  draining += 1;
  // The client knows the length, so the answer is complete for it before the connection is closed.
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
