import { Worker } from 'node:worker_threads';

/** The event loop stands still while JSON is parsed: some 10 ms for this much, a quarter of a second for 25 MB. */
const largeBytes = 1_000_000;
const parseMs = 10_000;
/** 25 MB of JSON can become 400 MB of small objects. */
const resourceLimits = { maxOldGenerationSizeMb: 768 };

export function isLarge(bytes: number): boolean {
  return bytes > largeBytes;
}

let last: Promise<unknown> = Promise.resolve();

/** Does work on large payloads one at a time, because it takes several times their size in memory; other work at once. */
export function inTurn<T>(isLarge: boolean, work: () => Promise<T>): Promise<T> {
  if (!isLarge) return work();
  const done = last.then(work);
  last = done.catch(() => {});
  return done;
}

/** The JSON object of a payload; undefined when it is none. Of a large one, long lists come without their end. */
export async function parsePayload(text: string): Promise<object | undefined> {
  const value = isLarge(text.length) ? await parseInThread(text) : parsed(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws Error when the thread ended without an answer */
async function parseInThread(text: string): Promise<unknown> {
  const thread = new Worker(new URL('./payload-thread.ts', import.meta.url), {
    workerData: text,
    env: {},
    resourceLimits,
  });
  const late = setTimeout(() => thread.terminate(), parseMs);
  try {
    return await new Promise((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', () => reject(new Error('the payload could not be parsed within its limits')));
    });
  } finally {
    clearTimeout(late);
  }
}
