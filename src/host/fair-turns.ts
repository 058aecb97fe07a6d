import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';

type Work = () => void;

/** Whose work it is: an address, or whatever stands for somebody. */
type Lane = string | object;

/** A queue. `shift` of an array would move all the rest each time. */
class Queue {
  #work: Work[] = [];
  #next = 0;

  add(work: Work): void {
    this.#work.push(work);
  }

  take(): Work | undefined {
    const work = this.#work[this.#next];
    this.#next += 1;
    if (this.#next > 1000 && this.#next > this.#work.length / 2) {
      this.#work = this.#work.slice(this.#next);
      this.#next = 0;
    }
    return work;
  }

  isEmpty(): boolean {
    return this.#next >= this.#work.length;
  }
}

/** Queues that are served round-robin. */
class Lanes {
  readonly #lanes = new Map<Lane, Queue>();

  isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  add(lane: Lane, work: Work): void {
    const waiting = this.#lanes.get(lane) ?? new Queue();
    this.#lanes.set(lane, waiting);
    waiting.add(work);
  }

  /** Runs the first callback of the first queue and moves that queue to the end. */
  runNext(): void {
    const [next] = this.#lanes;
    if (next === undefined) return;
    const [lane, waiting] = next;
    const work = waiting.take();
    this.#lanes.delete(lane);
    if (!waiting.isEmpty()) this.#lanes.set(lane, waiting);
    work?.();
  }
}

/** How long to handle requests before yielding to the event loop, which then accepts connections: usually, and while some arrive. */
const sliceMs = { usual: 5, arriving: 1 };

/** For this time after a connection arrived, more are expected. */
const arrivingMs = 20;

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
  #arrivedAt = Number.NEGATIVE_INFINITY;

  /** Queues `work` in a lane, behind that lane's earlier work of the same urgency. */
  add(lane: Lane, work: Work, isUrgent = false): void {
    (isUrgent ? this.#urgent : this.#usual).add(lane, work);
    this.#schedule();
  }

  /**
   * Notes that a connection arrived. The next slices are then short, because each iteration of the event loop accepts only one
   * connection. They are long enough for what many connections left behind that were closed since.
   */
  noteArrival(): void {
    this.#arrivedAt = performance.now();
  }

  isArriving(): boolean {
    return performance.now() - this.#arrivedAt < arrivingMs;
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
    const endsAt = performance.now() + (this.isArriving() ? sliceMs.arriving : sliceMs.usual);
    do {
      this.#urgent.runNext();
      this.#usual.runNext();
    } while (this.#hasWork() && performance.now() < endsAt);
  }

  #hasWork(): boolean {
    return !this.#urgent.isEmpty() || !this.#usual.isEmpty();
  }
}

/**
 * How long data may be handled as it comes in one turn of the event loop: usually, and while connections arrive. Data that comes later
 * waits for its place in fair turns.
 */
const turnMs = { usual: 10, arriving: 1 };

/** How many bytes of a connection are handled at once: fewer while they take longer than `longMs`, more while they take less than half. */
const portion = { first: 1024, least: 512, most: 16_384, longMs: 1 };

/** Set on a connection that is watched: several requests may use a kept one. */
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
   * Lets the data of a connection wait when this turn has taken long, behind what waits in the same lane. It must be read by
   * listeners of `data` or by pipes: listeners of `readable` would get it twice.
   */
  watch(socket: Duplex & { [watched]?: true }, lane: Lane): void {
    if (socket[watched]) return;
    socket[watched] = true;
    const emit: EventEmitter['emit'] = socket.emit.bind(socket);
    const pause = socket.pause.bind(socket);
    const resume = socket.resume.bind(socket);
    let [isWaiting, isPaused, isServed] = [false, false, false];
    let bytes = portion.first;
    const pass = (chunk: Buffer) => {
      const took = this.#timed(() => emit('data', chunk));
      if (took > portion.longMs) bytes = Math.max(portion.least, bytes / 2);
      else if (took < portion.longMs / 2) bytes = Math.min(portion.most, bytes * 2);
      return true;
    };
    // After a `CONNECT`, Node stops reading until somebody else listens.
    const isLeft = () => socket.readableFlowing === null;
    const serve = () => {
      // If a reader has paused the connection, that reader resumes it.
      isWaiting = !socket.destroyed && !isPaused && !isLeft();
      if (!isWaiting) return;
      isServed = true;
      socket.read(Math.min(socket.readableLength, bytes));
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
        return isWaiting && !isLeft() ? socket : resume();
      },
      emit: (event: string, ...values: unknown[]) => {
        if (event !== 'data') return emit(event, ...values);
        // Pipes begin to read again without `resume`.
        if (!isServed) isPaused = false;
        const [chunk] = values as [Buffer];
        const size = isServed ? chunk.length : this.#hasTime() ? bytes : 0;
        if (size < chunk.length) {
          pause();
          socket.unshift(chunk.subarray(size));
          if (!isWaiting) this.#turns.add(lane, serve);
          isWaiting = true;
        }
        return size === 0 || pass(chunk.subarray(0, size));
      },
    });
  }

  /** Like `watch`, for a connection that a server of Node has just got. Node's parser reads it itself until somebody listens. */
  watchClient(socket: Duplex, lane: Lane): void {
    const listen = () => {};
    socket.on('data', listen).off('data', listen);
    this.watch(socket, lane);
  }

  #hasTime(): boolean {
    return this.#spentMs < (this.#turns.isArriving() ? turnMs.arriving : turnMs.usual);
  }

  /** Returns how many milliseconds something took, which count for this turn. */
  #timed(act: () => unknown): number {
    const from = performance.now();
    try {
      act();
    } finally {
      if (this.#spentMs === 0)
        setImmediate(() => {
          this.#spentMs = 0;
        });
      this.#spentMs += performance.now() - from;
    }
    return performance.now() - from;
  }
}

/** Watches the connections of commands, and those to servers that people name. The whole process shares it, as it has one event loop. */
export const readsOfStrangers = new FairReads();
