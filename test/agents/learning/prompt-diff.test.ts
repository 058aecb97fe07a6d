import { diffOf } from '../../../src/agents/learning/prompt-diff.ts';

const version = (n: number, lines: string[]) => ({ name: `version ${n}`, text: lines.join('\n') });
const repeated = (word: string, count: number) => Array.from({ length: count }, (_, i) => word[i % word.length] ?? '');

test('a comparison that takes too long ends at its limit, and then replaces all lines', () => {
  // Without a limit, this takes more than 10 s.
  const [before, after] = [repeated('ab', 24_999), repeated('bca', 24_999)];
  const began = performance.now();
  const diff = diffOf(version(1, before), version(2, after));
  expect(performance.now() - began).toBeLessThan(4000);
  expect(diff.split('\n')).toEqual([
    '--- version 1',
    '+++ version 2',
    '@@ -1,24999 +1,24999 @@',
    ...before.map((line) => `-${line}`),
    ...after.map((line) => `+${line}`),
    '',
  ]);
});

test('long prompts with hundreds of changes are compared within the limit', () => {
  const before = Array.from({ length: 5000 }, (_, i) => `line ${i}`);
  const after = before.map((line, i) => (i % 20 === 10 ? `${line}, changed` : line));
  const diff = diffOf(version(1, before), version(2, after));
  expect(diff.split('\n').filter((line) => /^[-+]line/.test(line))).toHaveLength(500);
  expect(diff.match(/^@@/gm)).toHaveLength(250);
});
