import { setImmediate } from 'node:timers/promises';

/** Items handled before yielding to the event loop. They take a few milliseconds. */
const portion = 5000;

/** Calls `look` for each item, of which there may be hundreds of thousands, and yields to the event loop regularly. */
export async function inPortions<T>(things: Iterable<T>, look: (thing: T) => void): Promise<void> {
  let looked = 0;
  for (const thing of things) {
    look(thing);
    if (++looked % portion === 0) await setImmediate();
  }
}
