import type { Request } from 'express';
import { AppError, badRequest } from '../../errors.ts';
import type { BodyBudget } from './body-budget.ts';

export interface BodyLimits {
  maxBytes: number;
  /** The time for the whole body to arrive. */
  withinMs: number;
  budget: BodyBudget;
}

/** A body that has arrived. Its memory counts until it is released. */
export interface ArrivedBody {
  size: number;
  /** All of it in one piece; to be called once. */
  join(): Buffer;
  release(): void;
}

/** Chunks are copied into blocks of this size: one of a single byte would take hundreds. */
const blockBytes = 16 * 1024;
/** Each chunk takes the event loop a microsecond or more: beyond the first ones they must hold this much on average. */
const minChunkBytes = 64;
const freeChunks = 1000;

/** Checks what the headers say of the body. @throws AppError 413 when it is too large, 415 when it is compressed */
export function assertReadable(req: Request, maxBytes: number): void {
  if (announcedBytes(req) > maxBytes) throw tooLarge(maxBytes);
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new AppError(415, `The body must not be compressed (Content-Encoding: ${encoding.slice(0, 100)})`);
}

/**
 * Reads a body. `each` gets its parts, as they fill up.
 * @throws AppError 408 when it is late, 413 when it is too large, 415 when it is compressed, 503 when it gave way to others
 */
export function readBytes(
  req: Request,
  payer: string,
  { maxBytes, withinMs, budget }: BodyLimits,
  each: (part: Buffer) => void = () => {},
): Promise<ArrivedBody> {
  assertReadable(req, maxBytes);
  // Its sender left while the request was being checked; no event would tell.
  if (req.destroyed) return Promise.reject(incomplete());
  return new Promise((resolve, reject) => {
    const blocks = blockList(
      each,
      (bytes) => share.take(bytes),
      Math.min(blockBytes, announcedBytes(req) || blockBytes),
    );
    const finish = () => {
      clearTimeout(late);
      for (const [event, hear] of Object.entries(heard)) req.removeListener(event, hear);
    };
    const fail = (error: AppError) => {
      finish();
      req.pause();
      blocks.free();
      share.leave();
      reject(error);
    };
    const share = budget.enter(payer, () => fail(gaveWay()));
    const late = setTimeout(() => fail(tooSlow(withinMs)), withinMs);
    let chunks = 0;
    const heard = {
      data: (chunk: Buffer) => {
        chunks += 1;
        if (chunks > freeChunks + blocks.size() / minChunkBytes)
          return fail(badBody('The body comes in too small chunks'));
        if (blocks.size() + chunk.length > maxBytes) return fail(tooLarge(maxBytes));
        blocks.add(chunk);
        freeNow(chunk);
      },
      end: () => {
        finish();
        blocks.complete();
        share.settle();
        const release = () => {
          blocks.free();
          share.leave();
        };
        resolve({ size: blocks.size(), join: blocks.join, release });
      },
      close: () => fail(incomplete()),
      error: () => fail(incomplete()),
    };
    for (const [event, hear] of Object.entries(heard)) req.on(event, hear);
  });
}

/** Bytes in blocks of one size; `take` is told of each before it fills, `each` once it is full. */
function blockList(each: (part: Buffer) => void, take: (bytes: number) => void, length: number) {
  const blocks: Buffer[] = [];
  let [size, filled, isFreed] = [0, length, false];
  const complete = () => {
    const last = blocks.at(-1);
    if (last !== undefined) each(last.subarray(0, filled));
  };
  const free = () => {
    isFreed = true;
    for (const block of blocks.splice(0)) freeNow(block);
  };
  return {
    size: () => size,
    add: (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; ) {
        if (filled === length) {
          complete();
          take(length);
          // The body itself may have given way.
          if (isFreed) return;
          blocks.push(Buffer.allocUnsafeSlow(length));
          filled = 0;
        }
        const copied = chunk.copy(blocks.at(-1) as Buffer, filled, at);
        filled += copied;
        size += copied;
        at += copied;
      }
    },
    complete,
    join: () => {
      const joined = Buffer.concat(blocks, size);
      free();
      return joined;
    },
    free,
  };
}

/**
 * Gives the memory of a buffer back at once. The garbage collector lets 64 MB of buffers gather before it looks for
 * those that nobody uses, which would come on top of every limit here.
 */
export function freeNow(bytes: Buffer): void {
  const { buffer } = bytes;
  // A part of a larger buffer shares it with others.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) buffer.transfer(0);
}

function announcedBytes(req: Request): number {
  return Number(req.headers['content-length'] ?? 0);
}

function badBody(message: string): AppError {
  return badRequest([{ path: '', message }]);
}

function incomplete(): AppError {
  return badBody('The connection ended before the whole body had arrived');
}

function tooLarge(maxBytes: number): AppError {
  return new AppError(413, `The body must have at most ${maxBytes >> 20} MB`);
}

function tooSlow(withinMs: number): AppError {
  return new AppError(408, `The body must arrive within ${withinMs / 1000} s`);
}

function gaveWay(): AppError {
  const headers = { 'Retry-After': '5' };
  return new AppError(503, 'Too many large bodies are arriving; try again later', { headers });
}
