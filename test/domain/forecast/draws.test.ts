import type { OpenTask } from '../../../src/domain/forecast/draws.ts';
import { durationDrawer, firstAbove, goesByHand, type Random } from '../../../src/domain/forecast/draws.ts';
import type { Samples, Spent } from '../../../src/domain/forecast/history.ts';

/** Random numbers that a test chooses. After the listed ones come `uniform` and, as normal ones, 0. */
function chosen({ uniforms = [] as number[], uniform = 0.25, normals = [] as number[] }): Random {
  const [left, leftNormals] = [[...uniforms], [...normals]];
  return { uniform: () => left.shift() ?? uniform, normal: () => leftNormals.shift() ?? 0 };
}

const nothing: Spent = { before: 0, work: 0, after: 0 };
const task = (more: Partial<OpenTask> = {}): OpenTask => ({
  id: 't',
  owner: 'agent_a',
  phase: 'idle',
  dependsOn: [],
  isCounted: true,
  spent: nothing,
  ...more,
});
const usual: Spent = { before: 10, work: 20, after: 30 };
const times = (count: number, sample: Spent = usual) => Array.from({ length: count }, () => sample);
const byAgents = (count: number): Samples => ({ byAgents: times(count), byHand: [] });

/** Draws once what is left of each task. */
function drawn(tasks: OpenTask[], samples: Samples, random: Random): Spent[] {
  const { before, work, after } = durationDrawer(tasks, samples, random)();
  return tasks.map((_, i) => ({ before: before[i]!, work: work[i]!, after: after[i]! }));
}
const about = ({ before, work, after }: Spent) => ({
  before: expect.closeTo(before, 6),
  work: expect.closeTo(work, 6),
  after: expect.closeTo(after, 6),
});

test.each<[string | null, number, number, boolean]>([
  ['agent_a', 2, 9, true],
  ['agent_a', 3, 9, false],
  [null, 2, 0, true],
  [null, 3, 3, false],
  [null, 3, 4, true],
  [null, 4, 3, false],
])('a task of %s, after %i tasks by agents and %i by hand, is done by hand: %s', (owner, agents, hand, isByHand) => {
  expect(goesByHand(owner, { byAgents: times(agents), byHand: times(hand) })).toBe(isByHand);
});

test('the first value above a limit is found, or the last one', () => {
  for (let length = 1; length <= 9; length++) {
    const values = Array.from({ length }, (_, i) => 2 * Math.floor(i / 2) + 2);
    for (let limit = 0; limit <= length + 3; limit++) {
      const first = values.findIndex((value) => value > limit);
      expect([values, limit, firstAbove(values, limit)]).toEqual([values, limit, first < 0 ? length - 1 : first]);
    }
  }
});

test('a new task takes what a finished one took, at a pace of this sprint and with a factor of its own', () => {
  // With nine finished tasks, the pace deviates by √(0.15² + (0.6 / √9)²) = 0.25. The factor deviates by 0.3.
  const samples = { byAgents: times(5), byHand: times(4, nothing) };
  const factor = Math.exp(0.25 * 1 + 0.3 * 2);
  expect(drawn([task()], samples, chosen({ normals: [1, 2] }))).toEqual([
    about({ before: 10 * factor, work: 20 * factor, after: 30 * factor }),
  ]);
});

test.each([
  [0.16, 100],
  [0.17, 200],
  [0.49, 200],
  [0.51, 300],
  [0.99, 300],
])('finished tasks are drawn by random weights: of weights 1, 2 and 3, %d of the whole is the task of %i', (share, work) => {
  const samples = { byAgents: [100, 200, 300].map((each) => ({ ...nothing, work: each })), byHand: [] };
  const uniforms = [...[1, 2, 3].map((weight) => Math.exp(-weight)), share];
  expect(drawn([task()], samples, chosen({ uniforms }))).toEqual([about({ ...nothing, work })]);
});

