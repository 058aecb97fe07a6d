/** Runs work when its turn comes. @throws the reason of the signal, if it aborts before that; what the work throws */
export type InTurn = <T>(key: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

interface Waiting {
  key: string;
  begin(): void;
}

/**
 * Returns a function that runs at most `atOnce` works in this process at the same time, and at most `ofOne` of them with
 * the same key, so that one tenant cannot take all turns. The next turn goes to the key with the fewest that run, and among
 * those to the oldest work.
 */
export function fewAtOnce(atOnce: number, ofOne: number): InTurn {
  const running: string[] = [];
  const waiting: Waiting[] = [];
  const beginNext = () => {
    const countOf = ({ key }: Waiting) => running.filter((each) => each === key).length;
    while (running.length < atOnce) {
      const fewest = Math.min(...waiting.map(countOf));
      if (fewest >= ofOne) return;
      const [begun] = waiting.splice(
        waiting.findIndex((each) => countOf(each) === fewest),
        1,
      );
      if (begun === undefined) return;
      running.push(begun.key);
      begun.begin();
    }
  };
  const turn = (key: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      const giveUp = () => {
        waiting.splice(waiting.indexOf(mine), 1);
        reject(signal.reason);
      };
      const begin = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const mine = { key, begin };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(mine);
      beginNext();
    });
  return async (key, signal, work) => {
    await turn(key, signal);
    try {
      return await work();
    } finally {
      running.splice(running.indexOf(key), 1);
      beginNext();
    }
  };
}

/** Returns a function that does the same work once at a time: a call whose key has work under way gets the result of that. */
export function sharedWhileGoing<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const going = new Map<string, Promise<T>>();
  return (key, work) => {
    const begun = going.get(key) ?? work().finally(() => going.delete(key));
    going.set(key, begun);
    return begun;
  };
}
