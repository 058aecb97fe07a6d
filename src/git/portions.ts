import { setImmediate } from 'node:timers/promises';

/** Handled without a pause, which takes a few milliseconds. */
const portion = 5000;

/** Calls `look` for each of what may be hundreds of thousands of things, and yields to the event loop in between. */
export async function inPortions<T>(things: Iterable<T>, look: (thing: T) => void): Promise<void> {
  let looked = 0;
  for (const thing of things) {
    look(thing);
    if (++looked % portion === 0) await setImmediate();
  }
}
