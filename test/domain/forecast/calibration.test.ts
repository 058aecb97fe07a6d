import { simulationOf } from '../../../src/domain/forecast/forecast.ts';
import { doneAt } from '../../../src/domain/forecast/history.ts';
import { simulate } from '../../../src/domain/forecast/simulate.ts';
import { estimatedCompletion, type Throughput } from '../../../src/domain/sprint.ts';
import { isThorough } from '../../support/thorough.ts';
import { type Moment, makeMoment } from './histories.ts';

const moments = isThorough ? 10_000 : 600;

/** The result of one forecast. Errors are shares of the usual length of a sprint in its project. */
interface Outcome {
  isInBand: boolean;
  isBy: Record<'p50' | 'p80' | 'p95', boolean>;
  error: number;
  /** Of the pace of this sprint so far. */
  plainError: number;
  /** Of the average pace of this sprint and the earlier ones. */
  pooledError: number;
}

function outcomeOf(moment: Moment): Outcome | undefined {
  const { facts, end, startedAt, earlier, usualLength } = moment;
  const simulation = simulationOf(facts);
  if (typeof simulation === 'string') return undefined;
  const { ends } = simulate({ ...simulation, times: 200 });
  const left = end - facts.now;
  const at = (share: number) => ends[Math.ceil(share * ends.length) - 1] ?? 0;
  const errorOf = (expected: number) => Math.abs(expected - left) / usualLength;
  const own = { completed: facts.taskCount - facts.open.length, elapsedMs: facts.now - startedAt };
  const before = earlier.map((sprint) => ({
    completed: sprint.tasks.length,
    elapsedMs: sprint.endedAt - sprint.startedAt,
  }));
  return {
    isInBand: at(0.1) <= left && left <= at(0.9),
    isBy: { p50: left <= at(0.5), p80: left <= at(0.8), p95: left <= at(0.95) },
    error: errorOf(at(0.5)),
    plainError: errorOf(byPace(moment, own.completed > 0 ? [own] : before)),
    pooledError: errorOf(byPace(moment, [own, ...before])),
  };
}

/** Returns how long the open tasks take at an average pace. */
function byPace({ facts }: Moment, throughput: Throughput[]): number {
  const now = new Date(facts.now);
  const counts = { total: facts.open.length, completed: 0, lastCompletion: null };
  const dates = { endDate: '2026-01-01', begins: now };
  return estimatedCompletion({ ...counts, ...dates, throughput }, now).getTime() - facts.now;
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const share = (values: boolean[]) => mean(values.map(Number));

test(`over ${moments} made-up sprints the forecast is calibrated, and more accurate than the plain pace`, () => {
  const outcomes = Array.from({ length: moments }, (_, i) => makeMoment(`moment ${i}`))
    .map((moment) => moment && outcomeOf(moment))
    .filter((outcome) => outcome !== undefined);
  const error = mean(outcomes.map((each) => each.error));
  const figures = {
    forecasts: outcomes.length,
    inBand: share(outcomes.map(({ isInBand }) => isInBand)),
    by50: share(outcomes.map(({ isBy }) => isBy.p50)),
    by80: share(outcomes.map(({ isBy }) => isBy.p80)),
    by95: share(outcomes.map(({ isBy }) => isBy.p95)),
    againstPlain: error / mean(outcomes.map(({ plainError }) => plainError)),
    againstPooled: error / mean(outcomes.map(({ pooledError }) => pooledError)),
  };
  if (isThorough) process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect(figures.forecasts).toBeGreaterThan(moments / 2);
  const between = (value: number, low: number, high: number) =>
    expect([value, low < value && value < high]).toEqual([value, true]);
  between(figures.inBand, 0.75, 0.85);
  between(figures.by50, 0.45, 0.55);
  between(figures.by80, 0.75, 0.85);
  between(figures.by95, 0.92, 0.98);
  expect(figures.againstPlain).toBeLessThan(0.75);
  expect(figures.againstPooled).toBeLessThan(0.95);
}, 900_000);

test('in the made-up sprints dependencies come first, and an agent does one task at a time', () => {
  const sprints = Array.from({ length: 30 }, (_, i) => makeMoment(`moment ${i}`)?.earlier ?? []).flat();
  expect(sprints.length).toBeGreaterThan(30);
  for (const { tasks } of sprints) {
    const doneById = new Map(tasks.map(({ id, stays }) => [id, doneAt(stays)]));
    for (const { dependsOn, runs } of tasks)
      for (const id of dependsOn) expect(runs[0]?.from).toBeGreaterThanOrEqual(doneById.get(id) ?? Infinity);
    for (const [, own] of Map.groupBy(tasks, ({ owner }) => owner)) {
      const runs = own.flatMap((task) => task.runs).sort((a, b) => a.from - b.from);
      for (const [i, { to }] of runs.slice(0, -1).entries()) expect(runs[i + 1]?.from).toBeGreaterThanOrEqual(to);
    }
  }
});
