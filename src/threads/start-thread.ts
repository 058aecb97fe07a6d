import { Worker } from 'node:worker_threads';
import { sharedCompileCache } from '../host/own-process.ts';
import type { Answer, Question } from './inside.ts';

/** Limits of one call. A thread that exceeds them is terminated. */
export interface Limits {
  /** Processor time: on a busy machine, an honest call takes longer by the clock, but not more of it. */
  seconds: number;
  /** Time by the clock, a minute and ten times `seconds` by default. A call that exceeds only this may be tried again. */
  waitSeconds?: number;
  /** Size of V8's heap, which does not include buffers and very long strings. */
  heapMb: number;
}

/** A call exceeded its limit of processor time or memory. */
export class OverLimit extends Error {
  /** The limit, such as `2 s` or `the stack`. */
  readonly limit: string;

  constructor(limit: string) {
    super(`it takes more than ${limit}`);
    this.name = 'OverLimit';
    this.limit = limit;
  }
}

/** A thread got too little processor time to answer. The same call may succeed later. */
export class NoAnswer extends Error {
  constructor(what: string) {
    super(`${what}; the machine is too busy, try again later`);
    this.name = 'NoAnswer';
  }
}

/** A thread that executes one call at a time. */
export interface Thread {
  /**
   * Calls a function in the thread.
   * @throws OverLimit when the input exceeded a limit; NoAnswer; Error with the message of the function's own error
   */
  ask(question: Question): Promise<unknown>;
  /** Terminates the thread unless another call arrives within this time. */
  endAfter(ms: number): void;
}

/** How long a thread may take to load its module; generous because the machine may be busy. */
const loadSeconds = 60;

/** The shortest time after which the processor time of a call is read again. */
const lookMs = 50;

/** Starts a thread with the functions of a module. `gone` is called when the thread ends for any reason. */
export function startThread(module: URL, limits: Limits, gone: () => void): Thread {
  const { seconds, heapMb } = limits;
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
  /** The processor time of the thread when it sent its latest message. */
  let spentMs = 0;
  worker.on('message', (answer: Answer) => {
    spentMs = answer.cpuMs;
    hear?.(answer);
  });
  worker.on('messageerror', end);
  worker.on('error', (error: Error & { code?: string }) =>
    end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new OverLimit(`${heapMb} MB of memory`) : error),
  );
  worker.on('exit', (code) => end(new Error(`the thread ended with ${code}`)));

  /** Waits for the next message, at most as long as the judge allows. */
  const next = (firstMs: number, judge: Judge) =>
    new Promise<Answer>((resolve, reject) => {
      if (over !== undefined) return reject(over);
      const settle = (answer: Answer | Error) => {
        stop();
        hear = undefined;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      hear = settle;
      const stop = lookAgain(firstMs, judge, end);
    });
  const started: Judge = async () => new NoAnswer(`the thread did not start within ${loadSeconds} s`);
  let loaded: Promise<unknown> | undefined = next(loadSeconds * 1000, started);

  return {
    ask: async (question) => {
      clearTimeout(ending);
      worker.ref();
      try {
        await loaded;
        loaded = undefined;
        worker.postMessage(question);
        const answer = await next(Math.min(seconds, waitSecondsOf(limits)) * 1000, judgeOf(worker, limits, spentMs));
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

const waitSecondsOf = ({ seconds, waitSeconds = 60 + 10 * seconds }: Limits) => waitSeconds;

/** Says why a thread has to end, or after how many milliseconds to ask again. */
type Judge = () => Promise<Error | number>;

/** Judges a call that begins now. In native code, a thread does not say how long it has worked. */
function judgeOf(worker: Worker, limits: Limits, beforeMs: number): Judge {
  const end = performance.now() + waitSecondsOf(limits) * 1000;
  const left = () => end - performance.now();
  const readMs = () => worker.cpuUsage().then(msOf, () => undefined);
  return async () => {
    const used = (await within(readMs(), left())) ?? beforeMs;
    const more = limits.seconds * 1000 - (used - beforeMs);
    if (more <= 0) return new OverLimit(`${limits.seconds} s`);
    if (left() <= 0) return new NoAnswer(`the thread did not answer within ${waitSecondsOf(limits)} s`);
    return Math.max(lookMs, Math.min(left(), more));
  };
}

/** Asks a judge after some time, and again when it says so, until it ends the thread or the returned function is called. */
function lookAgain(firstMs: number, judge: Judge, end: (why: Error) => void): () => void {
  let timer: NodeJS.Timeout;
  let isOver = false;
  const look = async () => {
    const verdict = isOver ? 0 : await judge();
    if (isOver) return;
    if (verdict instanceof Error) end(verdict);
    else lookAfter(verdict);
  };
  // If the main thread was blocked, the timer may fire before a result that has already arrived is read.
  // `setImmediate` lets the result be read first.
  const lookAfter = (ms: number) => {
    timer = setTimeout(() => setImmediate(() => void look()), ms);
  };
  lookAfter(firstMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Returns the processor time of a thread in milliseconds. */
const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

/** Returns the value of a promise, or undefined if it does not come in time. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(ms, 0)).unref();
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
