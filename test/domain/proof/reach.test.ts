import {
  changedLines,
  mayRunUnseen,
  measuresCoverage,
  onlyDeclares,
  reachesNothing,
  watchedLanguage,
} from '../../../src/domain/proof/reach.ts';

test('the changed lines of a program are those that do something, and where others were removed', () => {
  const lines = [' a', '-b', '+const b = 1;', '+', '+// why', '+ * more', '+# why', '+}', ' c', '-d', '-e', ' f'];
  expect(changedLines([{ newStart: 10, lines }])).toEqual({ lines: [11], cuts: [18] });
  expect(changedLines([{ newStart: 1, lines: ['-a', '-b'] }])).toEqual({ lines: [], cuts: [1] });
  expect(changedLines([{ newStart: 1, lines: ['-a', '\\ No newline at end of file', '+b'] }]).lines).toEqual([1]);
  const many = { newStart: 1, lines: Array<string>(5000).fill('+x') };
  expect(changedLines([many]).lines).toHaveLength(400);
});

test.each([
  ['src/a.mts', 'JavaScript'],
  ['a.py', 'Python'],
  ['a.rb', undefined],
  ['a.vue', undefined],
])('%s is watched as %s', (path, language) => expect(watchedLanguage(path)).toBe(language));

test.each([
  ['a.d.ts', 'declare const a: 1;', true],
  ['a.ts', 'export interface A {\n  b: string;\n}\n', true],
  ['a.ts', 'export enum A {}', false],
  ['a.js', '', false],
])('%s with %j only declares: %s', (path, text, isOnly) => expect(onlyDeclares(path, text)).toBe(isOnly));

test.each([
  ['c8 --check-coverage node --test', true],
  ['jest --coverage', true],
  ['pytest --cov=shop', true],
  ['coverage run -m pytest', true],
  ['npm test', false],
  ['node --test', false],
])('%s measures coverage: %s', (command, isMeasuring) => expect(measuresCoverage([command])).toBe(isMeasuring));

test.each([
  ["import { spawn } from 'node:child_process';", true],
  ["const { Worker } = require('worker_threads')", true],
  ['import subprocess', true],
  ['os.system("x")', true],
  ['exec(code)', true],
  ['pattern = re.compile("x")', false],
  ['while (pattern.exec(text)) {}', false],
  ["import { test } from 'node:test';", false],
  ['const position = "vm is near";', false],
])('%s may run code that is not seen: %s', (line, may) => expect(mayRunUnseen(line)).toBe(may));

test.each<[string, Partial<Parameters<typeof reachesNothing>[0]>, string[], string[], boolean]>([
  ['the tests ran, and nothing changed did', {}, ['a.js'], ['a.test.js'], true],
  ['a changed line ran', { reached: ['a.js'] }, ['a.js'], ['a.test.js'], false],
  ['a copy may have run', { outside: true }, ['a.js'], ['a.test.js'], false],
  ['a new test was not seen', {}, ['a.js'], ['a.test.js', 'b.test.js'], false],
  ['no new test is of this language', {}, ['a.js'], ['test_a.py'], false],
  ['tests of one language of two were seen', {}, ['a.js', 'a.py'], ['a.test.js'], false],
  ['nothing has to be reached', {}, [], ['a.test.js'], false],
])('%s', (_what, more, programs, tests, isNothing) => {
  const sighting = { loaded: ['a.test.js', 'helper.js'], reached: [], outside: false, ...more };
  expect(reachesNothing(sighting, programs, tests)).toBe(isNothing);
});
