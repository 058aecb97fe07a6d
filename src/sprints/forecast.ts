import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import {
  type DayAhead,
  daysAhead,
  type Forecast,
  forecastFrom,
  mostOpen,
  mostWaits,
  noForecast,
  simulationOf,
} from '../domain/forecast/forecast.ts';
import { type Simulated, type Simulation, simulate } from '../domain/forecast/simulate.ts';
import { type BurndownPoint, withBand } from '../domain/sprint.ts';
import { badRequest } from '../errors.ts';
import { idOrEmpty } from '../http/access/access.ts';
import { apart } from '../threads/apart.ts';
import { OverLimit } from '../threads/start-thread.ts';
import { burndownOf, metricsOf } from './figures-store.ts';
import { addPasts, countAgents, knownTasks, listFinishedTasks, listOpenTasks } from './forecast-store.ts';
import type { SprintView } from './store.ts';

/**
 * Returns a function that computes each result once, and remembers the latest `most` of them by their keys. Calls at the
 * same time share one computation. A failed one is repeated by the next call.
 */
export function sharedResults<T>(most: number): (key: string, compute: () => Promise<T>) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (key, compute) => {
    const result = known.get(key) ?? compute();
    // Used last, so forgotten last.
    known.delete(key);
    known.set(key, result);
    for (const oldest of known.keys()) if (known.size > most) known.delete(oldest);
    result.catch(() => known.get(key) === result && known.delete(key));
    return result;
  };
}

/** Simulations with more draws than this, for tasks and weights, run in a thread. Smaller ones take about 5 ms. */
const mostHere = 50_000;
/** The largest simulation takes a fraction of a second. */
const threads = apart<typeof import('../domain/forecast/simulate.ts')>(
  new URL('../domain/forecast/simulate.ts', import.meta.url),
  { seconds: 30, heapMb: 64 },
);

const minuteMs = 60_000;

interface Forecasted {
  forecast: Forecast;
  days: DayAhead[];
}

/** The latest forecasts. One with days ahead takes about 5 kB. */
const shared = sharedResults<Forecasted>(500);

interface Asked {
  /** Tasks of the sprint to leave out of the forecast. */
  without?: string[];
  /** Whether to forecast each day ahead too, for the burndown. */
  hasDays?: boolean;
  now?: Date;
}

/**
 * Forecasts when the work of a sprint will be done, as of the end of the current minute: everyone who reads it within a
 * minute shares one simulation. Without a forecast, there are no days ahead.
 */
export async function forecastOf(
  em: EntityManager,
  sprint: SprintView,
  { without = [], hasDays = false, now: asked = new Date() }: Asked = {},
): Promise<Forecasted> {
  const now = new Date(Math.ceil(asked.getTime() / minuteMs) * minuteMs);
  const { status } = sprint;
  const startsAt = Math.max(now.getTime(), status === 'planning' ? sprint.startDate.getTime() : 0);
  const isOver = status === 'completed' || status === 'cancelled';
  // An ended sprint has no forecast, whatever its tasks do now.
  const open = isOver ? [] : await listOpenTasks(em, sprint.id, without, mostOpen + 1, mostWaits + 1);
  const finished = open.length === 0 ? [] : await listFinishedTasks(em, sprint, now);
  const simulation = simulationOf(
    {
      sprintId: sprint.id,
      status,
      taskCount: sprint.taskCount,
      open: await addPasts(em, sprint, open, now),
      finished: await addPasts(em, sprint, finished, now),
      agents: await countAgents(em, sprint.projectId),
      now: now.getTime(),
      startsAt,
    },
    hasDays,
  );
  if (typeof simulation === 'string') return { forecast: noForecast(simulation), days: [] };
  const forecast = async () => {
    const simulated = await carryOut(simulation);
    return {
      forecast: forecastFrom(simulated, startsAt),
      days: hasDays ? daysAhead(simulated, startsAt) : [],
    };
  };
  return shared(keyOf([simulation, startsAt]), forecast).catch((error) => {
    if (error instanceof OverLimit) return { forecast: noForecast('The forecast took too long to compute.'), days: [] };
    throw error;
  });
}

function keyOf(facts: unknown): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64');
}

/** @throws OverLimit when a thread exceeded its limits */
async function carryOut(simulation: Simulation): Promise<Simulated> {
  const { times, tasks, samples } = simulation;
  const draws = times * (tasks.length + samples.byAgents.length + samples.byHand.length);
  return draws <= mostHere ? simulate(simulation) : threads.call('simulate', simulation);
}

/**
 * Returns the metrics of a sprint with its forecast, which leaves out the tasks in `without`.
 * @throws AppError 400 naming ids that are no tasks of the sprint
 */
export async function getMetrics(em: EntityManager, sprint: SprintView, without: string[]) {
  const known = without.length === 0 ? new Set() : await knownTasks(em, sprint.id, without.map(idOrEmpty));
  const unknown = without.filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw badRequest(unknown.map((id) => ({ path: 'without', message: `without: no task ${id} in this sprint` })));
  const now = new Date();
  const { forecast } = await forecastOf(em, sprint, { without, now });
  return { ...(await metricsOf(em, sprint, now)), forecast };
}

/** Returns the burndown with the band of the forecast; with `isAhead`, also for the days to come. */
export async function getBurndown(em: EntityManager, sprint: SprintView, isAhead: boolean): Promise<BurndownPoint[]> {
  const now = new Date();
  const points = await burndownOf(em, sprint, now);
  const { days } = await forecastOf(em, sprint, { hasDays: true, now });
  const line = { count: points[0]?.ideal ?? sprint.taskCount, startDate: sprint.startDay, endDate: sprint.endDay };
  return withBand(points, isAhead ? days : days.slice(0, 1), line).filter(({ actual }) => isAhead || actual !== null);
}
