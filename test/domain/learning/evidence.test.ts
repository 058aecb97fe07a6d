import { type Evidence, findQuote, groupEvidence, patternOf } from '../../../src/domain/learning/evidence.ts';
import { plainSuggestions, wordedSuggestions } from '../../../src/domain/learning/suggestion.ts';

let count = 0;
const evidence = (text: string, more: Partial<Evidence> = {}): Evidence => {
  const id = ++count;
  return { source: 'failure', runId: `run_${id}`, taskId: `task_${id}`, category: 'checks', text, ...more };
};

test.each([
  ['npm test still fails: expected 3, got 4', 'npm test still fails: expected 17, got 4'],
  ['cannot read src/a.ts', 'cannot read lib/deep/b.ts'],
  ['`greet` is not a function\nat 1', '`part` is not a function\nat 2'],
  ["protected file '.github/x.yml' differs", "protected file 'CODEOWNERS' differs"],
  ['commit 0a1b2c3d failed', 'commit deadbeef99 failed'],
])('%s is of the same kind as %s', (a, b) => expect(patternOf(a)).toBe(patternOf(b)));

test('different messages are of different kinds, also where a message is hostile', () => {
  expect(patternOf('the linter still fails')).not.toBe(patternOf('the tests still fail'));
  for (const sign of ['a', '/', '"', "' ", '.', '1']) expect(patternOf(sign.repeat(1e6)).length).toBeLessThan(201);
});

test('evidence is grouped by its message, and failures that the agent did not cause are left out', () => {
  const groups = groupEvidence([
    evidence('no key', { category: 'auth' }),
    evidence('lint still fails in a.ts', {}),
    evidence('Use tabs.', { source: 'review', category: null }),
    evidence('lint still fails in b.ts'),
    evidence('Name it better.', { source: 'review', category: null }),
    evidence('lint still fails in c.ts'),
  ]);
  expect(groups.map(({ id, source, items }) => [id, source, items.length])).toEqual([
    ['g1', 'failure', 3],
    ['g2', 'review', 2],
  ]);
});

test('a quotation counts only when the evidence contains it', () => {
  const groups = groupEvidence([evidence('npm test still fails:\n  expected   "Hello, Ada"')]);
  expect(findQuote(groups, 'still fails: expected "Hello, Ada"')).toMatchObject({
    runId: groups[0]?.items[0]?.runId,
    text: 'still fails: expected "Hello, Ada"',
  });
  for (const invented of ['still fails: expected "Hello, Bob"', 'fails', '', '   ', 'x'.repeat(10_000)])
    expect(findQuote(groups, invented)).toBeUndefined();
});

test('without a model there is one sentence for each category, with quotations', () => {
  const found = plainSuggestions(
    groupEvidence([evidence('a fails'), evidence('the linter fails'), evidence('too long', { category: 'budget' })]),
  );
  expect(
    found.map(({ area, priority, evidence: runs, quotes }) => [area, priority, runs.length, quotes.length]),
  ).toEqual([
    ['testing', 'medium', 2, 2],
    ['focus', 'low', 1, 1],
  ]);
});

test('quotations and groups that a model invents are dropped, and evidence that it leaves out is kept', () => {
  const groups = groupEvidence([
    ...[1, 2, 3].map((n) => evidence(`lint of part ${n} fails`)),
    evidence('It gave up: no access', { category: 'gave_up' }),
  ]);
  const found = wordedSuggestions(groups, [
    {
      area: 'lint',
      suggestion: 'Lint first.',
      groups: ['g1', 'g99'],
      quotes: ['lint of part 2 fails', 'all is lost here'],
    },
    { area: 'nothing', suggestion: 'Made up.', groups: ['g99'], quotes: [] },
  ]);
  expect(found.map(({ area, evidence: runs, quotes }) => [area, runs.length, quotes.map((q) => q.text)])).toEqual([
    ['lint', 3, ['lint of part 2 fails']],
    ['task description', 1, ['It gave up: no access']],
  ]);
  const [unquoted] = wordedSuggestions(groups, [
    { area: 'a', suggestion: 's', groups: ['g1'], quotes: ['invented text'] },
  ]);
  expect(unquoted?.quotes.map((q) => q.text)).toEqual(['lint of part 1 fails']);
});
