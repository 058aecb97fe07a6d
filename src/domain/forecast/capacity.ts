import { quantile } from './estimates.ts';
import { anyLane, deadlocked, scheduler } from './schedule.ts';

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
