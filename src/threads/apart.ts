import { type Limits, startThread, type Thread } from './start-thread.ts';
import { currentTenant } from './tenant.ts';

// biome-ignore lint/suspicious/noExplicitAny: no other type accepts every list of parameters
type FunctionsOf<M> = { [K in keyof M]: M[K] extends (...args: any[]) => unknown ? M[K] : never };

/** The functions of a module, which run in threads. */
export interface Apart<M> {
  /**
   * Calls a function of the module.
   * @throws OverLimit when the call exceeded a limit; NoAnswer when it may be tried again; Error with the message of the function's own error
   */
  call<K extends keyof M & string>(
    name: K,
    ...args: Parameters<FunctionsOf<M>[K]>
  ): Promise<Awaited<ReturnType<FunctionsOf<M>[K]>>>;
}

/** How many threads work for whom. */
export interface Shares {
  /** Threads at the same time. */
  atOnce: number;
  /** The most of them that one tenant uses, so that others need not wait until its hostile calls exceed their limits. */
  mostOfTenant: number;
}

/** As many threads as a worker's runs, so that hostile input of one run does not delay others. */
const usual: Shares = { atOnce: 4, mostOfTenant: 2 };
/** How long to keep an idle thread. It takes 40 to 100 ms to start and about 10 MB of memory. */
const idleMs = 30_000;

/** The tenant of calls that are for nobody in particular, such as webhooks whose account is not known yet. */
const nobody = '';

/** A call that waits for a thread. */
type Waiting = (thread: Thread) => void;

/**
 * Runs the functions of a module in threads. Untrusted text that takes forever to parse or to match then only fails its
 * own call and does not block the service. Threads are reused; one that exceeded a limit is replaced. Tenants take turns.
 * Arguments and results are copied, so callers have to limit their size.
 */
export function apart<M>(module: URL, limits: Limits, { atOnce, mostOfTenant }: Shares = usual): Apart<M> {
  const live = new Set<Thread>();
  const idle: Thread[] = [];
  /** The waiting calls of each tenant. Tenants that had a turn go to the end. */
  const waiting = new Map<string, Waiting[]>();
  const busy = new Map<string, number>();

  const start = (): Thread => {
    const thread = startThread(module, limits, () => {
      live.delete(thread);
      if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1);
    });
    live.add(thread);
    return thread;
  };
  const isFree = () => idle.length > 0 || live.size < atOnce;
  const mayTake = (tenant: string) => (busy.get(tenant) ?? 0) < mostOfTenant;
  const nextTenant = () => (isFree() ? [...waiting.keys()].find(mayTake) : undefined);
  const giveTurns = () => {
    for (let tenant = nextTenant(); tenant !== undefined; tenant = nextTenant()) {
      const [next, ...others] = waiting.get(tenant) ?? [];
      waiting.delete(tenant);
      if (others.length > 0) waiting.set(tenant, others);
      busy.set(tenant, (busy.get(tenant) ?? 0) + 1);
      next?.(idle.pop() ?? start());
    }
  };
  const take = (tenant: string): Promise<Thread> =>
    new Promise((resolve) => {
      waiting
        .set(tenant, waiting.get(tenant) ?? [])
        .get(tenant)
        ?.push(resolve);
      giveTurns();
    });
  const giveBack = (tenant: string, thread: Thread): void => {
    const left = (busy.get(tenant) ?? 0) - 1;
    if (left > 0) busy.set(tenant, left);
    else busy.delete(tenant);
    if (live.has(thread)) {
      idle.push(thread);
      thread.endAfter(idleMs);
    }
    giveTurns();
  };
  return {
    call: async (name, ...args) => {
      const tenant = currentTenant() ?? nobody;
      const thread = await take(tenant);
      try {
        return (await thread.ask({ name, args })) as never;
      } finally {
        giveBack(tenant, thread);
      }
    },
  };
}
