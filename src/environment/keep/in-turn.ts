/** For each key, a promise that resolves when its last caller has finished. */
const queues = new Map<string, Promise<void>>();

/** Runs `work` while no other caller in this process uses the same key. @throws the reason of the signal */
export async function inTurn<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const before = queues.get(key) ?? Promise.resolve();
  const { promise: over, resolve: leave } = Promise.withResolvers<void>();
  const mine = before.then(() => over);
  queues.set(key, mine);
  try {
    await orAborted(before, signal);
    return await work();
  } finally {
    leave();
    void mine.then(() => {
      if (queues.get(key) === mine) queues.delete(key);
    });
  }
}

async function orAborted(waited: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([waited, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
