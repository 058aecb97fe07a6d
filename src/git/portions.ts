import { setImmediate } from 'node:timers/promises';

/** Looked at in a row: a few milliseconds. */
const portion = 5000;

/** Goes through what may be hundreds of thousands of things, and lets others have their turn after each portion. */
export async function inPortions<T>(things: Iterable<T>, look: (thing: T) => void): Promise<void> {
  let looked = 0;
  for (const thing of things) {
    look(thing);
    if (++looked % portion === 0) await setImmediate();
  }
}
