import { type Limits, startThread, type Thread } from './start-thread.ts';

// biome-ignore lint/suspicious/noExplicitAny: no other type accepts every list of parameters
type FunctionsOf<M> = { [K in keyof M]: M[K] extends (...args: any[]) => unknown ? M[K] : never };

/** The functions of a module, called in threads. */
export interface Apart<M> {
  /** @throws OverLimit when the call was ended; Error with the message of what the function threw */
  call<K extends keyof M & string>(
    name: K,
    ...args: Parameters<FunctionsOf<M>[K]>
  ): Promise<Awaited<ReturnType<FunctionsOf<M>[K]>>>;
}

/** Threads at the same time: as many as a worker's runs by default, so that hostile text of one run holds up no other. */
const atOnce = 4;
/** How long to keep an idle thread. It takes 40 to 100 ms to start and about 10 MB to keep. */
const idleMs = 30_000;

/**
 * Calls the functions of a module in threads. Untrusted text that takes forever to parse or to match then fails its own
 * call and does not hold up the service. Threads are reused; one that exceeded a limit is replaced. Arguments and results
 * are copied, so callers have to limit their size.
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
