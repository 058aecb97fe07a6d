import { costText } from '../../domain/budget.ts';
import type { CardRun, Spend } from '../api.ts';

const english = new Intl.NumberFormat('en');

/**
 * Formats a number as `1,234.5`, whatever the language of the browser: the words around it are English, costs are written
 * like this too, and number fields accept no other decimal point.
 */
export function formatNumber(value: number): string {
  return english.format(value);
}

/** Formats a count with its noun: `1 file`, `2 files`. Only for nouns whose plural adds an s. */
export function plural(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Formats a cost in US dollars; null means that the price of the model is not configured. */
export function formatCost(cost: number | null): string {
  return cost === null ? 'cost unknown' : costText(cost);
}

/** Formats what a run has cost so far. The cost of a run without steps is not unknown. */
export function costOf({ steps, costUsd }: { steps: number; costUsd: number | null }): string {
  return costUsd === null && steps === 0 ? 'no cost yet' : formatCost(costUsd);
}

/** Formats the time between two points in time: `3 s`, `2 min 5 s`, `1 h 4 min`. */
export function formatDuration(from: string, to: string): string {
  return formatMs(Date.parse(to) - Date.parse(from));
}

/** Formats a length of time in ms in the same way. */
export function formatMs(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const [minute, hour, day] = [60, 3600, 86_400];

/** Formats a length of time as a clock shows it: `0:07`, `12:40`, `1:02:03`. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const twoDigits = (n: number) => String(n).padStart(2, '0');
  const short = `${Math.floor((seconds % hour) / minute)}:${twoDigits(seconds % minute)}`;
  return seconds < hour ? short : `${Math.floor(seconds / hour)}:${short.padStart(5, '0')}`;
}

/** Formats an age in its largest unit: `now`, `5 min`, `3 h`, `12 d`, `2 y`. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < minute) return 'now';
  if (seconds < hour) return `${Math.floor(seconds / minute)} min`;
  if (seconds < day) return `${Math.floor(seconds / hour)} h`;
  const days = Math.floor(seconds / day);
  return days < 365 ? `${days} d` : `${Math.floor(days / 365)} y`;
}

/** What the clock of a run is read from. */
type Timed = Pick<CardRun, 'createdAt' | 'startedAt' | 'finishedAt' | 'waitingSince' | 'waitedSeconds'>;

/**
 * Returns how long a run has worked, in ms, without the time that it waited; for a run that has not started, how long it
 * has been queued.
 */
export function elapsedOf(run: Timed, now: number): number {
  if (run.startedAt === null) return now - Date.parse(run.createdAt);
  const end = Date.parse(run.finishedAt ?? run.waitingSince ?? '') || now;
  // Waits are stored in whole seconds, so a run that only waited could come out below zero.
  return Math.max(0, end - Date.parse(run.startedAt) - run.waitedSeconds * 1000);
}

/**
 * Returns the costs of parts rounded to cents so that they add up to the rounded total: those that lose most by rounding down are
 * rounded up. Parts that do not add up to the total are rounded each for itself.
 */
export function roundedTogether(parts: number[], total: number): number[] {
  // Sums of floating-point numbers are off by a little.
  const cents = parts.map((part) => part * 100 + 1e-6);
  const rounded = cents.map(Math.floor);
  const missing = Math.round(total * 100) - rounded.reduce((sum, each) => sum + each, 0);
  if (missing < 0 || missing > parts.length) return parts;
  const byLoss = [...cents.keys()].sort((a, b) => lossOf(cents[b] ?? 0) - lossOf(cents[a] ?? 0));
  for (const at of byLoss.slice(0, missing)) rounded[at] = (rounded[at] ?? 0) + 1;
  // What costs less than a cent is still not free.
  return rounded.map((each, at) => (each === 0 ? Math.min(parts[at] ?? 0, 0.009) : each / 100));
}

const lossOf = (cents: number) => cents - Math.floor(cents);

/** Formats the cost of an agent as the page of spend does. An agent that is not in the list has used nothing. */
export function agentCost({ agents, total }: Spend, agentId: string): string {
  const costs = roundedTogether(
    agents.map(({ costUsd }) => costUsd),
    total.costUsd,
  );
  return formatCost(costs[agents.findIndex((each) => each.agentId === agentId)] ?? 0);
}