/** The first draw takes longer than a finished task by this factor, any later one as long. */
const f = Math.exp(0.3);
const firstIsLonger = { normals: [0, 1] };
test.each<[string, Partial<OpenTask>, Spent]>([
  ['nobody has begun', {}, { before: 10 * f, work: 20 * f, after: 30 * f }],
  [
    'nobody has begun for a while',
    { spent: { ...nothing, before: 4 } },
    { before: 10 * f - 4, work: 20 * f, after: 30 * f },
  ],
  [
    'nobody has begun for a moment',
    { spent: { ...nothing, before: 1 } },
    { before: 10 * f - 1, work: 20 * f, after: 30 * f },
  ],
  ['has a queued run', { phase: 'queued' }, { before: 0, work: 20 * f, after: 30 * f }],
  [
    'has another queued run',
    { phase: 'queued', spent: { before: 7, work: 5, after: 3 } },
    { before: 0, work: 20 * f - 5, after: 30 * f },
  ],
  [
    'has a run',
    { phase: 'working', spent: { before: 7, work: 5, after: 3 } },
    { before: 0, work: 20 * f - 5, after: 30 * f },
  ],
  [
    'is in review',
    { phase: 'in_review', spent: { before: 7, work: 5, after: 3 } },
    { before: 0, work: 0, after: 30 * f - 3 },
  ],
  [
    'waits for another attempt: a share of the time after the work passes before it',
    { spent: { before: 7, work: 5, after: 3 } },
    { before: 0.25 * 30 * f, work: 20 * f - 5, after: 0.75 * 30 * f },
  ],
])('what is left of a task that %s', (_what, more, left) => {
  expect(drawn([task(more)], byAgents(9), chosen(firstIsLonger))).toEqual([about(left)]);
});

test.each<[string, Partial<OpenTask>, boolean]>([
  ['a run', { phase: 'working', spent: { before: 2, work: 5, after: 1 } }, true],
  ['a run that begins', { phase: 'working', spent: { ...nothing, before: 2 } }, true],
  ['a review', { phase: 'in_review', spent: { before: 2, work: 0, after: 1 } }, true],
  ['an attempt of a moment', { spent: { before: 2, work: 1, after: 1 } }, true],
  ['a queued first run', { phase: 'queued', spent: { ...nothing, before: 4 } }, false],
  ['nobody at work', { spent: { ...nothing, before: 4 } }, false],
])('a task with %s counts as a sample for the others: %s', (_what, more, isSample) => {
  // The uniform number chooses the latest sample, and the pace is not the usual one.
  const random = chosen({ uniform: 0.99, normals: [1] });
  const begun = task(more);
  const [rest = nothing, other = nothing] = drawn([begun, task()], byAgents(9), random);
  const { before, work, after } = begun.spent;
  const pace = Math.exp(0.25);
  const whole = { before, work: work + rest.work, after: after + rest.before + rest.after };
  expect(other).toEqual(about(isSample ? whole : { before: 10 * pace, work: 20 * pace, after: 30 * pace }));
});

test('people take what tasks by hand took, also for the tasks of an agent without a past', () => {
  const byHand = times(4, { ...nothing, work: 40 });
  expect(drawn([task({ owner: null }), task()], { byAgents: times(3), byHand }, chosen({}))).toEqual(
    [{ ...nothing, work: 40 }, usual].map(about),
  );
  expect(drawn([task()], { byAgents: times(2), byHand }, chosen({}))).toEqual([about({ ...nothing, work: 40 })]);
});

test('a task that takes longer than finished ones gets up to eight draws for a longer one', () => {
  const long = task({ phase: 'working', spent: { ...nothing, work: 100 } });
  const longer = Math.exp(0.3 * 10);
  const longIn = (draw: number) => chosen({ uniform: 1 / 8, normals: [0, ...Array(draw - 1).fill(0), 10] });
  expect(drawn([long], byAgents(9), longIn(8))).toEqual([
    about({ before: 0, work: 20 * longer - 100, after: 30 * longer }),
  ]);
  // Otherwise a heavy tail says how long: of 1/8 of the tasks, 8^(1/1.5) = 4 times as long in all.
  expect(drawn([long], byAgents(9), longIn(9))).toEqual([about({ before: 0, work: 300, after: 30 })]);
});

test('a draw that is exactly as long as the time so far is not longer', () => {
  const tied = task({ phase: 'working', spent: { ...nothing, work: 20 } });
  const second = Math.exp(0.3);
  expect(drawn([tied], byAgents(9), chosen({ normals: [0, 0, 1] }))).toEqual([
    about({ before: 0, work: 20 * second - 20, after: 30 * second }),
  ]);
  expect(drawn([tied], byAgents(9), chosen({ uniform: 1 / 8 }))).toEqual([about({ before: 0, work: 60, after: 30 })]);
});

test('a task that has just become ready may be started at once, as finished ones were', () => {
  const samples = { byAgents: [{ ...usual, before: 0 }, ...times(8)], byHand: [] };
  expect(drawn([task()], samples, chosen({ uniform: 0.01 }))).toEqual([about({ ...usual, before: 0 })]);
});
