import { maxPointerBytes, pointerTo } from '../../../src/environment/files/lfs-pointer.ts';
import type { Checkout } from '../../../src/git/engine.ts';
import { OverLimit } from '../../../src/threads/start-thread.ts';
import { unlessTooSlow } from '../../../src/worker/proof/contents.ts';
import { readTestedChange } from '../../../src/worker/proof/tested-change.ts';
import { longestBlock } from '../../support/machine/processor-time.ts';
import { type Given, openRepository, workWith } from './proving.ts';

openRepository();

const test1 = (call: string) => `import test from 'node:test';\n${call}('f', () => {\n  // long enough\n});\n`;
const base = {
  'package.json': '{"type":"module"}',
  'src/f.js': 'export const f = () => 1;\n',
  'test/f.test.js': test1('test'),
};
const more = { 'src/f.js': 'export const f = () => 2;\n', 'test/g.test.js': "import '../src/f.js';\n" };
const checks = 'export const same = (a, b) => a === b;\n';
const helped = {
  ...base,
  'src/main.js': "import './f.js';\n",
  'support/checks.js': checks,
  'support/page.js': "export * from './checks.js';\n",
  'test/h.test.js': "import '../support/page.js';\n",
};
const longScripts = JSON.stringify({ scripts: { a: `echo ${'a'.repeat(70_000)}`, b: `echo ${'b'.repeat(70_000)}` } });
const workspace = {
  ...base,
  'package.json': JSON.stringify({ workspaces: ['packages/*'], devDependencies: { jest: '30.0.0' } }),
  'package-lock.json': '{"packages":{"node_modules/jest":{},"node_modules/picocolors":{}}}',
};
const large = '# comment\n'.repeat(21_000);
const many = Object.fromEntries(Array.from({ length: 310 }, (_, i) => [`test/a/${i}.txt`, 'x']));

