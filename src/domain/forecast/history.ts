import type { TaskStatus } from '../task.ts';

/** A period that a task spent in one status, in a sprint that had started. All times are in milliseconds. */
export interface Stay {
  status: TaskStatus;
  from: number;
  to: number;
}

/** A run that an agent has begun. */
export interface RunTime {
  from: number;
  /** When it ended, or now. */
  to: number;
  /** How long it waited in between, for a person or for its model, without occupying its agent. */
  waited: number;
}

/** A task with its past in this sprint and in earlier ones. */
export interface TaskHistory {
  id: string;
  /** The agent that owns it. */
  owner: string | null;
  /** The ids of the tasks that it waits for, its subtasks included. */
  dependsOn: readonly string[];
  /** Oldest first, like the runs. */
  stays: readonly Stay[];
  runs: readonly RunTime[];
}

/** How long each part of a task took. */
export interface Spent {
  /** How long nobody started it although its dependencies were done. */
  before: number;
  /** How long agents worked on it. */
  work: number;
  /** The rest, such as reviews and the waiting for a retry. */
  after: number;
}

/** How long the finished tasks of a project took. */
export interface Samples {
  byAgents: Spent[];
  /** The tasks that people finished without an agent. Their `work` is the time since the one before. */
  byHand: Spent[];
}

/** Only the latest finished tasks count, at most this many. */
export const mostFinished = 100;

/**
 * Finds how long finished tasks took. Tasks that were done when they entered their sprint, or when it started, say nothing
 * about the pace and are left out.
 */
export function samplesOf(tasks: readonly TaskHistory[]): Samples {
  const finished = tasks
    .flatMap((task) => {
      const done = doneAt(task.stays);
      return done === undefined || done <= enteredAt(task) ? [] : [{ task, done }];
    })
    .sort((a, b) => a.done - b.done)
    .slice(-mostFinished);
  const doneById = new Map(finished.map(({ task, done }) => [task.id, done]));
  const samples: Samples = { byAgents: [], byHand: [] };
  let lastByHand = Number.NEGATIVE_INFINITY;
  for (const { task, done } of finished) {
    const startable = startableAt(task, doneById);
    if (task.runs.length > 0) samples.byAgents.push(spentOn(task, startable, done));
    // An agent worked on it, but its runs were deleted with the task.
    else if (task.stays.some(({ status }) => status === 'in_progress')) continue;
    else {
      samples.byHand.push({ before: 0, work: Math.max(0, done - Math.max(startable, lastByHand)), after: 0 });
      lastByHand = done;
    }
  }
  return samples;
}

/** Returns how long each part of a task took, up to `until`. The task could start at `startable`. */
export function spentOn({ stays, runs }: TaskHistory, startable: number, until: number): Spent {
  const began = runs[0]?.from ?? until;
  // Time outside of sprints does not count, and neither does that of queued runs and subtasks, which are simulated too.
  const idle = stays.filter(({ status }) => status === 'backlog' || status === 'ready' || status === 'in_review');
  const idleIn = (from: number, to: number) =>
    sum(idle.map((stay) => Math.max(0, Math.min(stay.to, to) - Math.max(stay.from, from))));
  return {
    before: idleIn(startable, began),
    work: sum(runs.map(({ from, to, waited }) => Math.max(0, Math.min(to, until) - from - waited))),
    after: idleIn(began, until) + sum(runs.map(({ waited }) => waited)),
  };
}

/** Returns when a task entered its first sprint, or when that sprint started. */
function enteredAt({ stays }: TaskHistory): number {
  return stays[0]?.from ?? Number.POSITIVE_INFINITY;
}

/** Returns when a task became done for good; undefined if it is not done. */
export function doneAt(stays: readonly Stay[]): number | undefined {
  return stays[stays.findLastIndex(({ status }) => status !== 'done') + 1]?.from;
}

/** Returns when a task could start: when it had entered its sprint and its dependencies were done. */
export function startableAt(task: TaskHistory, doneById: ReadonlyMap<string, number>): number {
  return Math.max(enteredAt(task), ...task.dependsOn.map((id) => doneById.get(id) ?? 0));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
