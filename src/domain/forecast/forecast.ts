import type { SprintStatus } from '../sprint.ts';
import type { OpenTask } from './draws.ts';
import { doneAt, type Samples, samplesOf, spentOn, startableAt, type TaskHistory } from './history.ts';
import { deadlocked } from './schedule.ts';
import type { Simulated, Simulation } from './simulate.ts';

/** When the work of a sprint will be done: with a probability of 50, 80 and 95 percent by these times. */
export interface Forecast {
  p50: Date | null;
  p80: Date | null;
  p95: Date | null;
  /** Why there is no forecast; null if there is one. */
  reason: string | null;
}

/** How many tasks will be open at the end of a day (UTC): with a probability of 80 percent `low` to `high`. */
export interface DayAhead {
  /** `YYYY-MM-DD`. */
  date: string;
  low: number;
  high: number;
}

/** A task that is not done, with its past. */
export interface OpenHistory extends TaskHistory {
  phase: OpenTask['phase'];
  /** False for a task that is not of the sprint, but that a task of the sprint waits for. */
  isCounted: boolean;
}

/** What a forecast is made from. Times are in milliseconds since 1970. */
export interface ForecastFacts {
  sprintId: string;
  status: SprintStatus;
  /** How many tasks the sprint has, finished ones included. */
  taskCount: number;
  open: readonly OpenHistory[];
  /** Finished tasks of this sprint and of earlier ones. */
  finished: readonly TaskHistory[];
  /** How many agents can work in the project. */
  agents: number;
  now: number;
  /** Now, or the first day of a sprint that has not started. */
  startsAt: number;
}

/** A forecast needs this many finished tasks. With fewer it would hardly be narrower than "some day". */
export const fewestFinished = 5;
/** More open tasks would take too long to simulate. */
export const mostOpen = 1000;
/** Reading and ordering more of what open tasks wait for would hold up other requests: a task may wait for a hundred others. */
export const mostWaits = 10_000;
/** At most this many days ahead get a band. */
const mostDays = 60;
/** One forecast simulates about this many tasks in total. It runs fewer simulations when there are more tasks. */
const budget = 20_000;
/** With 200 simulations, ten are beyond the 95th percentile; more than 400 would hardly change it. */
const [fewestTimes, mostTimes] = [200, 400];
const dayMs = 86_400_000;
const minuteMs = 60_000;
/** The last time with a four-digit year, which the format of the API requires. */
const latest = Date.parse('9999-12-31T23:59:00.000Z');

/** Prepares the simulation of a sprint with days ahead or without, or says why there can be no forecast. */
export function simulationOf(facts: ForecastFacts, hasDays = false): Simulation | string {
  const samples = samplesOf(facts.finished);
  const reason = obstacle(facts, samples);
  if (reason !== undefined) return reason;
  return {
    tasks: openTasks(facts),
    samples,
    agents: facts.agents,
    seed: facts.sprintId,
    times: Math.round(Math.min(mostTimes, Math.max(fewestTimes, budget / facts.open.length))),
    dayEnds: Array.from(
      { length: hasDays ? mostDays : 0 },
      (_, day) => dayEnd(facts.startsAt) + day * dayMs - facts.startsAt,
    ),
  };
}

function obstacle({ status, taskCount, open }: ForecastFacts, { byAgents, byHand }: Samples): string | undefined {
  if (status === 'completed') return 'The sprint is completed.';
  if (status === 'cancelled') return 'The sprint was cancelled.';
  if (taskCount === 0) return 'The sprint has no tasks.';
  if (!open.some(({ isCounted }) => isCounted)) return 'No open tasks are left.';
  if (open.length > mostOpen) return `A forecast covers at most ${mostOpen} open tasks.`;
  if (open.reduce((count, { dependsOn }) => count + dependsOn.length, 0) > mostWaits)
    return `A forecast covers at most ${mostWaits} dependencies of open tasks.`;
  const stuck = deadlocked(dependenciesOf(open)).map((number) => open[number]!.id);
  if (stuck.length > 0) return `These tasks wait for each other and can never be done: ${named(stuck)}.`;
  const known = byAgents.length + byHand.length;
  if (known < fewestFinished)
    return `A forecast needs ${fewestFinished} tasks that were finished in this sprint, since its start, or in the last completed sprints. There ${known === 1 ? 'is' : 'are'} ${known}.`;
  return undefined;
}

function named(ids: readonly string[]): string {
  return ids.length <= 3 ? ids.join(', ') : `${ids.slice(0, 3).join(', ')} and ${ids.length - 3} more`;
}

function dependenciesOf(open: readonly OpenHistory[]): number[][] {
  const numbers = new Map(open.map(({ id }, number) => [id, number]));
  return open.map(({ dependsOn }) => [...new Set(dependsOn.flatMap((id) => numbers.get(id) ?? []))]);
}

function openTasks({ open, finished, now, status }: ForecastFacts): OpenTask[] {
  const sorted = [...open].sort((a, b) => Number(b.phase === 'working') - Number(a.phase === 'working'));
  const dependsOn = dependenciesOf(sorted);
  const doneById = new Map(finished.map(({ id, stays }) => [id, doneAt(stays) ?? 0]));
  return sorted.map((task, number) => {
    const { id, owner, phase, isCounted } = task;
    const spent = spentOn(task, startableAt(task, doneById), now);
    const isHeldUp = dependsOn[number]!.length > 0 || status === 'planning';
    return {
      id,
      owner,
      phase,
      isCounted,
      dependsOn: dependsOn[number]!,
      spent: { ...spent, before: isHeldUp ? 0 : spent.before },
    };
  });
}

/** Reads the forecast off the results of its simulation. */
export function forecastFrom({ ends }: Simulated, startsAt: number): Forecast {
  const at = (share: number) => {
    const ms = startsAt + percentile(ends, share);
    return new Date(Math.min(latest, Math.ceil(ms / minuteMs) * minuteMs));
  };
  return { p50: at(0.5), p80: at(0.8), p95: at(0.95), reason: null };
}

export function noForecast(reason: string): Forecast {
  return { p50: null, p80: null, p95: null, reason };
}

/** Reads the days ahead off the results of a simulation, until the day when the work is most likely done. */
export function daysAhead({ open, ends }: Simulated, startsAt: number): DayAhead[] {
  const last = dayEnd(startsAt + percentile(ends, 0.95));
  return open
    .map((counts, day) => ({
      date: new Date(dayEnd(startsAt) + (day - 1) * dayMs).toISOString().slice(0, 10),
      low: percentile(counts, 0.1),
      high: percentile(counts, 0.9),
    }))
    .slice(0, (last - dayEnd(startsAt)) / dayMs + 1);
}

/** Returns the smallest value that at least this share of the ordered values do not exceed. */
function percentile(ordered: readonly number[], share: number): number {
  return ordered[Math.ceil(share * ordered.length) - 1] ?? 0;
}

/** Returns the end of a day in UTC. */
function dayEnd(time: number): number {
  return (Math.floor(time / dayMs) + 1) * dayMs;
}
