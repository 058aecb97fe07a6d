import { daysBetween } from './burndown.ts';
import type { Check, Machine } from './machine.ts';

export const sprintStatuses = ['planning', 'active', 'completed', 'cancelled'] as const;
export type SprintStatus = (typeof sprintStatuses)[number];

export type SprintEvent = 'start' | 'complete' | 'cancel' | 'delete' | 'change';

/** The facts besides its status that decide whether a sprint may change its status. */
export interface SprintFacts {
  /** Whether another sprint of the project is active. */
  hasOtherActive: boolean;
  unfinishedTasks: readonly string[];
  /** Whether the request says where the unfinished tasks go. */
  carriesOver: boolean;
  isForced: boolean;
}

const noOtherActive: Check<SprintFacts> = {
  rule: 'no other sprint of the project is active',
  // Refusals are shown in public issues too, where a sprint must not be named.
  refusal: (f) =>
    f.hasOtherActive ? 'Another sprint of the project is still active. Complete or cancel it first.' : undefined,
};
const allFinished: Check<SprintFacts> = {
  rule: 'every task is done, or `unfinished` says where the others go',
  refusal: (f) =>
    f.unfinishedTasks.length === 0 || f.carriesOver
      ? undefined
      : `The sprint has unfinished tasks: ${f.unfinishedTasks.join(', ')}. Set \`unfinished\` to "backlog" or to the id of a sprint in planning to move them there.`,
};
const isForced: Check<SprintFacts> = {
  rule: '`force=true` is given',
  refusal: (f) =>
    f.isForced ? undefined : 'The sprint is active. Complete or cancel it first, or delete it with force=true.',
};

/** The state machine of a sprint. */
export const sprintMachine: Machine<SprintStatus, SprintEvent, SprintFacts> = {
  noun: 'sprint',
  statuses: {
    planning: 'is in planning',
    active: 'is active',
    completed: 'is completed',
    cancelled: 'is cancelled',
  },
  events: {
    start: 'be started',
    complete: 'be completed',
    cancel: 'be cancelled',
    delete: 'be deleted',
    change: 'be changed',
  },
  rows: [
    { on: 'start', from: ['planning'], to: 'active', onlyIf: [noOtherActive] },
    { on: 'complete', from: ['active'], to: 'completed', onlyIf: [allFinished] },
    { on: 'cancel', from: ['active'], to: 'cancelled' },
    { on: 'change', from: ['planning'], to: 'planning' },
    { on: 'change', from: ['active'], to: 'active' },
    // Cancels the runs of an active sprint. A sprint in any other status is deleted without this state machine.
    { on: 'delete', from: ['active'], to: 'cancelled', because: 'deleted, its runs cancelled', onlyIf: [isForced] },
  ],
};

/** The length of a sprint without given dates: two weeks. */
export const usualDays = 14;

/** Ten years. A longer sprint is probably a typing error, and its burndown would have a point for each day. */
const maxDays = 3653;

/** Returns what is wrong with the first and last day of a sprint, both `YYYY-MM-DD`; undefined when nothing is. */
export function lengthProblem(startDate: string, endDate: string): string | undefined {
  if (endDate < startDate) return 'must not be before startDate';
  return daysBetween(startDate, endDate) > maxDays ? `must be at most ${maxDays} days after startDate` : undefined;
}
