import { quantile } from './estimates.ts';

/** A task that is planned for a sprint. */
export interface PlannedWork {
  id: string;
  /** The agent that will do it; null when nobody is assigned yet. */
  owner: string | null;
  /** The ids of other planned tasks. Ids of tasks that are not planned are ignored. */
  dependsOn: readonly string[];
  /** Undefined for a task without an estimate. */
  estimate: { likelyMs: number; workMs: number } | undefined;
}

export interface Capacity {
  /** How many agents can work in the project. */
  agents: number;
  /** From now, or from the first day of a later sprint, to the end of its last day. */
  ms: number;
}

export interface Fit {
  fits: string[];
  /** The tasks that would be done too late, and when each is likely to be done, in milliseconds from the start. */
  tooLate: { id: string; doneMs: number }[];
  /** The tasks that depend on each other, or on such tasks, and can never be done. */
  never: string[];
  /** The tasks without an estimate. They were counted with the median of the others, which is 0 if there are none. */
  withoutEstimate: string[];
}

/**
 * Says which tasks fit into a sprint: those likely to be done by its end if every agent does one task at a time, in the
 * given order as far as dependencies allow. The tasks that do not fit are the candidates for the next sprint.
 */
export function whatFits(tasks: readonly PlannedWork[], { agents, ms }: Capacity): Fit {
  const numbers = new Map(tasks.map(({ id }, i) => [id, i]));
  const dependsOn = tasks.map((task) => [...new Set(task.dependsOn.flatMap((id) => numbers.get(id) ?? []))]);
  const owners = [...new Set(tasks.flatMap(({ owner }) => owner ?? []))];
  const poolSize = Math.max(1, agents, owners.length);
  const run = scheduler({
    lanes: tasks.map(({ owner }) => (owner === null ? anyLane : owners.indexOf(owner))),
    laneCount: poolSize,
    poolSize,
    dependsOn,
  });
  const done = run(likelyDurations(tasks));
  const never = new Set(deadlocked(dependsOn).map((i) => tasks[i]!.id));
  const doneMs = (id: string) => done[numbers.get(id)!]!;
  const possible = tasks.map(({ id }) => id).filter((id) => !never.has(id));
  return {
    fits: possible.filter((id) => doneMs(id) <= ms),
    tooLate: possible.filter((id) => doneMs(id) > ms).map((id) => ({ id, doneMs: doneMs(id) })),
    never: [...never],
    withoutEstimate: tasks.filter(({ estimate }) => estimate === undefined).map(({ id }) => id),
  };
}

function likelyDurations(tasks: readonly PlannedWork[]) {
  const known = tasks.flatMap(({ estimate }) => estimate ?? []);
  const usual = {
    likelyMs: quantile(
      known.map(({ likelyMs }) => likelyMs),
      0.5,
    ),
    workMs: quantile(
      known.map(({ workMs }) => workMs),
      0.5,
    ),
  };
  const estimates = tasks.map(({ estimate }) => estimate ?? usual);
  return {
    before: new Float64Array(tasks.length),
    work: Float64Array.from(estimates, ({ workMs, likelyMs }) => Math.min(workMs, likelyMs)),
    after: Float64Array.from(estimates, ({ workMs, likelyMs }) => Math.max(0, likelyMs - workMs)),
  };
}

/**
 * How tasks are distributed over lanes. Both have numbers from 0. A lane does one task at a time: it is an agent, which
 * has one run at a time in a project, or the people who finish tasks by hand.
 */
export interface Distribution {
  /** The lane of each task; `anyLane` for a task that the first free lane of the pool takes. */
  lanes: readonly number[];
  laneCount: number;
  /** The pool has the lanes below this number, at least one. */
  poolSize: number;
  /** The tasks that each task waits for. */
  dependsOn: readonly (readonly number[])[];
}

export const anyLane = -1;

/** How long each part of the tasks takes, in milliseconds. Only `work` occupies a lane. */
export interface Durations {
  /** From the moment when its dependencies are done until someone starts it, if its lane is free. */
  before: Float64Array;
  work: Float64Array;
  /** From the end of the work until the task is done, such as reviews. */
  after: Float64Array;
}

