/**
 * Runs `act` as a process whose clock is ahead by so many milliseconds. Only the time of day differs: timers and
 * `performance.now` do not depend on it.
 */
export async function withClockAhead<T>(ms: number, act: () => Promise<T>): Promise<T> {
  const Real = Date;
  const now = () => Real.now() + ms;
  globalThis.Date = new Proxy(Real, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
  try {
    return await act();
  } finally {
    globalThis.Date = Real;
  }
}
