import { type Arm, type ComparedTask, compareVersions } from '../../../src/domain/learning/comparison.ts';
import { mean, meanDifference, rate, rateDifference } from '../../../src/domain/learning/statistics.ts';

/** The normal quantiles of 95 % intervals, and of 99 % intervals for the three measures beside success. */
const [z95, z99] = [1.959964, 2.575829];

/** Tasks of which the first `done` are done. Amounts vary a little, around the given ones. */
function tasksOf(done: number, count: number, amounts: Partial<ComparedTask> = {}): ComparedTask[] {
  return Array.from({ length: count }, (_, i) => {
    const vary = (amount: number) => amount * (1 + 0.01 * (i % 3));
    const { costUsd = 0.5, minutes = 8, revisions = 0.5 } = amounts;
    return {
      isDone: i < done,
      costUsd: costUsd === null ? null : vary(costUsd),
      minutes: vary(minutes),
      revisions: vary(revisions),
    };
  });
}
const compare = (earlier: ComparedTask[], later: ComparedTask[]) => {
  const arm = (version: number, tasks: ComparedTask[]): Arm => ({ version, tasks });
  return compareVersions(arm(1, earlier), arm(2, later));
};
const verdicts = (earlier: ComparedTask[], later: ComparedTask[]) =>
  compare(earlier, later).measures.map(({ verdict }) => verdict);

test('a higher rate is better; higher costs, times and numbers of revisions are worse', () => {
  const [bad, good] = [tasksOf(10, 40, { costUsd: 0.6, minutes: 8.4, revisions: 0.7 }), tasksOf(35, 40)];
  expect(verdicts(bad, good)).toEqual(['better', 'better', 'better', 'better']);
  expect(verdicts(good, bad)).toEqual(['worse', 'worse', 'worse', 'worse']);
  expect(compare(bad, good).sentence).toMatch(
    / Chance hardly explains the difference: .* Version 2 costs less per task; chance hardly explains that\. Version 2 takes less time per task; chance hardly explains that\. Version 2 needs fewer revisions per task; chance hardly explains that\.$/,
  );
  expect(compare(good, bad).sentence).toMatch(/costs more .* takes more time .* needs more revisions per task;/);
});

test('a difference within the interval is chance, and the sentence leaves it out', () => {
  const earlier = tasksOf(10, 20);
  const later = tasksOf(11, 20, { costUsd: 0.5001, minutes: 8.001, revisions: 0.4999 });
  expect(verdicts(earlier, later)).toEqual(['chance', 'chance', 'chance', 'chance']);
  expect(compare(earlier, later).sentence).toMatch(
    /Chance can explain the difference: [^.]*\.?[^.]* of comparisons\.$/,
  );
});

test('ten tasks of each version are enough, and nine are not', () => {
  const [ten, nine] = [tasksOf(0, 10), tasksOf(9, 9, { minutes: 1 })];
  expect(verdicts(ten, tasksOf(10, 10, { minutes: 1 }))).toEqual(['better', 'chance', 'better', 'chance']);
  for (const [earlier, later] of [
    [ten, nine],
    [nine, ten],
  ] as const) {
    expect(verdicts(earlier, later)).toEqual(['too_few', 'too_few', 'too_few', 'too_few']);
    const { sentence } = compare(earlier, later);
    expect(sentence).toMatch(/^Too few tasks to compare\./);
    expect(sentence).toContain(`version 1 finished ${earlier.length} tasks`);
  }
  expect(compare(nine, []).measures.map(({ earlier, later }) => [earlier, later])).toEqual([
    [rate(9, 9, z95), null],
    [null, null],
    [null, null],
    [null, null],
  ]);
  expect(compare(tasksOf(1, 1), tasksOf(2, 2)).sentence).toMatch(
    /version 1 finished 1 task, and version 2 finished 2 tasks\./,
  );
});

test('the values have 95 % intervals, and the differences of the three measures beside success 99 % intervals', () => {
  const [earlier, later] = [tasksOf(6, 10), tasksOf(9, 12, { costUsd: 0.7 })];
  const costs = [earlier, later].map((tasks) => tasks.map(({ costUsd }) => costUsd ?? 0)) as [number[], number[]];
  const [success, cost] = compare(earlier, later).measures;
  expect(success).toMatchObject({
    earlier: rate(6, 10, z95),
    later: rate(9, 12, z95),
    difference: rateDifference(rate(9, 12, z95), rate(6, 10, z95)),
  });
  expect(cost).toMatchObject({
    earlier: mean(costs[0], z95),
    later: mean(costs[1], z95),
    difference: meanDifference(costs[1], costs[0], z99),
  });
});

test('tasks without a price are left out of the costs only', () => {
  const [unpriced, priced] = [tasksOf(10, 10, { costUsd: null }), tasksOf(10, 10)];
  const [, cost, time] = compare([...unpriced, ...priced.slice(0, 9)], priced).measures;
  expect([cost?.verdict, cost?.earlier, time?.verdict]).toEqual(['too_few', null, 'chance']);
});

test.each([
  [0, 1000, '0%'],
  [1, 2000, 'less than 0.1%'],
  [1, 1000, '0.1%'],
  [99, 1000, '9.9%'],
  [126, 1000, '13%'],
  [1000, 1000, '100%'],
])('%i of %i is written as a percentage', (done, count, text) => {
  expect(compare(tasksOf(done, count), tasksOf(5, 10)).sentence).toContain(
    `Version 1 succeeded in ${text} of ${count} tasks and version 2 in 50% of 10.`,
  );
});
