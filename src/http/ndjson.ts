import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { countStream } from './limits/stream-count.ts';
import { countUnsent } from './limits/unsent.ts';

const contentType = 'application/x-ndjson';

/** Returns whether a caller wants an export. Links cannot set headers, so they say it in the query. */
export function wantsLines(req: Request, query: unknown): boolean {
  const { format } = query as { format?: unknown };
  return format === 'ndjson' || (req.headers.accept ?? '').toLowerCase().includes(contentType);
}

/**
 * Sends a list of any length, one entry per line. The next portion is read when the last one is sent, so the memory is
 * bounded and no database connection waits for the client. If access is lost, the connection is closed.
 * @throws AppError 429 over the limit of a user, 503 over that of the process
 */
export async function answerLines(
  res: Response,
  shape: z.ZodType | undefined,
  { userId, recheck }: { userId: string; recheck: () => Promise<unknown> },
  portions: AsyncIterable<unknown[]>,
): Promise<void> {
  const uncount = countStream(userId);
  const setUnsent = countUnsent(res, userId);
  const list = shape ?? z.array(z.unknown());
  async function* texts() {
    for await (const portion of portions) {
      await recheck();
      const entries = list.parse(portion) as unknown[];
      const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
      setUnsent(Buffer.byteLength(text));
      yield text;
    }
  }
  try {
    const rest = texts();
    // If the first portion cannot be read, the reply can still be an error.
    const first = await rest.next();
    res.status(200).setHeader('Content-Type', `${contentType}; charset=utf-8`);
    res.setHeader('Content-Disposition', 'attachment; filename="export.ndjson"');
    await pipeline(Readable.from(continued(first, rest), { highWaterMark: 1 }), res);
  } catch (error) {
    if (!res.headersSent) throw error;
    // The client sees that its connection is closed before the end.
    res.destroy();
  } finally {
    uncount();
  }
}

async function* continued(first: IteratorResult<string>, rest: AsyncIterable<string>): AsyncGenerator<string> {
  if (!first.done) yield first.value;
  yield* rest;
}
