import {
  estimator,
  type FinishedWork,
  fewestForEstimate,
  quantile,
  weightOf,
} from '../../../src/domain/forecast/estimates.ts';

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

/** The ids of the finished tasks that are similar to a title; undefined if too few are. */
const similarTo = (title: string, tasks: FinishedWork[], repositoryId: string | null = null) => {
  const estimate = estimator(tasks)({ title, repositoryId });
  return estimate?.isSimilar ? estimate.basedOn : undefined;
};
const three = (title: string, repositoryId: string | null = null) =>
  ['a', 'b', 'c'].map((id) => work(id, title, 1, repositoryId));

test.each([
  ['Fix alpha', 'Repair omega'],
  ['Test alpha', 'More coverage of omega'],
  ['Docs of alpha', 'Changelog for omega'],
  ['Bump alpha', 'Update dependency omega'],
  ['Rename alpha', 'Clean up omega'],
  ['Add alpha', 'Implement omega'],
])('%j is the same kind of work as %j', (one, other) => {
  expect(similarTo(other, three(one))).toEqual(['a', 'b', 'c']);
  expect(similarTo('Omega', three(one))).toBeUndefined();
});

test('no kind, or no repository, is nothing in common', () => {
  expect(similarTo('Omega', three('Alpha'))).toBeUndefined();
  expect(similarTo('—', three('…'))).toBeUndefined();
  expect(similarTo('Omega', three('Alpha', 'repo_x'), 'repo_x')).toBeUndefined();
});

test('the plural of a word is the same word; fillers and short words do not count', () => {
  expect(similarTo('Tag', three('Tags'))).toEqual(['a', 'b', 'c']);
  expect(similarTo('Clas', three('Class'))).toBeUndefined();
  expect(similarTo('From the up', three('Not the up'))).toBeUndefined();
});

test('words count more than the kind of work, and the kind more than the repository', () => {
  const finished = [
    work('repository', 'Alpha one', 1, 'repo_x'),
    work('kind', 'Fix alpha two', 1),
    work('words', 'Alpha omega psi', 1),
    work('kind and repository', 'Fix alpha three', 1, 'repo_x'),
  ];
  expect(similarTo('Fix alpha omega psi', finished, 'repo_x')).toEqual([
    'words',
    'kind and repository',
    'kind',
    'repository',
  ]);
});

test('a title is similar if it shares a seventh of the words, weighed by their rarity', () => {
  const known = (words: number) => three(`alpha ${'bcdefghijk'.slice(0, words - 1).replace(/./g, '$&$&$& ')}`);
  // All words are equally rare: 0.7 / 5 = 0.14 is enough, 0.7 / 6 is not.
  expect(similarTo('alpha', known(5))).toEqual(['a', 'b', 'c']);
  expect(similarTo('alpha', known(6))).toBeUndefined();
});

test('a rare word weighs more than a common one', () => {
  expect([0, 3, 7].map((count) => weightOf(count, 8))).toEqual([9, 3, 2].map((n) => expect.closeTo(Math.log(n), 12)));
  const finished = [
    ...['a', 'b', 'c', 'd'].map((id) => work(id, `Common ${id}${id}${id}`, 1)),
    work('rare', 'Rare eee', 1),
  ];
  expect(similarTo('Common rare', finished)?.[0]).toBe('rare');
});

test('a word that all titles share says less than one that some share', () => {
  // Beside two unknown words: 0.7 ln(1 + 3/4) / (ln(1 + 3/4) + 2 ln(1 + 3)) = 0.118, and with 4 instead of 3, 0.124.
  expect(similarTo('Alpha xxx yyy', three('alpha'))).toBeUndefined();
  expect(similarTo('Alpha xxx yyy', [...three('alpha'), work('other', 'beta', 1)])).toEqual(['a', 'b', 'c']);
});

test('an estimate rests on at most twelve tasks', () => {
  const alike = Array.from({ length: 20 }, (_, i) => work(`${i}`, i < 15 ? 'Slow search' : 'Other', 1));
  expect(similarTo('Slow search', alike)).toEqual(alike.slice(0, 12).map(({ id }) => id));
  expect(estimator(alike)({ title: 'Something', repositoryId: null })?.basedOn).toEqual(
    alike.slice(0, 12).map(({ id }) => id),
  );
});
