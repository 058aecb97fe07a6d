import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';

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

/** How long what arrives may be handled in one turn of the event loop. What arrives after that waits for its place in fair turns. */
const turnMs = 10;

/** The bytes of a connection that are handled at once. With 500 requests in them, they take 10 to 20 ms. */
const portion = 16_384;

/** Set on a connection that somebody watches: kept ones are used by several. */
const watched = Symbol('watched');

/**
 * Keeps the turns of the event loop short while data arrives. Node handles up to 64 kB of each readable connection in one turn. When
 * these are hundreds of requests or ten thousand tiny chunks, they take milliseconds to parse, and there may be thousands of
 * connections.
 */
export class FairReads {
  readonly #turns: FairTurns;
  #spentMs = 0;

  constructor(turns = new FairTurns()) {
    this.#turns = turns;
  }

  /**
   * Lets what arrives on a connection wait when this turn has taken long, behind what waits in the same lane. It must be read by
   * listeners of `data` or pipes: those of `readable` would get it twice.
   */
  watch(socket: Duplex & { [watched]?: true }, lane: string): void {
    if (socket[watched]) return;
    socket[watched] = true;
    const emit: EventEmitter['emit'] = socket.emit.bind(socket);
    const pause = socket.pause.bind(socket);
    const resume = socket.resume.bind(socket);
    let [isWaiting, isPaused, isServed, isResumed] = [false, false, false, false];
    // After a `CONNECT`, Node leaves a connection to whoever listens next.
    const isLeft = () => socket.readableFlowing === null && !isResumed;
    const serve = () => {
      // Whoever paused it resumes it.
      isWaiting = !socket.destroyed && !isPaused && !isLeft();
      if (!isWaiting) return;
      isServed = true;
      socket.read(Math.min(socket.readableLength, portion));
      isServed = false;
      if (socket.readableLength > 0) return this.#turns.add(lane, serve);
      isWaiting = false;
      if (!isPaused && !isLeft()) resume();
    };
    Object.assign(socket, {
      pause: () => {
        isPaused = true;
        return pause();
      },
      resume: () => {
        isPaused = false;
        isResumed = isWaiting;
        return isWaiting ? socket : resume();
      },
      emit: (event: string, ...values: unknown[]) => {
        if (event !== 'data') return emit(event, ...values);
        // Pipes begin to read again without `resume`.
        if (!isServed) isPaused = false;
        const [chunk] = values as [Buffer];
        const size = isServed ? chunk.length : this.#spentMs < turnMs ? portion : 0;
        if (size < chunk.length) {
          pause();
          socket.unshift(chunk.subarray(size));
          if (!isWaiting) this.#turns.add(lane, serve);
          [isWaiting, isResumed] = [true, false];
        }
        return size === 0 || this.#timed(() => emit(event, chunk.subarray(0, size)));
      },
    });
  }

  /** Like `watch`, for a connection that a server of Node has just got. Node's parser reads it itself until somebody listens. */
  watchClient(socket: Duplex, lane: string): void {
    const listen = () => {};
    socket.on('data', listen).off('data', listen);
    this.watch(socket, lane);
  }

  #timed<T>(act: () => T): T {
    const from = performance.now();
    try {
      return act();
    } finally {
      if (this.#spentMs === 0)
        setImmediate(() => {
          this.#spentMs = 0;
        });
      this.#spentMs += performance.now() - from;
    }
  }
}