test.each<[string, Partial<Given>, string]>([
  [
    'a script that another one runs before the checks',
    {
      base: { ...base, 'tools/begin.sh': 'sh tools/more.sh\n', 'tools/more.sh': 'true\n' },
      settings: { services: [{ run: 'sh tools/begin.sh' }] },
      change: { ...more, 'tools/more.sh': 'echo 1 > src/f.js\n' },
    },
    'tools/more.sh decides how the tests run',
  ],
  [
    'a program that runs before the checks',
    {
      base: { ...base, 'tools/begin.py': '' },
      settings: { services: [{ run: 'python3 tools/begin.py' }] },
      change: { ...more, 'tools/begin.py': 'import os\n' },
    },
    'tools/begin.py decides how the tests run',
  ],
  [
    'a changed test that the checkout leaves out',
    {
      base: { ...base, 'other/test/o.test.js': test1('test') },
      settings: { checkout: { submodules: false, lfs: false, paths: ['src', 'test'] } },
      change: { ...more, 'other/test/o.test.js': '' },
    },
    'other/test/o.test.js is outside of checkout.paths',
  ],
  [
    'a manifest that is too large to read',
    { change: { ...more, 'pyproject.toml': `${large}[tool.pytest.ini_options]\naddopts = "--co"\n` } },
    'pyproject.toml decides how the tests run',
  ],
  [
    'a manifest that was too large to read',
    { base: { ...base, 'pyproject.toml': large }, change: { ...more, 'pyproject.toml': `${large}[tool.pytest]\n` } },
    'pyproject.toml decides how the tests run',
  ],
  [
    'a module that takes the place of the test runner',
    { settings: { checks: ['python3 -m unittest'] }, change: { ...more, 'unittest.py': 'raise SystemExit(0)\n' } },
    'unittest.py decides how the tests run',
  ],
  [
    'a test in Git LFS, which nobody reads',
    { change: { ...more, 'test/g.test.js': pointerTo({ oid: 'a'.repeat(64), size: 10 }).toString() } },
    'test/g.test.js is in Git LFS',
  ],
  ['a file that a tool may load', { change: { ...more, '.quietrc': '' } }, '.quietrc decides how the tests run'],
  [
    'a folder of libraries that is a symbolic link',
    { change: { ...more, 'lib/fakes/x/index.js': '', 'src/node_modules': { link: '../lib/fakes' } } },
    'src/node_modules decides how the tests run',
  ],
  [
    'a symbolic link that became a file',
    { base: { ...base, 'src/g.js': { link: 'f.js' } }, change: { ...more, 'src/g.js': '' } },
    'src/g.js decides how the tests run',
  ],
  [
    'another commit of a submodule',
    {
      base: { ...base, 'lib/a': { commit: 'a'.repeat(40) } },
      change: { ...more, 'lib/a': { commit: 'b'.repeat(40) } },
    },
    'lib/a decides how the tests run',
  ],
  [
    'a submodule among the tests',
    { change: { ...more, 'test/a': { commit: 'a'.repeat(40) } } },
    'test/a decides how the tests run',
  ],
  [
    'a changed helper of a helper of tests',
    { base: helped, change: { ...more, 'support/checks.js': 'export const same = () => true;\n' } },
    'support/checks.js decides how the tests run',
  ],
  [
    'a new file in the place of a helper of tests',
    { base: helped, change: { ...more, 'support/checks.mjs': 'export const same = () => true;\n' } },
    'support/checks.mjs decides how the tests run',
  ],
  [
    'a folder in the place of a helper of tests that is gone',
    { base: helped, change: { ...more, 'support/checks.js': undefined, 'support/checks/index.js': '' } },
    'support/checks/index.js decides how the tests run',
  ],
  [
    'a changed helper of tests that only the settings name',
    {
      base: { ...helped, 'test/h.test.js': '', 'src/h.check.js': "import '../support/page.js';\n" },
      settings: { tests: ['src/*.check.js', 'test/**'] },
      change: { ...more, 'support/page.js': '' },
    },
    'support/page.js decides how the tests run',
  ],
  [
    'a test that the settings do not name',
    { settings: { tests: ['src/**'] }, change: { ...more, 'e2e/x.test.js': '' } },
    'e2e/x.test.js, test/g.test.js decide how the tests run',
  ],
  [
    'a test that is a symbolic link',
    { change: { ...more, 'src/self.js': '', 'test/g.test.js': { link: '../src/self.js' } } },
    'test/g.test.js is a symbolic link',
  ],
  [
    'a test that reads the text of the program',
    { change: { ...more, 'test/g.test.js': "assert.match(readFileSync('src/f.js', 'utf8'), /2/);\n" } },
    'test/g.test.js reads code as text',
  ],
  [
    'a test that reads the text of the program after more lines than a diff shows',
    { change: { ...more, 'test/g.test.js': `${'// more\n'.repeat(4000)}readFileSync('src/f.js', 'utf8');\n` } },
    'test/g.test.js reads code as text',
  ],
  [
    'a test that the diff takes for a binary file, and that decides about others',
    {
      base: { ...base, 'test/test_f.py': '# f\n' },
      change: { ...more, 'test/test_f.py': '# \0\ndef load_tests(loader, tests, pattern):\n  return tests\n' },
    },
    'test/test_f.py decides how the tests run',
  ],
  [
    'a test after more files than a diff shows',
    { change: { ...more, ...many, 'test/z.test.js': "readFileSync('src/f.js', 'utf8');\n" } },
    'test/z.test.js reads code as text',
  ],
  [
    'a test under a name by which no runner finds it',
    { change: { ...more, 'test/f.test.js': undefined, 'test/f.test.js.old': test1('test') } },
    'test/f.test.js was removed',
  ],
  [
    'a renamed test whose differences cannot be shown',
    { change: { ...more, 'test/f.test.js': undefined, 'test/h.test.js': `${test1('test')}// \0\n` } },
    'test/f.test.js was removed',
  ],
  [
    'a test switched off in a file that counts as binary',
    { change: { ...more, 'test/f.test.js': `${test1('test.skip')}// \0\n` } },
    'test/f.test.js switches tests off',
  ],
  [
    'a test switched off beyond the files of a diff',
    { change: { ...more, ...many, 'test/f.test.js': test1('test.skip') } },
    'test/f.test.js switches tests off',
  ],
  [
    'a test that became too large to read',
    { change: { ...more, 'test/f.test.js': `${test1('test.skip')}${'// x\n'.repeat(300_000)}` } },
    'test/f.test.js switches tests off',
  ],
  [
    'a deep folder in which the checks run many words',
    { settings: { checks: [`cd ${'a/'.repeat(5000)}\nnode ${'x '.repeat(4900)}`] } },
    'the commands of the checks are too long to find out what they run',
  ],
  [
    'more scripts than can be followed',
    {
      base: { ...base, ...Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`${i}/package.json`, longScripts])) },
      settings: { checks: ['npm run a b'] },
    },
    'the commands of the checks are too long to find out what they run',
  ],
  [
    'a package by whose name the tests beside it get another library',
    { change: { ...more, 'src/package.json': '{"name":"checker","exports":"./f.js"}' } },
    'src/package.json decides how the tests run',
  ],
  [
    'a part of a workspace in the place of a library of the test runner',
    { base: workspace, change: { ...more, 'packages/a/package.json': '{"name":"picocolors"}' } },
    'packages/a/package.json decides how the tests run',
  ],
  [
    'a part of a workspace whose libraries are not known',
    {
      base: { ...workspace, 'package-lock.json': `${' '.repeat(5_000_001)}` },
      change: { ...more, 'packages/a/package.json': '{"name":"@shop/a"}' },
    },
    'packages/a/package.json decides how the tests run',
  ],
  [
    'a long line of a manifest',
    {
      base: { ...base, 'pyproject.toml': '[project]\n' },
      change: { ...more, 'pyproject.toml': `[project]\n${'pytest '.repeat(25_000)}\n` },
    },
    'pyproject.toml decides how the tests run',
  ],
])('%s is doubted', async (_what, given, doubt) => {
  const { work, tree } = await workWith({ base, change: more, settings: {}, ...given });
  // The earlier tests run as they were whatever the change does to its own.
  const isOfNewTests = /^test\/\S+ (switches|was removed|is a symbolic|reads code)|^test\/test_f\.py decides/.test(
    doubt,
  );
  expect(await readTestedChange(work, tree)).toMatchObject({ doubts: [doubt], isHindered: !isOfNewTests });
});

