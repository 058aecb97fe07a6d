import {
  daysAhead,
  type ForecastFacts,
  forecastFrom,
  type OpenHistory,
  simulationOf,
} from '../../../src/domain/forecast/forecast.ts';
import type { Stay, TaskHistory } from '../../../src/domain/forecast/history.ts';

const [minute, hour] = [60_000, 3_600_000];
const noon = Date.parse('2026-03-04T12:00:00Z');

const stay = (status: Stay['status'], from: number, to: number): Stay => ({ status, from, to });
const finished = (n: number, by: 'agent' | 'hand' = 'agent'): TaskHistory => ({
  id: `done_${n}`,
  owner: null,
  dependsOn: [],
  stays: [stay('ready', n, 50 + n), stay('done', 50 + n, 100)],
  runs: by === 'agent' ? [{ from: n, to: 50 + n, waited: 0 }] : [],
});
const open = (id: string, more: Partial<OpenHistory> = {}): OpenHistory => ({
  id,
  owner: null,
  dependsOn: [],
  phase: 'idle',
  isCounted: true,
  stays: [stay('ready', 0, 100)],
  runs: [],
  ...more,
});
const facts = (more: Partial<ForecastFacts> = {}): ForecastFacts => ({
  sprintId: 'sprint_1',
  status: 'active',
  taskCount: 1,
  open: [open('a')],
  finished: [1, 2, 3, 4, 5].map((n) => finished(n)),
  agents: 2,
  now: 100,
  startsAt: noon,
  ...more,
});
function prepared(more: Partial<ForecastFacts> = {}, hasDays?: boolean) {
  const simulation = simulationOf(facts(more), hasDays);
  if (typeof simulation === 'string') throw new Error(simulation);
  return simulation;
}
const many = (count: number) => Array.from({ length: count }, (_, i) => open(`t${i}`));

test('five finished tasks are enough, whoever did them, and so is one task', () => {
  const both = [finished(1), finished(2), finished(3), finished(4, 'hand'), finished(5, 'hand')];
  const { samples, agents, seed } = prepared({ finished: both });
  expect([samples.byAgents.length, samples.byHand.length, agents, seed]).toEqual([3, 2, 2, 'sprint_1']);
  expect(simulationOf(facts({ finished: both.slice(1) }))).toMatch(/There are 4\.$/);
  expect(simulationOf(facts({ finished: both.slice(0, 2) }))).toMatch(/There are 2\.$/);
});

test.each([
  [1, 400],
  [40, 400],
  [80, 250],
  [300, 200],
  [1000, 200],
])('%i open tasks are simulated %i times', (count, times) => {
  expect(prepared({ open: many(count) }).times).toBe(times);
});

test('the days ahead are counted to their ends in UTC, and only if they are asked for', () => {
  const { dayEnds } = prepared({}, true);
  expect([dayEnds.length, dayEnds[0], dayEnds[1], dayEnds.at(-1)]).toEqual(
    [60, 12, 12 + 24, 12 + 59 * 24].map((n, i) => (i === 0 ? n : n * hour)),
  );
  expect(prepared({ startsAt: noon - 12 * hour }, true).dayEnds[0]).toBe(24 * hour);
  expect(prepared().dayEnds).toEqual([]);
});

test('tasks that are worked on come first, and dependencies are numbered accordingly', () => {
  const { tasks } = prepared({
    open: [
      open('a', { dependsOn: ['d', 'done_1', 'd'] }),
      open('b', { phase: 'working' }),
      open('c', { dependsOn: ['a', 'b'] }),
      open('d', { phase: 'working' }),
      open('e'),
    ],
  });
  expect(tasks.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
    ['b', []],
    ['d', []],
    ['a', [1]],
    ['c', [2, 0]],
    ['e', []],
  ]);
});

test('time before the start counts only for a task that could have been started', () => {
  const before = (more: Partial<OpenHistory>, sprint: Partial<ForecastFacts> = {}) =>
    prepared({ open: [open('a', more), open('b')], ...sprint }).tasks[0]?.spent.before;
  expect(before({})).toBe(100);
  expect(before({ dependsOn: ['done_3'] })).toBe(100 - 53);
  expect(before({ dependsOn: ['b'] })).toBe(0);
  expect(before({}, { status: 'planning' })).toBe(0);
  // A finished task that was in no sprint held nobody up.
  const elsewhere = { ...finished(9), id: 'elsewhere', stays: [] };
  expect(before({ dependsOn: ['elsewhere'] }, { finished: [...facts().finished, elsewhere] })).toBe(100);
});

test('a forecast is the time by which enough simulations are done, rounded up to a minute', () => {
  const ends = [0, 1, 1.5, 2, 3.001, 4, 5, 6, 7.5, 8.001].map((minutes) => minutes * minute);
  const at = (minutes: number) => new Date(noon + minutes * minute);
  expect(forecastFrom({ ends, open: [] }, noon)).toEqual({ p50: at(4), p80: at(6), p95: at(9), reason: null });
  expect(forecastFrom({ ends: [2 * minute], open: [] }, noon)).toEqual({
    p50: at(2),
    p80: at(2),
    p95: at(2),
    reason: null,
  });
  expect(forecastFrom({ ends: [], open: [] }, noon).p95).toEqual(at(0));
  expect(forecastFrom({ ends: [1e18], open: [] }, noon).p50).toEqual(new Date('9999-12-31T23:59:00Z'));
});

/** Ten counts of open tasks from a first one on. */
const from = (first: number) => Array.from({ length: 10 }, (_, i) => first + i);

test('the days ahead reach to the one on which the work is most likely done', () => {
  const last = (hours: number) =>
    daysAhead(
      { ends: [1, 2, 3, 4, 5, 6, 7, 8, 9, hours].map((n) => n * hour), open: [from(20), from(10), from(0)] },
      noon,
    );
  expect(last(30)).toEqual([
    { date: '2026-03-04', low: 20, high: 28 },
    { date: '2026-03-05', low: 10, high: 18 },
  ]);
  expect(last(11).map(({ date }) => date)).toEqual(['2026-03-04']);
  expect(last(999)).toHaveLength(3);
});
