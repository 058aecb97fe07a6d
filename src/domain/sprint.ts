import { daysBetween } from './burndown.ts';
import type { Check, Machine } from './machine.ts';

export const sprintStatuses = ['planning', 'active', 'completed', 'cancelled'] as const;
export type SprintStatus = (typeof sprintStatuses)[number];

export type SprintEvent = 'start' | 'complete' | 'cancel' | 'delete' | 'change';

/** What the table of a sprint needs to know besides its status. */
export interface SprintFacts {
  /** The other sprint of the project that is active. */
  otherActive: string | undefined;
  unfinishedTasks: readonly string[];
  /** Whoever asks says what becomes of the unfinished tasks. */
  carriesOver: boolean;
  isForced: boolean;
}

const noOtherActive: Check<SprintFacts> = (f) =>
  f.otherActive === undefined ? undefined : `requires no other active sprint, found ${f.otherActive}`;
const allFinished: Check<SprintFacts> = (f) =>
  f.unfinishedTasks.length === 0 || f.carriesOver
    ? undefined
    : `requires every task done, or unfinished in the body, found unfinished: ${f.unfinishedTasks.join(', ')}`;
const isForced: Check<SprintFacts> = (f) =>
  f.isForced ? undefined : 'requires force=true for an active sprint, found none';

/** The lifecycle of a sprint (contract, section 3; decisions, section 7). */
export const sprintMachine: Machine<SprintStatus, SprintEvent, SprintFacts> = [
  { on: 'start', from: ['planning'], to: 'active', unless: [noOtherActive] },
  { on: 'complete', from: ['active'], to: 'completed', unless: [allFinished] },
  { on: 'cancel', from: ['active'], to: 'cancelled' },
  { on: 'change', from: ['planning'], to: 'planning' },
  { on: 'change', from: ['active'], to: 'active' },
  // Its runs end as at a cancel; other sprints are deleted without a word from here.
  { on: 'delete', from: ['active'], to: 'cancelled', because: 'gone, its runs cancelled', unless: [isForced] },
];

/** Ten years: longer is a slip of the pen, and its burndown would have no end. */
const mostDays = 3653;

/** What is wrong with the days of a sprint, both `YYYY-MM-DD`; undefined when nothing. */
export function lengthProblem(startDate: string, endDate: string): string | undefined {
  if (endDate < startDate) return 'must not be before startDate';
  return daysBetween(startDate, endDate) > mostDays ? `must be at most ${mostDays} days after startDate` : undefined;
}
