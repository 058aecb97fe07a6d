import { Worker } from 'node:worker_threads';
import { sharedCompileCache } from '../host/own-process.ts';
import type { Answer, Question } from './inside.ts';

/** Limits of one call. A thread that exceeds them is terminated. */
export interface Limits {
  seconds: number;
  /** Size of V8's heap, which does not include buffers and very long strings. */
  heapMb: number;
}

/** A call exceeded its time or memory limit. */
export class OverLimit extends Error {
  /** The limit, such as `2 s` or `the stack`. */
  readonly limit: string;

  constructor(limit: string) {
    super(`it takes more than ${limit}`);
    this.name = 'OverLimit';
    this.limit = limit;
  }
}

/** A thread that executes one call at a time. */
export interface Thread {
  /**
   * Calls a function in the thread.
   * @throws OverLimit when a limit ended the thread; Error with the message of the function's own error
   */
  ask(question: Question): Promise<unknown>;
  /** Terminates the thread unless another call arrives within this time. */
  endAfter(ms: number): void;
}

/** How long a thread may take to load its module; generous because the machine may be busy. */
const loadSeconds = 60;

/** Starts a thread with the functions of a module. `gone` is called when the thread ends for any reason. */
export function startThread(module: URL, { seconds, heapMb }: Limits, gone: () => void): Thread {
  const worker = new Worker(new URL('./inside.ts', import.meta.url), {
    workerData: module.href,
    env: sharedCompileCache(),
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  let over: Error | undefined;
  let ending: NodeJS.Timeout | undefined;
  let hear: ((answer: Answer | Error) => void) | undefined;
  const end = (why: Error) => {
    if (over !== undefined) return;
    over = why;
    clearTimeout(ending);
    gone();
    void worker.terminate();
    hear?.(why);
  };
  worker.on('message', (answer: Answer) => hear?.(answer));
  worker.on('messageerror', end);
  worker.on('error', (error: Error & { code?: string }) =>
    end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new OverLimit(`${heapMb} MB of memory`) : error),
  );
  worker.on('exit', (code) => end(new Error(`the thread ended with ${code}`)));

  const next = (withinSeconds: number, late: Error) =>
    new Promise<Answer>((resolve, reject) => {
      if (over !== undefined) return reject(over);
      // If the main thread was blocked, the timer may fire before a result that has already arrived is read.
      // `setImmediate` lets the result be read first.
      const timer = setTimeout(() => setImmediate(() => hear === settle && end(late)), withinSeconds * 1000);
      const settle = (answer: Answer | Error) => {
        clearTimeout(timer);
        hear = undefined;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      hear = settle;
    });
  let loaded: Promise<unknown> | undefined = next(loadSeconds, new Error('the thread did not start'));

  return {
    ask: async (question) => {
      clearTimeout(ending);
      worker.ref();
      try {
        await loaded;
        loaded = undefined;
        worker.postMessage(question);
        const answer = await next(seconds, new OverLimit(`${seconds} s`));
        if ('threw' in answer) throw answer.isTooDeep ? new OverLimit('the stack') : new Error(answer.threw);
        return answer.value;
      } finally {
        // Do not keep the process alive for an idle thread.
        worker.unref();
      }
    },
    endAfter: (ms) => {
      ending = setTimeout(() => end(new Error('the thread was idle')), ms).unref();
    },
  };
}
