import { type Limits, startThread, type Thread } from './start-thread.ts';

// biome-ignore lint/suspicious/noExplicitAny: no other type accepts every list of parameters
type FunctionsOf<M> = { [K in keyof M]: M[K] extends (...args: any[]) => unknown ? M[K] : never };

/** The functions of a module, which run in threads. */
export interface Apart<M> {
  /**
   * Calls a function of the module.
   * @throws OverLimit when the call exceeded a limit; Error with the message of the function's own error
   */
  call<K extends keyof M & string>(
    name: K,
    ...args: Parameters<FunctionsOf<M>[K]>
  ): Promise<Awaited<ReturnType<FunctionsOf<M>[K]>>>;
}

/**
 * Threads at the same time: by default as many as a worker's runs, so that hostile input of one run does not delay
 * others.
 */
const atOnce = 4;
/** How long to keep an idle thread. It takes 40 to 100 ms to start and about 10 MB of memory. */
const idleMs = 30_000;

/**
 * Runs the functions of a module in threads. Untrusted text that takes forever to parse or to match then only fails its
 * own call and does not block the service. Threads are reused; one that exceeded a limit is replaced. Arguments and
 * results are copied, so callers have to limit their size.
 */
export function apart<M>(module: URL, limits: Limits): Apart<M> {
  const live = new Set<Thread>();
  const idle: Thread[] = [];
  const waiting: ((thread: Thread) => void)[] = [];

  const start = (): Thread => {
    const thread = startThread(module, limits, () => {
      live.delete(thread);
      if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1);
    });
    live.add(thread);
    return thread;
  };
  const take = (): Promise<Thread> | Thread => {
    const known = idle.pop();
    if (known !== undefined) return known;
    return live.size < atOnce ? start() : new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (thread: Thread): void => {
    const isLive = live.has(thread);
    const next = waiting.shift();
    if (next !== undefined) next(isLive ? thread : start());
    else if (isLive) {
      idle.push(thread);
      thread.endAfter(idleMs);
    }
  };
  return {
    call: async (name, ...args) => {
      const thread = await take();
      try {
        return (await thread.ask({ name, args })) as never;
      } finally {
        giveBack(thread);
      }
    },
  };
}
