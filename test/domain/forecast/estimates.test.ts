import { estimator, type FinishedWork, fewestForEstimate, quantile } from '../../../src/domain/forecast/estimates.ts';

const hour = 3_600_000;
const work = (id: string, title: string, hours: number, repositoryId: string | null = null): FinishedWork => ({
  id,
  title,
  repositoryId,
  workMs: hours * 0.25 * hour,
  totalMs: hours * hour,
});
const finished = [
  work('a', 'Fix the login page on small screens', 2),
  work('b', 'Fix the login error after a timeout', 3),
  work('c', 'Login page forgets the address', 4),
  work('d', 'Add a report of invoices as PDF', 20),
  work('e', 'Report of open invoices by month', 30),
  work('f', 'Report: totals of invoices are wrong', 40),
];

test('an estimate comes from the tasks with similar titles', () => {
  const estimate = estimator(finished);
  expect(estimate({ title: 'Fix a typo on the login page', repositoryId: null })).toEqual({
    likelyMs: 3 * hour,
    safeMs: 3.6 * hour,
    workMs: 0.75 * hour,
    basedOn: expect.arrayContaining(['a', 'b', 'c']),
    isSimilar: true,
  });
  expect(estimate({ title: 'Send the report of invoices by mail', repositoryId: null })).toMatchObject({
    likelyMs: 30 * hour,
    basedOn: expect.arrayContaining(['d', 'e', 'f']),
  });
});

test('among equal titles, those of the same repository and kind are more similar', () => {
  const both = [
    ...['a', 'b', 'c', 'd'].map((id) => work(id, `${id} slow search results`, 1, 'repo_x')),
    ...['e', 'f', 'g', 'h'].map((id) => work(id, `${id} slow search results`, 9, 'repo_y')),
  ];
  const { basedOn = [] } = estimator(both)({ title: 'Slow search', repositoryId: 'repo_y' }) ?? {};
  expect(basedOn.slice(0, 4).sort()).toEqual(['e', 'f', 'g', 'h']);
});

test('with too few similar tasks the estimate rests on the latest, and says so', () => {
  expect(estimator(finished)({ title: 'Rotate certificates', repositoryId: null })).toMatchObject({
    likelyMs: 12 * hour,
    basedOn: ['a', 'b', 'c', 'd', 'e', 'f'],
    isSimilar: false,
  });
});

test('fewer than three finished tasks give no estimate', () => {
  const few = finished.slice(0, fewestForEstimate - 1);
  expect(estimator(few)({ title: 'Fix the login page', repositoryId: null })).toBeUndefined();
});

test('titles without words, in other scripts, or named like members of objects are estimated', () => {
  const odd = ['', '—', 'Страница входа', '__proto__ constructor'].map((title, i) => work(`${i}`, title, 1));
  for (const { title } of odd) expect(estimator(odd)({ title, repositoryId: null })).toMatchObject({ likelyMs: hour });
});

test('a quantile lies between the nearest values', () => {
  expect([0, 0.5, 0.8, 1].map((share) => quantile([10, 0, 20], share))).toEqual([0, 10, 16, 20]);
  expect(quantile([], 0.5)).toBe(0);
});
