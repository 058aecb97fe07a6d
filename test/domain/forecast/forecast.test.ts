import {
  daysAhead,
  type ForecastFacts,
  fewestFinished,
  forecastFrom,
  mostOpen,
  type OpenHistory,
  simulationOf,
} from '../../../src/domain/forecast/forecast.ts';
import type { TaskHistory } from '../../../src/domain/forecast/history.ts';
import { simulate } from '../../../src/domain/forecast/simulate.ts';

const hour = 3_600_000;
const now = Date.parse('2026-03-04T12:00:00Z');

/** A task that an agent finished: a run of some hours, then a review of as many. */
const finished = (n: number, hours: number, owner = 'agent_a'): TaskHistory => {
  const from = now - (200 - n * 3) * hour;
  return {
    id: `done_${n}`,
    owner,
    dependsOn: [],
    stays: [
      { status: 'ready', from: from - hour, to: from },
      { status: 'in_progress', from, to: from + hours * hour },
      { status: 'in_review', from: from + hours * hour, to: from + 2 * hours * hour },
      { status: 'done', from: from + 2 * hours * hour, to: now },
    ],
    runs: [{ from, to: from + hours * hour, waited: 0 }],
  };
};
const history = (count: number) => Array.from({ length: count }, (_, n) => finished(n, 1));
const open = (id: string, more: Partial<OpenHistory> = {}): OpenHistory => ({
  id,
  owner: 'agent_a',
  dependsOn: [],
  phase: 'idle',
  isCounted: true,
  stays: [{ status: 'ready', from: now, to: now }],
  runs: [],
  ...more,
});
const facts = (more: Partial<ForecastFacts> = {}): ForecastFacts => ({
  sprintId: 'sprint_1',
  status: 'active',
  taskCount: 30,
  open: [open('a')],
  finished: history(20),
  agents: 2,
  now,
  startsAt: now,
  ...more,
});
/** Returns the hours until the work is done with 50, 80 and 95 percent, or why they are unknown. */
function hours(more: Partial<ForecastFacts> = {}): number[] | string {
  const simulation = simulationOf(facts(more));
  if (typeof simulation === 'string') return simulation;
  const { p50, p80, p95 } = forecastFrom(simulate(simulation), now);
  return [p50, p80, p95].map((time) => (Number(time) - now) / hour);
}
const likely = (more: Partial<ForecastFacts> = {}) => Number(hours(more)[0]);

test('a single task takes as long as earlier ones, and the dates are in order', () => {
  const [p50 = 0, p80 = 0, p95 = 0] = hours() as number[];
  expect(p50).toBeGreaterThan(2);
  expect(p50).toBeLessThan(4);
  expect(p80).toBeGreaterThan(p50);
  expect(p95).toBeGreaterThan(p80);
});

test('the same data give the same answer', () => {
  expect(hours()).toEqual(hours());
});

test('a chain of dependencies takes longer than the same tasks in parallel', () => {
  const others = ['a', 'b', 'c', 'd'].map((id, i) => open(id, { owner: `agent_${i}` }));
  const chain = others.map((task, i) => ({ ...task, dependsOn: others.slice(0, i).map(({ id }) => id) }));
  expect(likely({ open: chain })).toBeGreaterThan(2 * likely({ open: others }));
});

test('one agent takes longer than several, and tasks without an owner take a free agent', () => {
  const many = (owner: (i: number) => string | null) =>
    Array.from({ length: 12 }, (_, i) => open(`t${i}`, { owner: owner(i) }));
  const one = likely({ open: many(() => 'agent_a') });
  expect(one).toBeGreaterThan(2 * likely({ open: many((i) => `agent_${i % 6}`) }));
  expect(likely({ open: many(() => null), agents: 6 })).toBeLessThan(one / 2);
  expect(likely({ open: many(() => null), agents: 0 })).toBeGreaterThan(one / 2);
});

test('a task in review needs no agent, and one that has run for long needs less', () => {
  const run = [{ from: now - 0.9 * hour, to: now, waited: 0 }];
  const stays = [{ status: 'in_progress' as const, from: now - 0.9 * hour, to: now }];
  const reviewed = open('a', { phase: 'in_review', runs: run, stays });
  const working = open('a', { phase: 'working', runs: run, stays });
  expect(likely({ open: [reviewed] })).toBeLessThan(likely({ open: [working] }));
  expect(likely({ open: [working] })).toBeLessThan(likely());
});

test('a task that already takes longer than any other is expected to take still longer', () => {
  const from = now - 100 * hour;
  const stuck = open('a', {
    phase: 'working',
    runs: [{ from, to: now, waited: 0 }],
    stays: [{ status: 'in_progress', from, to: now }],
  });
  expect(likely({ open: [stuck] })).toBeGreaterThan(20);
});

