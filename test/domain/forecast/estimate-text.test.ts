import { estimateText, inMinutes, roughly } from '../../../src/domain/forecast/estimates.ts';

test.each([
  [0, '1 min'],
  [1, '1 min'],
  [4.4, '4 min'],
  [9.8, '10 min'],
  [10.6, '10 min'],
  [12.4, '10 min'],
  [12.5, '15 min'],
  [57, '55 min'],
  [58, '1 h'],
  [100, '1.5 h'],
  [9.7 * 60, '9.5 h'],
  [10.6 * 60, '11 h'],
  [11 * 60 + 20, '11 h'],
  [47 * 60, '47 h'],
  [47.8 * 60, '2 days'],
  [48 * 60, '2 days'],
  [30 * 24 * 60, '30 days'],
])('%p minutes are roughly %s', (minutes, text) => expect(roughly(minutes)).toBe(text));

test('the API returns minutes with one decimal', () => {
  const estimate = { likelyMs: 90_000, safeMs: 100_000, workMs: 5000, basedOn: [], isSimilar: true };
  expect(inMinutes(estimate)).toMatchObject({ likelyMinutes: 1.5, safeMinutes: 1.7, workMinutes: 0.1 });
});

test('an estimate says what it rests on', () => {
  const estimate = { likelyMinutes: 42, safeMinutes: 60, workMinutes: 10, basedOn: ['a', 'b', 'c'] };
  expect(estimateText({ ...estimate, isSimilar: true })).toBe('About 40 min, from 3 similar tasks.');
  expect(estimateText({ ...estimate, isSimilar: false })).toBe('About 40 min, from the latest 3 finished tasks.');
});