test('a change of more files than a person reviews is not judged', async () => {
  const change = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`packages/${i}/package.json`, '{}']));
  const { work, tree } = await workWith({ base, change, settings: {} });
  const most = await longestBlock(() =>
    expect(readTestedChange(work, tree)).rejects.toMatchObject({ name: 'GitFailed', fault: 'broken' }),
  );
  expect(most).toBeLessThan(500);
});

test('of many changed tests, only some are in memory at the same time', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `test/${i}.test.js`);
  const all = (call: string) => Object.fromEntries(names.map((name) => [name, `${test1(call)}// ${name}\n`]));
  const { work, tree } = await workWith({ base: { ...base, ...all('test') }, change: all('test.skip'), settings: {} });
  let most = 0;
  const readBlobs: Checkout['readBlobs'] = (oids, maxBytes) => {
    // Of pointers of Git LFS, all are read at once: they are short.
    if (maxBytes !== maxPointerBytes) most = Math.max(most, oids.length);
    return work.checkout.readBlobs(oids, maxBytes);
  };
  const checkout: Checkout = Object.create(work.checkout, { readBlobs: { value: readBlobs } });
  const { doubts } = await readTestedChange({ ...work, checkout }, tree);
  expect(doubts).toEqual([expect.stringMatching(/, 7 more switch tests off$/)]);
  expect(most).toBeLessThanOrEqual(8);
});

test.each<[string, Given['base'], Given['change']]>([
  ['code uses too', { ...helped, 'src/f.js': "import '../support/page.js';\n" }, more],
  ['settings name', { ...helped, 'package.json': '{"bin":"./support/page.js"}' }, more],
  ['is all that changes', helped, { 'test/g.test.js': more['test/g.test.js'] }],
])('a changed helper of tests which %s is ordinary code', async (_what, before, change) => {
  const { work, tree } = await workWith({
    base: before,
    change: { ...change, 'support/checks.js': '' },
    settings: {},
  });
  expect((await readTestedChange(work, tree)).doubts).toEqual([]);
});

test('a new part of a workspace under a name of its own is ordinary', async () => {
  const change = { ...more, 'packages/a/package.json': '{"name":"@shop/a","type":"module","exports":"./a.js"}' };
  const { work, tree } = await workWith({ base: workspace, change, settings: {} });
  expect((await readTestedChange(work, tree)).doubts).toEqual([]);
});

test('a repository with a submodule is read without it', async () => {
  const withModule = { ...helped, 'lib/a': { commit: 'a'.repeat(40) }, 'b/package.json': { commit: 'a'.repeat(40) } };
  const change = { ...more, 'src/main.js': '' };
  const { work, tree } = await workWith({ base: withModule, change, settings: { checks: ['sh lib/a'] } });
  expect((await readTestedChange(work, tree)).doubts).toEqual([]);
});

test('a change that keeps its tests in order is not doubted', async () => {
  const change = {
    ...more,
    'test/f.test.js': undefined,
    'test/unit/f.test.js': test1('test'),
    '.env.example': 'A=1\n',
  };
  const { work, tree } = await workWith({ base, change, settings: {} });
  expect((await readTestedChange(work, tree)).doubts).toEqual([]);
});

test('nothing is proved of files that take too long to read', async () => {
  const slow = Promise.reject(new OverLimit('15 s'));
  expect(await unlessTooSlow(slow, ['test/a.js'])).toEqual(['test/a.js']);
  await expect(unlessTooSlow(Promise.reject(new Error('the thread ended with 3')), [])).rejects.toThrow('ended with 3');
});

test('files that name each other in all ways are looked at once, and too many names are a doubt', async () => {
  const count = 1100;
  const all = Array.from({ length: count }, (_, i) => `helper${i}`);
  const text = all.map((name) => `import './${name}.js';`).join('\n');
  const many = Object.fromEntries(all.map((name) => [`support/${name}.js`, text]));
  const change = { ...more, 'support/helper0.js': 'export const a = 1;\n' };
  const { work, tree } = await workWith({ base: { ...base, ...many }, change, settings: {} });
  const block = await longestBlock(async () =>
    expect((await readTestedChange(work, tree)).doubts).toEqual([
      'the files take too long to find out which of them only tests use',
    ]),
  );
  expect(block).toBeLessThan(5000);
});