test('without agents in the history, people finish one task after the other at their earlier pace', () => {
  const byHand = Array.from({ length: 10 }, (_, n): TaskHistory => {
    const done = now - (10 - n) * 10 * hour;
    const stays = [
      { status: 'ready' as const, from: now - 110 * hour, to: done },
      { status: 'done' as const, from: done, to: now },
    ];
    return { id: `hand_${n}`, owner: null, dependsOn: [], stays, runs: [] };
  });
  const five = Array.from({ length: 5 }, (_, i) => open(`t${i}`));
  const p50 = likely({ finished: byHand, open: five });
  expect(p50).toBeGreaterThan(35);
  expect(p50).toBeLessThan(70);
});

test('a task that nobody has started for long is expected to wait longer, unless it waits for another one', () => {
  const stays = [{ status: 'ready' as const, from: now - 100 * hour, to: now }];
  const forgotten = open('a', { stays });
  expect(likely({ open: [forgotten] })).toBeGreaterThan(20);
  const heldUp = open('a', { stays, dependsOn: ['b'] });
  expect(likely({ open: [heldUp, open('b', { owner: 'agent_b' })] })).toBeLessThan(20);
});

/** Tasks of which each waits for the next one, and the last for the first. */
const circle = (count: number) =>
  Array.from({ length: count }, (_, i) => open(`t${i}`, { dependsOn: [`t${(i + 1) % count}`] }));

test.each<[string, Partial<ForecastFacts>, RegExp]>([
  ['a completed sprint', { status: 'completed' }, /^The sprint is completed\.$/],
  ['a cancelled sprint', { status: 'cancelled' }, /^The sprint was cancelled\.$/],
  ['a sprint without tasks', { taskCount: 0, open: [] }, /^The sprint has no tasks\.$/],
  ['a sprint whose tasks are done', { open: [] }, /^No open tasks are left\.$/],
  ['tasks of others only', { open: [open('a', { isCounted: false })] }, /^No open tasks are left\.$/],
  ['no history', { finished: [] }, /needs 5 tasks that were finished .* There are 0\.$/],
  ['too little history', { finished: history(1) }, /needs 5 tasks .* There is 1\.$/],
  [
    'circular dependencies',
    { open: [open('a', { dependsOn: ['b'] }), open('b', { dependsOn: ['a'] }), open('c')] },
    /^These tasks wait for each other and can never be done: a, b\.$/,
  ],
  ['a task that waits for itself', { open: [open('a', { dependsOn: ['a'] })] }, /can never be done: a\.$/],
  ['a circle of three', { open: circle(3) }, /can never be done: t0, t1, t2\.$/],
  ['a circle of four', { open: circle(4) }, /can never be done: t0, t1, t2 and 1 more\.$/],
  ['too many tasks', { open: Array.from({ length: mostOpen + 1 }, (_, i) => open(`${i}`)) }, /at most 1000 open tasks/],
  [
    'too many dependencies',
    { open: Array.from({ length: 101 }, (_, i) => open(`${i}`, { dependsOn: Array(100).fill('x') })) },
    /^A forecast covers at most 10000 dependencies of open tasks\.$/,
  ],
])('%s has no forecast, and the reason says why', (_name, more, reason) => {
  expect(hours(more)).toMatch(reason);
});

test('as few finished tasks as required give a forecast, and a wider one than many', () => {
  const width = (count: number) => {
    const [p50 = 0, , p95 = 0] = hours({ finished: history(count) }) as number[];
    return p95 / p50;
  };
  expect(width(fewestFinished)).toBeGreaterThan(width(40));
});

test('300 tasks with dependencies are simulated, each day with a band that never rises', () => {
  const many = Array.from({ length: 300 }, (_, i) =>
    open(`t${i}`, { owner: `agent_${i % 5}`, dependsOn: i > 2 ? [`t${i - 3}`, `t${i - 2}`] : [] }),
  );
  const simulation = simulationOf(facts({ open: many }), true);
  if (typeof simulation === 'string') throw new Error(simulation);
  const days = daysAhead(simulate(simulation), now);
  expect(days[0]).toMatchObject({ date: '2026-03-04' });
  expect(days.at(-1)).toMatchObject({ low: 0 });
  for (const [i, { low, high }] of days.entries()) {
    expect(low).toBeLessThanOrEqual(high);
    expect(high).toBeLessThanOrEqual(i === 0 ? 300 : days[i - 1]!.high);
  }
});

test('a task outside the sprint delays those that wait for it, but is not counted', () => {
  const waiting = open('a', { dependsOn: ['b'] });
  const outside = open('b', { owner: 'agent_b', isCounted: false });
  expect(likely({ open: [waiting, outside] })).toBeGreaterThan(1.5 * likely());
  expect(likely({ open: [open('a'), outside] })).toBeLessThan(1.2 * likely());
});
