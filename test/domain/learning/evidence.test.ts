import {
  type Evidence,
  type EvidenceGroup,
  findQuote,
  groupEvidence,
  patternOf,
  quotesOf,
} from '../../../src/domain/learning/evidence.ts';
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

test('the pattern of a message is its first line, of which at most 400 characters are read and 200 kept', () => {
  expect(patternOf('  Lint fails\nin detail')).toBe('lint fails');
  expect(patternOf(`x${'y'.repeat(300)}`)).toBe(`x${'y'.repeat(199)}`);
  expect(patternOf(`${'1'.repeat(395)} tail and more`)).toBe('… tail');
});

test('the twelve largest groups are kept', () => {
  const words = 'alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike'.split(' ');
  const groups = groupEvidence(words.flatMap((word, i) => Array.from({ length: i + 1 }, () => evidence(word))));
  expect(groups.map(({ id, items }) => [id, items[0]?.text, items.length])).toEqual(
    Array.from({ length: 12 }, (_, i) => [`g${i + 1}`, words[12 - i], 13 - i]),
  );
});

test('what reviewers say is one group, whatever they say; failures of other categories are others', () => {
  const review = { source: 'review', category: null } as const;
  const groups = groupEvidence([
    evidence('Use tabs', review),
    evidence('the same'),
    evidence('the same', { category: 'budget' }),
    evidence('Name it', review),
  ]);
  expect(groups.map(({ source, category, items }) => [source, category, items.length])).toEqual([
    ['review', null, 2],
    ['failure', 'checks', 1],
    ['failure', 'budget', 1],
  ]);
});

test('a quotation has 8 to 400 characters, and a longer one is cut', () => {
  const text = `one two ${'x'.repeat(400)}`;
  const groups = groupEvidence([evidence(`said: ${text}`)]);
  expect(findQuote(groups, 'one two')).toBeUndefined();
  expect(findQuote(groups, 'one two x')?.text).toBe('one two x');
  expect(findQuote(groups, 'one two xx')?.text).toBe('one two xx');
  expect(findQuote(groups, text)?.text).toBe(text.slice(0, 400));
  const gap = ' '.repeat(1592);
  expect(findQuote(groupEvidence([evidence('one two. three')]), `one two.${gap}three`)?.text).toBe('one two.');
});

test('the quotations of a group are different beginnings of its texts', () => {
  const [group] = groupEvidence(
    ['a b', 'a  b', ' ', 'c', 'd'].map((text) => evidence(text, { source: 'review', category: null })),
  );
  expect(quotesOf(group as EvidenceGroup, 2).map(({ text }) => text)).toEqual(['a b', 'c']);
  const beginning = (length: number) =>
    quotesOf(groupEvidence([evidence('x'.repeat(length))])[0] as EvidenceGroup, 1)[0]?.text;
  expect(beginning(400)).toBe('x'.repeat(400));
  expect(beginning(401)).toBe(`${'x'.repeat(399)}…`);
});

test('a suggestion has at most five quotations, from each of its groups alike', () => {
  const texts = ['the linter', 'the test'].flatMap((what) =>
    ['fails', 'fails'].map((how, i) => `${what} ${how} in ${i}.ts`),
  );
  const more = texts.flatMap((text) => [text, `${text}\nagain`]);
  const [found] = plainSuggestions(groupEvidence(more.map((text) => evidence(text))));
  expect(found?.quotes.map(({ text }) => text)).toEqual([
    'the linter fails in 0.ts',
    'the linter fails in 0.ts again',
    'the linter fails in 1.ts',
    'the test fails in 0.ts',
    'the test fails in 0.ts again',
  ]);
});

test('the suggestion with the most runs comes first, and reviews have one of their own', () => {
  const review = { source: 'review', category: null } as const;
  const groups = [
    ...groupEvidence([evidence('a'), evidence('Use tabs', review), evidence('Name it', review)]),
    { id: 'g9', source: 'failure', category: 'internal', items: [evidence('ours', { category: 'internal' })] } as const,
  ];
  const found = plainSuggestions(groups.toReversed() as EvidenceGroup[]);
  expect(found.map(({ area, evidence: runs }) => [area, runs.length])).toEqual([
    ['review', 2],
    ['testing', 1],
  ]);
});
