import type { Request } from 'express';
import { AppError, badRequest } from '../../errors.ts';
import type { BodyBudget } from './body-budget.ts';

/**
 * Maximum number of JSON values. The largest body that any route accepts, 100 tasks with 100 dependencies each, has
 * about 11,000.
 */
export const maxValues = 15_000;
export const maxDepth = 32;

const [quote, backslash, comma, openBrace, openBracket, closeBrace, closeBracket] = Buffer.from('"\\,{[}]');

/**
 * Returns whether JSON has so few values that parsing it does not block the event loop. This check takes 2 ms for 1 MB
 * of text; `JSON.parse` takes up to 400 ms for 1 MB of small objects, and validation then visits each of them. Invalid
 * JSON is left to the parser.
 */
export function isModest(json: Buffer): boolean {
  let [values, depth] = [0, 0];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) at = endOfString(json, at + 1);
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    else if (byte === comma) values += 1;
    else if (byte === openBrace || byte === openBracket) {
      values += 1;
      depth += 1;
    }
    if (values > maxValues || depth > maxDepth) return false;
  }
  return true;
}

function endOfString(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}

export interface BodyLimits {
  maxBytes: number;
  /** The time limit for receiving the whole body. */
  withinMs: number;
  budget: BodyBudget;
}

/** A complete body. It counts against the budget until it is released. */
export interface ArrivedBody {
  size: number;
  /** Joins the body into one buffer. Call it once. */
  join(): Buffer;
  release(): void;
}

/**
 * Chunks are copied into blocks of this size, because a separate buffer takes hundreds of bytes even for a single byte.
 */
const blockBytes = 16 * 1024;
/** Minimum average chunk size after the first chunks. Each chunk costs the event loop a microsecond or more. */
const minChunkBytes = 64;
const freeChunks = 1000;

/** Checks the headers of a body. @throws AppError 413 if it is too large, 415 if it is compressed */
export function assertReadable(req: Request, maxBytes: number): void {
  if (announcedBytes(req) > maxBytes) throw tooLarge(maxBytes);
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new AppError(415, `The body must not be compressed (Content-Encoding: ${encoding.slice(0, 100)})`);
}

/**
 * Reads a body and passes its parts to `each` as they arrive.
 * @throws AppError 408 if it is too slow, 413 if it is too large, 415 if it is compressed, 503 if it was dismissed
 */
export function readBytes(
  req: Request,
  payer: string,
  { maxBytes, withinMs, budget }: BodyLimits,
  each: (part: Buffer) => void = () => {},
): Promise<ArrivedBody> {
  assertReadable(req, maxBytes);
  // The client disconnected while the request was being checked, so no event will be emitted.
  if (req.destroyed) return Promise.reject(incomplete());
  if (/^100-continue$/i.test(req.headers.expect ?? '')) req.res?.writeContinue();
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

/** Collects bytes in blocks of one size. Calls `take` before filling a block and `each` when it is full. */
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
          // This body may be the one that was dismissed.
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
 * Frees the memory of a buffer immediately. The garbage collector lets 64 MB of unused buffers accumulate, which would
 * be added to every limit here.
 */
export function freeNow(bytes: Buffer): void {
  const { buffer } = bytes;
  // The buffer may be a slice of a larger one, whose memory is shared with others.
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
