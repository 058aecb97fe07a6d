import type { AgentTrial, TrialEstimate } from '../../../../src/web/api.ts';
import {
  amountOf,
  comparisons,
  countOf,
  estimateText,
  labelOf,
  proposedBudget,
  solvedText,
  verdictText,
} from '../../../../src/web/trials/trial-texts.ts';

const against = (more: object) =>
  ({ verdict: 'same', difference: 0, pairs: 20, pValue: 1, ...more }) as NonNullable<AgentTrial['against']>;
const estimate = (costUsd: TrialEstimate['costUsd']): TrialEstimate => ({
  ...{ items: 20, minutes: null, runs: 8, reason: null, costUsd },
});

test('how much was solved, with its interval', () => {
  expect(solvedText({ solved: 12, of: 20, interval: [0.3605, 0.8088] })).toBe('12 of 20 (60%, 36 to 81%)');
  expect(solvedText({ solved: 0, of: 0, interval: null })).toBe('no result yet');
});

test.each([
  [
    { verdict: 'worse', difference: -0.4, pValue: 0.0078 },
    'Clearly worse: it solves 40% of 20 items fewer (p = 0.008).',
  ],
  [
    { verdict: 'better', difference: 0.4, pValue: 0.0004 },
    'Clearly better: it solves 40% of 20 items more (p = under 0.001).',
  ],
  [{ difference: 0.1, pValue: 0.5 }, 'No clear difference: it solves 10% of 20 items more (p = 0.500).'],
  [{}, 'No difference.'],
  [{ verdict: 'open', pairs: 0 }, 'Not compared yet.'],
  [{ verdict: 'open', difference: -1, pairs: 1 }, 'Not clear yet: it solves 100% of 1 item fewer (p = 1.000).'],
])('%j', (more, text) => expect(verdictText(against(more))).toBe(text));

test('an agent without a clear difference is not called equal', () => {
  expect(comparisons['not worse']).toBe('Not clearly worse than the best');
});

test('labels of a chart are cut where the page is narrow', () => {
  const entry = { name: 'Developer', model: 'small-model' };
  expect(labelOf(entry, 300)).toBe('Developer · small-model');
  expect(labelOf(entry, 70)).toBe('Developer…');
});

test('the cost before the start, and the budget that is proposed for it', () => {
  expect(estimateText(estimate({ low: 4, high: 7.004 }))).toBe('$4.00 to $7.00');
  expect(estimateText(estimate({ low: 0.001, high: 0.002 }))).toBe('under $0.01');
  expect(estimateText(estimate(null))).toBeUndefined();
  expect(proposedBudget(estimate({ low: 4, high: 7 }))).toBe('9');
  expect(proposedBudget(undefined)).toBe('6');
});

test('amounts and counts that people type', () => {
  expect(['7.50', ' 12 ', '0', '-1', '1e3', '10001', ''].map(amountOf)).toEqual([7.5, 12, ...Array(5).fill(undefined)]);
  expect(['1', '100', '0', '101', '2.5', ''].map(countOf)).toEqual([1, 100, ...Array(4).fill(undefined)]);
});
