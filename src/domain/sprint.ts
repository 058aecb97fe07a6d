import type { Check, StateMachine } from './machine.ts';

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
export const sprintMachine: StateMachine<SprintStatus, SprintEvent, SprintFacts> = {
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

const dayMs = 86_400_000;
/** The last time with a four-digit year, which the format of the API requires. */
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** The open tasks at the end of a day in UTC, `YYYY-MM-DD`, and how many there would be at an even pace. */
export interface CountedDay {
  date: string;
  ideal: number;
  actual: number;
}

/** A day with what is known, or expected, of its end. `actual` is null for days to come. */
export interface BurndownPoint {
  date: string;
  ideal: number;
  actual: number | null;
  low: number;
  high: number;
}

interface Line {
  count: number;
  startDate: string;
  endDate: string;
}

/**
 * Adds the ideal line to the actual counts. The line falls evenly from `count` on the first day to 0 on the last day.
 */
export function burndown(days: { date: string; actual: number }[], line: Line): CountedDay[] {
  return days.map(({ date, actual }) => ({ date, ideal: idealOn(date, line), actual }));
}

function idealOn(date: string, { count, startDate, endDate }: Line): number {
  const length = daysBetween(startDate, endDate);
  const left = Math.max(0, length - daysBetween(startDate, date));
  return length === 0 ? 0 : (count * left) / length;
}

/**
 * Adds the band of a forecast and the days to come. On past days the band is the actual count. Today it reaches from
 * the forecast up to the current count, because more tasks may still be done.
 */
export function withBand(
  days: readonly CountedDay[],
  ahead: readonly { date: string; low: number; high: number }[],
  line: Line,
): BurndownPoint[] {
  const [today] = ahead;
  const known = days.map(({ date, ideal, actual }) => {
    const low = date === today?.date ? Math.min(today.low, actual) : actual;
    return { date, ideal, actual, low, high: actual };
  });
  const last = days.at(-1)?.date ?? '';
  const coming = ahead
    .filter(({ date }) => date > last)
    .map(({ date, low, high }) => ({ date, ideal: idealOn(date, line), actual: null, low, high }));
  return [...known, ...coming];
}

/** Counts the days from one date to another, both `YYYY-MM-DD`. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / dayMs);
}

/** How many tasks were completed in a time in which a sprint was active. */
export interface Throughput {
  completed: number;
  elapsedMs: number;
}

interface Progress {
  total: number;
  completed: number;
  lastCompletion: Date | null;
  endDate: string;
  /** When work begins: now, or the first day of a sprint that has not started. */
  begins: Date;
  /** Of this sprint since it was started, and of earlier ones. */
  throughput: readonly Throughput[];
}

/** Tasks that are marked as done right after the start of a sprint show no pace yet. */
const leastElapsedMs = 3_600_000;

/**
 * Estimates when all tasks will be done, at the average rate of this sprint and of earlier ones; never before now. If
 * nothing was ever completed, returns the last day or now, whichever is later; if everything is, the last completion.
 */
export function estimatedCompletion(progress: Progress, now: Date): Date {
  const { total, completed, lastCompletion, endDate, begins, throughput } = progress;
  const left = total - completed;
  if (left === 0) return lastCompletion ?? new Date(endDate);
  const ever = throughput.reduce((sum, each) => sum + each.completed, 0);
  if (ever === 0) return new Date(Math.max(Date.parse(endDate), now.getTime()));
  const elapsed = throughput.reduce((sum, { elapsedMs }) => sum + Math.max(0, elapsedMs), 0);
  return new Date(Math.min(begins.getTime() + (Math.max(elapsed, leastElapsedMs) * left) / ever, latest));
}
