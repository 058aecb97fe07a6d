import { seededRandom } from '../../../src/domain/forecast/draws.ts';
import {
  type Asked,
  adaptedLevel,
  type Bounds,
  type BoundsHeld,
  boundsOf,
  bySimilarity,
  type Finished,
  quoteFor,
} from '../../../src/domain/quote/quote.ts';

const none = { costUsd: [], minutes: [] };
const asked: Asked = { title: 'Fix the parser', description: '', agent: 'a', repositoryId: 'r', issueType: null };
const finished = (id: number, more: Partial<Finished> = {}): Finished => ({
  ...asked,
  ...{ id: `t${id}`, costUsd: id, minutes: 10 * id, isMerged: true, wasChanged: false, isTrial: false },
  ...more,
});
const several = (count: number, more: Partial<Finished> = {}) =>
  Array.from({ length: count }, (_, i) => finished(i + 1, more));

test('with too few tasks there is no quote, and the reason says how many are needed', () => {
  expect(quoteFor(asked, several(8), none)).toEqual({
    ...{ costUsd: null, minutes: null, mergedUnchanged: null, similar: [] },
    reason: 'Agents have finished 8 tasks of this project so far. A quote needs 9 finished tasks.',
  });
  expect(quoteFor(asked, [], none).reason).toBe(
    'No agent has finished a task of this project so far. A quote needs 9 finished tasks.',
  );
});

test('of nine tasks, the fifth and the eighth are the bounds', () => {
  const quote = quoteFor(asked, several(9), none);
  expect(quote).toMatchObject({ costUsd: { p50: 5, p80: 8 }, minutes: { p50: 50, p80: 80 }, reason: null });
  expect(quote.mergedUnchanged).toEqual({ of: 9, n: 9 });
  expect(new Set(quote.similar)).toEqual(new Set(several(9).map(({ id }) => id)));
});

test('tasks with changes, and those that were not merged, do not count as merged unchanged', () => {
  const all = several(9).map((task, i) => ({ ...task, isMerged: i !== 0, wasChanged: i === 1 }));
  expect(quoteFor(asked, all, none).mergedUnchanged).toEqual({ of: 9, n: 7 });
});

test('without known costs there are only minutes', () => {
  const quote = quoteFor(asked, several(9, { costUsd: null }), none);
  expect(quote).toMatchObject({ costUsd: null, minutes: { p50: 50, p80: 80 } });
  expect(quote.reason).toMatch(/MODEL_PRICES/);
});

test('tasks with the same words, agent and repository are the most similar', () => {
  const all = [
    finished(1, { title: 'Write a guide' }),
    finished(2, { title: 'Fix another parser', agent: 'b' }),
    finished(3, { title: 'Fix a parser' }),
    finished(4, { title: 'Write a page', repositoryId: 's' }),
  ];
  expect(bySimilarity(asked, all).map(({ id }) => id)).toEqual(['t3', 't2', 't1', 't4']);
});

test('exceeded bounds raise the level, and bounds that hold lower it', () => {
  expect(adaptedLevel(0.8, [])).toBe(0.8);
  expect(adaptedLevel(0.8, [false])).toBeGreaterThan(0.8);
  expect(adaptedLevel(0.8, [true])).toBeLessThan(0.8);
  expect(adaptedLevel(0.8, Array(100).fill(false))).toBeCloseTo(0.94);
  expect(boundsOf([1, 2, 3], [])).toBeNull();
});

/** What a simulated task costs. */
type Cost = (about: { kind: number; at: number; random: ReturnType<typeof seededRandom> }) => number;

const lognormal =
  (sigma: number): Cost =>
  ({ kind, random }) =>
    (1 + kind) * Math.exp(sigma * random.normal());
const worlds: Record<string, Cost> = {
  'usual tasks': lognormal(0.7),
  'heavy tails': ({ kind, random }) => (1 + kind) / random.uniform() ** (1 / 1.3),
  'tasks that become three times as expensive': (about) => lognormal(0.7)(about) * 3 ** (about.at / 1000),
  'tasks that become a third as expensive at once': (about) => lognormal(0.7)(about) * (about.at < 500 ? 1 : 1 / 3),
  'heavy tails that rise and fall': ({ kind, at, random }) =>
    ((1 + kind) * Math.exp(Math.sin(at / 80))) / random.uniform() ** (1 / 1.5),
};

const words = ['parser', 'guide', 'migration', 'button'];

/** Quotes each of 1,000 tasks from those before it; returns the shares of bounds that held. */
function simulate(cost: Cost, seed: string): { p50: number; p80: number } {
  const random = seededRandom(seed);
  const past: Finished[] = [];
  const held: BoundsHeld[] = [];
  for (let at = 0; at < 1000; at++) {
    const kind = Math.floor(random.uniform() * words.length);
    const task = { ...asked, title: `Change the ${words[kind]} ${at}`, agent: random.uniform() < 0.5 ? 'a' : 'b' };
    const now = cost({ kind, at, random });
    const earlier = { costUsd: held.slice(-100), minutes: [] };
    const { costUsd } = quoteFor(task, past.slice(0, 500), earlier) as { costUsd: Bounds | null };
    if (costUsd !== null) held.push({ p50: now <= costUsd.p50, p80: now <= costUsd.p80 });
    past.unshift({ ...finished(at), ...task, costUsd: now, minutes: 1 });
  }
  const share = (level: keyof BoundsHeld) => held.filter((each) => each[level]).length / held.length;
  return { p50: share('p50'), p80: share('p80') };
}

test.each(
  Object.entries(worlds),
)('%s: of 1,000 quotes, 50 %% and 80 %% hold, give or take five points', (name, cost) => {
  const { p50, p80 } = simulate(cost, name);
  expect(Math.abs(p50 - 0.5)).toBeLessThanOrEqual(0.05);
  expect(Math.abs(p80 - 0.8)).toBeLessThanOrEqual(0.05);
});

test('what was solved in a trial counts for the bounds, and is no task that people could look at or merge', () => {
  const all = several(9).map((task, i) => ({ ...task, isTrial: i < 4 }));
  const quote = quoteFor(asked, all, none);
  expect(quote.costUsd).toEqual(quoteFor(asked, several(9), none).costUsd);
  expect(quote.mergedUnchanged).toEqual({ of: 5, n: 5 });
  expect(quote.similar).toHaveLength(5);
});