/**
 * Returns a function that computes when each task is done, in milliseconds from the start. A lane takes the task that has
 * waited longest; of two that have waited equally long, the one with the smaller number. Tasks that wait for each other
 * are never done: `Infinity`. The function returns the same array each time.
 */
export function scheduler({
  lanes,
  laneCount,
  poolSize,
  dependsOn,
}: Distribution): (durations: Durations) => Float64Array {
  const dependents = lanes.map((): number[] => []);
  for (const [task, others] of dependsOn.entries()) for (const other of others) dependents[other]!.push(task);
  const done = new Float64Array(lanes.length);
  const freeAt = new Float64Array(laneCount);
  const readyAt = new Float64Array(lanes.length);
  const open = new Int32Array(lanes.length);
  const queue = queueBy(readyAt);

  const carryOut = (task: number, work: number): number => {
    // A task whose work has ended, such as one in review, needs no lane.
    if (work === 0) return readyAt[task]!;
    const lane = lanes[task] === anyLane ? firstFree(freeAt, poolSize) : lanes[task]!;
    const end = Math.max(readyAt[task]!, freeAt[lane]!) + work;
    freeAt[lane] = end;
    return end;
  };
  const release = (task: number, before: Float64Array): void => {
    for (const dependent of dependents[task]!) {
      readyAt[dependent] = Math.max(readyAt[dependent]!, done[task]!);
      open[dependent]!--;
      if (open[dependent] !== 0) continue;
      readyAt[dependent]! += before[dependent]!;
      queue.push(dependent);
    }
  };
  return ({ before, work, after }) => {
    done.fill(Number.POSITIVE_INFINITY);
    freeAt.fill(0);
    readyAt.fill(0);
    for (let task = 0; task < lanes.length; task++) {
      open[task] = dependsOn[task]!.length;
      if (open[task] !== 0) continue;
      readyAt[task] = before[task]!;
      queue.push(task);
    }
    for (let task = queue.pop(); task !== undefined; task = queue.pop()) {
      done[task] = carryOut(task, work[task]!) + after[task]!;
      release(task, before);
    }
    return done;
  };
}

/** Returns the tasks that can never be done, because they depend on each other or on such tasks. */
export function deadlocked(dependsOn: Distribution['dependsOn']): number[] {
  const none = new Float64Array(dependsOn.length);
  const run = scheduler({ lanes: dependsOn.map(() => anyLane), laneCount: 1, poolSize: 1, dependsOn });
  const done = run({ before: none, work: none, after: none });
  return [...done.keys()].filter((task) => done[task] === Number.POSITIVE_INFINITY);
}

function firstFree(freeAt: Float64Array, poolSize: number): number {
  let first = 0;
  for (let lane = 1; lane < poolSize; lane++) if (freeAt[lane]! < freeAt[first]!) first = lane;
  return first;
}

/** A binary heap of numbers, ordered by `keys` and then by the numbers. */
function queueBy(keys: Float64Array) {
  const heap: number[] = [];
  const isBefore = (a: number, b: number) => keys[a]! < keys[b]! || (keys[a] === keys[b] && a < b);
  const swap = (i: number, j: number) => {
    [heap[i], heap[j]] = [heap[j]!, heap[i]!];
  };
  const siftDown = (): void => {
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      let least = i;
      if (left < heap.length && isBefore(heap[left]!, heap[least]!)) least = left;
      if (right < heap.length && isBefore(heap[right]!, heap[least]!)) least = right;
      if (least === i) return;
      swap(i, least);
      i = least;
    }
  };
  return {
    push: (value: number): void => {
      let i = heap.push(value) - 1;
      for (; i > 0 && isBefore(value, heap[(i - 1) >> 1]!); i = (i - 1) >> 1) swap(i, (i - 1) >> 1);
    },
    pop: (): number | undefined => {
      const first = heap[0];
      const last = heap.pop();
      if (heap.length > 0) {
        heap[0] = last!;
        siftDown();
      }
      return first;
    },
  };
}
