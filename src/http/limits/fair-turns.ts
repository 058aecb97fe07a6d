type Work = () => void;

/** Requests are handled for this long before the event loop gets to look at connections again. */
const sliceMs = 5;

/**
 * Hands out turns on the event loop. Node accepts one new connection in each round of its loop, and a round lasts until
 * everything that was readable is handled: 50 connections with 16 requests each kept all others waiting for seconds. With
 * turns a round is short, and the requests of one address wait behind each other and not before those of others.
 */
export class FairTurns {
  readonly #lanes = new Map<string, Work[]>();
  readonly #urgent: Work[] = [];
  #isScheduled = false;
  #sawArrival = false;

  /** Calls `work` soon, after earlier work of the same lane. Urgent work comes before all lanes. */
  add(lane: string, work: Work, isUrgent = false): void {
    if (isUrgent) this.#urgent.push(work);
    else {
      const waiting = this.#lanes.get(lane);
      if (waiting === undefined) this.#lanes.set(lane, [work]);
      else waiting.push(work);
    }
    this.#schedule();
  }

  /** While connections arrive, rounds are as short as possible, because each round accepts only one. */
  noteArrival(): void {
    this.#sawArrival = true;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#slice();
      if (this.#urgent.length > 0 || this.#lanes.size > 0) this.#schedule();
    });
  }

  #slice(): void {
    for (const work of this.#urgent.splice(0)) work();
    const endsAt = performance.now() + (this.#sawArrival ? 0 : sliceMs);
    this.#sawArrival = false;
    do this.#oneOfNextLane();
    while (this.#lanes.size > 0 && performance.now() < endsAt);
  }

  /** Does the first work of the first lane, which then goes to the end. */
  #oneOfNextLane(): void {
    const [next] = this.#lanes;
    if (next === undefined) return;
    const [lane, waiting] = next;
    const work = waiting.shift();
    this.#lanes.delete(lane);
    if (waiting.length > 0) this.#lanes.set(lane, waiting);
    work?.();
  }
}
