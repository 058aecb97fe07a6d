import { withoutSolution } from '../../../src/domain/lab/without-solution.ts';

const traces = {
  addedLines: ['export function greet(name) {', '  return greeting + name;', '}', 'module.exports = { greet };'],
  newNames: ['src/greet.js', 'greet.js'],
  pull: 17,
  repository: 'mona/sample',
};
const clean = (text: string) => withoutSolution(text, traces);

test.each([
  ['a diff with a fence', 'Before\n```diff\n- old\n+ new\n```\nafter'],
  ['a suggestion', 'Before\n```suggestion\nreturn 1;\n```\nafter'],
  ['a diff without a fence', 'Before\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\nafter'],
  ['code of the change', 'Before\n```js\nexport function greet(name) {\n  return greeting + name;\n}\n```\nafter'],
  ['indented code of the change', 'Before\n\n    export function greet(name) {\n\nafter'],
  ['a line of the change', 'Before\n`export function greet(name) {`\nafter'],
])('%s is removed and listed', (_what, text) => {
  const { text: left, removed } = clean(text);
  expect(left.replace(/\n+/g, ' ')).toBe('Before after');
  expect(removed).toHaveLength(1);
});

test('code that the change does not have stays', () => {
  const text = 'This fails:\n\n```js\nconst list = [1, 2];\nconsole.log(greet(list));\n```';
  expect(clean(text)).toEqual({ text, removed: [] });
});

test('names of new files, ids of commits, and links to the pull request are removed from their lines', () => {
  const { text, removed } = clean(
    'See src/greet.js and ./src/greet.js, not greet.json, since 1a2b3c4d5e, in #17, mona/sample#17 and https://github.com/mona/sample/pull/17/files; not #170, deadbeef, 1234567 or https://github.com/mona/sample/issues/17.',
  );
  expect(text).toBe(
    'See […] and ./[…], not greet.json, since […], in […], […] and […]; not #170, deadbeef, 1234567 or https://github.com/mona/sample/issues/17.',
  );
  expect(removed).toHaveLength(6);
});

test('comments of HTML and invisible characters are removed, and long text is cut', () => {
  expect(clean('Hello<!-- the solution -->\u200b there')).toEqual({ text: 'Hello there', removed: [] });
  expect(clean('word '.repeat(20_000)).text.length).toBeLessThanOrEqual(10_000);
});

test('hostile text takes little time', () => {
  const began = performance.now();
  for (const part of [
    '`',
    '```\n',
    '#17',
    'https://',
    'a1b2c3d',
    'src/greet.js',
    '@@ -1',
    '    x\n',
    '<!--',
    'a/'.repeat(3),
  ])
    clean(part.repeat(40_000));
  expect(performance.now() - began).toBeLessThan(10_000);
});
