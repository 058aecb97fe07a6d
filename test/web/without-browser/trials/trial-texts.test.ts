import { comparePairs } from '../../../../src/domain/lab/paired.ts';
import type { AgentTrial, TrialEstimate } from '../../../../src/web/api.ts';
import {
  adviceText,
  amountOf,
  armName,
  comparisonText,
  countOf,
  doubtText,
  estimateText,
  labelOf,
  leastItems,
  perSolvedOf,
  perSolvedText,
  progressText,
  proposedBudget,
  solvedText,
  spreadLabels,
  tooFewText,
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

const item = (itemId: string, result: 'solved' | 'unsolved' | null, costUsd: number | null = 1) => ({
  ...{ itemId, result, costUsd },
});

test('an item that runs counts neither as done nor in what a solved item needs', () => {
  const items = [item('a', 'solved'), item('b', 'unsolved'), item('c', null, 5)];
  expect(perSolvedOf({ solved: 1, costUsd: 7, minutes: 4, items })).toBe('$2.00, 4.0 min');
  expect(perSolvedOf({ solved: 1, costUsd: null, minutes: 4, items })).toBe('unknown, 4.0 min');
  expect(perSolvedOf({ solved: 0, costUsd: 7, minutes: 4, items })).toBe('–');
  expect(progressText({ planned: 6, status: 'running', items })).toBe('2 of 6 items, 1 running');
  expect(progressText({ planned: 1, status: 'done', items: items.slice(0, 1) })).toBe('1 of 1 item');
  // The other agent has tried the first item only, and tries the second.
  const against = { items: [item('a', 'unsolved'), item('b', null)] };
  expect(progressText({ planned: 6, status: 'running', items, against })).toBe('1 of 6 items, 2 running');
});

test.each([
  [
    { verdict: 'worse', difference: -0.4, pValue: 0.0078 },
    'Ada is clearly worse: solved 40% of 20 items fewer, p = 0.008.',
  ],
  [
    { verdict: 'better', difference: 0.4, pValue: 0.0004 },
    'Ada is clearly better: solved 40% of 20 items more, p = under 0.001.',
  ],
  [
    { difference: 0.1, pValue: 0.5 },
    'No clear difference: Ada solved 10% of 20 items more, p = 0.500. 20 items show only a large one.',
  ],
  [{}, 'No clear difference: both solved equally many. 20 items show only a large one.'],
  [{ pairs: 1 }, 'Nobody knows which is better: 1 item cannot show it.'],
  [{ verdict: 'open', pairs: 0 }, 'Not compared yet.'],
  [{ pairs: 0 }, 'Not compared yet.'],
  [{ verdict: 'open', difference: -1, pairs: 1 }, 'Not clear yet: Ada solved 100% of 1 item fewer, p = 1.000.'],
])('%j', (more, text) => expect(verdictText(against(more), 'Ada')).toBe(text));

test('no comparison of fewer items than the least can be clear', () => {
  const verdictOf = (items: number) =>
    comparePairs(Array(items).fill({ ours: false, theirs: true }), { planned: items, isOver: true }).verdict;
  expect([verdictOf(leastItems - 1), verdictOf(leastItems)]).toEqual(['same', 'worse']);
  expect(tooFewText(leastItems - 1)).toContain('4 items cannot show which agent is better');
  expect(tooFewText(leastItems)).toBeUndefined();
});

test('both sides of a trial are named by what sets them apart', () => {
  const ada = { name: 'Ada', version: 1, model: 'large', promptHash: 'a' };
  expect(armName(ada, undefined)).toBe('Ada (version 1)');
  expect(armName(ada, { ...ada, name: 'Bob' })).toBe('Ada (version 1)');
  expect(armName(ada, { ...ada, version: 2, promptHash: 'b' })).toBe('Ada, version 1');
  expect(armName(ada, { ...ada, promptHash: 'b' })).toBe('Ada, another prompt');
  expect(armName(ada, { ...ada, model: 'small' })).toBe('Ada with large');
});

test('a clear trial says whom to use at what price', () => {
  const side = (name: string, solved: number) => ({
    name,
    version: 1,
    model: 'm',
    promptHash: name,
    solved,
    costUsd: 0.4,
    items: [],
  });
  const [ada, bob] = [side('Ada', 8), side('Bob', 1)];
  expect(adviceText(bob, { ...ada, verdict: 'worse' })).toBe('Use Ada (version 1): $0.05 per solved item.');
  expect(adviceText(ada, { ...bob, verdict: 'better' })).toBe('Use Ada (version 1): $0.05 per solved item.');
  expect(adviceText(ada, { ...bob, verdict: 'same' })).toBeUndefined();
  const withRunning = { ...ada, costUsd: 0.7, items: [{ result: null, costUsd: 0.3 }] };
  expect(adviceText(withRunning, { ...bob, verdict: 'better' })).toBe('Use Ada (version 1): $0.05 per solved item.');
});

test('a portfolio says when its figures do not tell who is better', () => {
  const entry = (comparedWithBest: 'best' | 'unknown' | 'worse') => ({ name: 'Ada', of: 1, comparedWithBest });
  expect(doubtText([entry('best'), entry('worse')])).toBeUndefined();
  expect(doubtText([entry('best'), entry('unknown')])).toContain('1 agent tried too few items to compare');
});

test('what one solved item cost', () => {
  expect(perSolvedText(0.4, 3.14)).toBe('$0.40, 3.1 min');
  expect(perSolvedText(null, 3)).toBe('unknown, 3.0 min');
  expect(perSolvedText(null, null)).toBe('–');
});

test('labels that would be printed over each other are moved apart', () => {
  expect(spreadLabels([16, 100, 16, 20], 260)).toEqual([16, 100, 32, 48]);
  expect(spreadLabels([260, 259], 260)).toEqual([260, 244]);
});

test('an agent without a clear difference is not called equal', () => {
  const of = (comparedWithBest: 'best' | 'unknown' | 'not worse', solved: number) => ({
    comparedWithBest,
    solved,
    of: 9,
  });
  const [best, like, other, few] = [of('best', 5), of('not worse', 5), of('not worse', 4), of('unknown', 4)];
  expect(comparisonText(other, [best, other])).toBe('Not clearly worse than the best');
  expect(comparisonText(best, [best, other])).toBe('Best');
  expect(comparisonText(best, [best, few])).toBe('The best so far, of too few items to be sure');
  for (const each of [best, like]) expect(comparisonText(each, [best, like])).toBe('Solved the most, as others did');
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
