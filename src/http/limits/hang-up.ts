import type { Request, Response } from 'express';
import { freeNow } from './read-body.ts';

/**
 * How long to drain a body after replying. If the connection were closed immediately, a client that reads only after
 * sending everything would see a broken connection instead of the reply.
 */
const drainMs = 2000;
const drainBytes = 32 * 1024 * 1024;
/** The minimum that a chunk counts against `drainBytes`, because tiny chunks cost time rather than bytes. */
const minChunkCost = 1024;
/** When this many connections are being drained, further ones are closed immediately. */
const maxDraining = 32;
let draining = 0;

/** Returns whether the request has a body that has not arrived completely. */
export function isUnread(req: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = req.headers;
  return !req.complete && (coding !== undefined || Number(length) > 0);
}

/**
 * Replies to a request whose body will not be read and closes its connection, which saves receiving the whole body.
 * Arriving bytes are discarded for a short time before the connection is closed.
 */
export function answerAndHangUp(req: Request, res: Response, body: string): void {
  res.setHeader('Connection', 'close');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  if (draining >= maxDraining || req.destroyed) {
    res.end(body);
    return;
  }
  draining += 1;
  // The reply has a Content-Length, so the client can read it completely before the connection is closed.
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
