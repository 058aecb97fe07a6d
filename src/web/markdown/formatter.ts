import type { Formatted } from './parse.ts';

/** How often the page looks whether a text has taken too long. */
const tickMs = 100;

/**
 * How many ticks a text may take, which is about a second; documents of 64 kB take a third of it. A page that is busy has no
 * ticks, so it does not give up a text whose tree has arrived but is not read yet.
 */
const maxTicks = 10;

/** How many texts are remembered; the largest trees take 4 MB each. A page that shows more formats some of them again. */
const maxKept = 30;

/** Opens a worker. It says `ready` when it is loaded, and then the tree of each text it gets; `failed` is called if it cannot. */
export type OpenWorker = (
  said: (message: 'ready' | Formatted) => void,
  failed: () => void,
) => Pick<Worker, 'postMessage' | 'terminate'>;

type Listener = (formatted: Formatted) => void;

/**
 * Formats texts in a worker, one after the other. A text that takes too long is costly: its worker is terminated, and the next
 * text gets a new one.
 */
export function openFormatter(open: OpenWorker) {
  const kept = new Map<string, Formatted>();
  /** The texts to format, the oldest first. */
  const waiting = new Map<string, Set<Listener>>();
  let worker: ReturnType<OpenWorker> | undefined;
  let isReady = false;
  /** The text whose turn it is. */
  let current: string | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;

  function next(): void {
    if (current !== undefined) return;
    current = waiting.keys().next().value;
    if (current === undefined) return;
    if (worker === undefined) start();
    else if (isReady) begin(worker, current);
  }

  function start(): void {
    const opened = open(
      (message) => {
        if (worker !== opened) return;
        if (message !== 'ready') return settle(message);
        isReady = true;
        if (current !== undefined) begin(opened, current);
      },
      () => worker === opened && stop(),
    );
    worker = opened;
  }

  /** Hands a text to the worker. Its time begins now. */
  function begin(by: ReturnType<OpenWorker>, text: string): void {
    by.postMessage(text);
    let ticks = 0;
    timer = setInterval(() => {
      ticks += 1;
      if (ticks === maxTicks) stop();
    }, tickMs);
  }

  /** Ends the worker and gives up its text. If it could not be loaded, all texts are given up until they are shown again. */
  function stop(): void {
    worker?.terminate();
    worker = undefined;
    if (isReady) {
      isReady = false;
      settle('costly');
      return;
    }
    current = undefined;
    const all = [...waiting.values()];
    waiting.clear();
    for (const listener of all.flatMap((each) => [...each])) listener('costly');
  }

  function settle(formatted: Formatted): void {
    clearInterval(timer);
    const text = current;
    if (text === undefined) return;
    const listeners = waiting.get(text) ?? [];
    waiting.delete(text);
    current = undefined;
    kept.set(text, formatted);
    if (kept.size > maxKept) kept.delete(kept.keys().next().value ?? '');
    next();
    for (const listener of listeners) listener(formatted);
  }

  return {
    /** Returns what a text has become, if it is known. */
    known: (text: string) => kept.get(text),
    /**
     * Formats a text and tells the listener. Returns a function that takes the text out of the queue again. It has no effect once
     * the turn of the text has come: a text that grows is asked for again and again, and would otherwise never be shown.
     */
    format(text: string, listener: Listener): () => void {
      const listeners = waiting.get(text) ?? new Set();
      waiting.set(text, listeners.add(listener));
      next();
      return () => {
        if (text === current) return;
        listeners.delete(listener);
        if (listeners.size === 0 && waiting.get(text) === listeners) waiting.delete(text);
      };
    },
  };
}
