type Work = () => void;

/** Queues that are served round-robin. */
class Lanes {
  readonly #lanes = new Map<string, Work[]>();

  isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  add(lane: string, work: Work): void {
    const waiting = this.#lanes.get(lane);
    if (waiting === undefined) this.#lanes.set(lane, [work]);
    else waiting.push(work);
  }

  /** Runs the first callback of the first queue and moves that queue to the end. */
  runNext(): void {
    const [next] = this.#lanes;
    if (next === undefined) return;
    const [lane, waiting] = next;
    const work = waiting.shift();
    this.#lanes.delete(lane);
    if (waiting.length > 0) this.#lanes.set(lane, waiting);
    work?.();
  }
}

/** How long to handle requests before yielding to the event loop, which then accepts connections. */
const sliceMs = 5;

/**
 * Schedules requests fairly between addresses. Node accepts one new connection per iteration of its event loop, and an
 * iteration lasts until all readable sockets are handled: 50 connections with 16 requests each delayed all others for
 * seconds. With this scheduler an iteration is short, and each address has its own queue. The queues are served
 * round-robin. Urgent work has queues of its own, and every second turn.
 */
export class FairTurns {
  readonly #urgent = new Lanes();
  readonly #usual = new Lanes();
  #isScheduled = false;
  #sawArrival = false;

  /** Queues `work` in a lane, behind that lane's earlier work of the same urgency. */
  add(lane: string, work: Work, isUrgent = false): void {
    (isUrgent ? this.#urgent : this.#usual).add(lane, work);
    this.#schedule();
  }

  /**
   * Notes that a connection arrived. The next slice is then as short as possible, because each iteration of the event
   * loop accepts only one connection.
   */
  noteArrival(): void {
    this.#sawArrival = true;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#slice();
      if (this.#hasWork()) this.#schedule();
    });
  }

  #slice(): void {
    const endsAt = performance.now() + (this.#sawArrival ? 0 : sliceMs);
    this.#sawArrival = false;
    do {
      this.#urgent.runNext();
      this.#usual.runNext();
    } while (this.#hasWork() && performance.now() < endsAt);
  }

  #hasWork(): boolean {
    return !this.#urgent.isEmpty() || !this.#usual.isEmpty();
  }
}
