import { decidesByName, differsInDeciding, mayDecide } from '../../src/domain/proof/deciding-files.ts';
import { filesRunBy, withScripts } from '../../src/domain/proof/executed-files.ts';
import { countSkips, isUsualTestFile, keepsMost, testFolderOf } from '../../src/domain/proof/test-files.ts';
import { timeOf } from '../support/machine/processor-time.ts';

test.each([
  'test/a.js',
  'test.js',
  'test-slug.mjs',
  'src/a.test.ts',
  'src/a-spec.js',
  'src/__tests__/a.tsx',
  'tests/data/a.json',
  'testdata/golden.txt',
  'pkg/parser_test.go',
  'test_parser.py',
  'lib/a_spec.rb',
  'src/test/java/ParserTest.java',
  'app/ParserIT.kt',
  'App.Tests/Parser.cs',
  't/basic.t',
  'features/login.feature',
])('%s is usually a test', (path) => expect(isUsualTestFile(path)).toBe(true));

test.each([
  'src/testing.ts',
  'src/latest.js',
  'contest/a.py',
  'src/attest.go',
  'docs/tested.md',
  'src/index.js',
])('%s is usually no test', (path) => expect(isUsualTestFile(path)).toBe(false));

test('a renamed test keeps most of its lines, apart from what it imports', () => {
  const old = ['import { f } from "../f.js";', '', "test('f', () => {", '  assert.equal(f(), 1);', '});'];
  const imports = ['-import { f } from "../f.js";', '+import { f } from "../../f.js";'];
  expect(keepsMost(old, [])).toBe(true);
  expect(keepsMost(old, [...imports, "+test('more');"])).toBe(true);
  expect(keepsMost(old, [...imports, '-  assert.equal(f(), 1);', '+    assert.equal(f(), 1);'])).toBe(true);
  expect(keepsMost(old, ["-test('f', () => {", '-  assert.equal(f(), 1);', '+  assert.equal(g(), 1);'])).toBe(false);
});

test('the first folder of tests in a path', () => {
  expect(['a/test/b/spec/c.js', 'test/x.js', 'src/a.test.js'].map(testFolderOf)).toEqual([
    'a/test/',
    'test/',
    undefined,
  ]);
});

test.each([
  ["test.skip('a', () => {})", 1],
  ["  it.only('a')", 1],
  ["test('a', { skip: true }, () => {})", 1],
  ['@unittest.skip("later")', 1],
  ['@pytest.mark.skipif(True)', 1],
  ['\tt.Skip("later")', 1],
  ["test('skip leaves out some', () => assert.equal(skip([1], 1), 0))", 0],
  ['list.only(3).skip(2)', 0],
])('%s switches off %i', (line, count) => expect(countSkips([line])).toBe(count));

test.each([
  'jest.config.ts',
  'web/vitest.workspace.mts',
  'jest.e2e.config.js',
  '.mocharc.yml',
  'pytest.ini',
  'tests/conftest.py',
  'spec/spec_helper.rb',
  'test/setup.ts',
  'test/support/setup.mjs',
  'jest.setup.js',
  'src/setupTests.ts',
  'Makefile',
  'pom.xml',
  '.npmrc',
  'test/__snapshots__/a.test.js.snap',
  'a.test.js.snapshot',
])('%s decides how tests run', (path) => expect(decidesByName(path)).toBe(true));

test.each([
  'setup.py',
  'src/setup.ts',
  'src/jest.md',
  'test/a.test.js',
  'test/helpers.js',
  'src/config.ts',
  'src/mocha.js',
])('%s does not', (path) => expect(decidesByName(path)).toBe(false));

test.each<[string, string | undefined, string | undefined, boolean]>([
  ['package.json', '{"scripts":{"test":"node --test"}}', '{"scripts":{"test":"exit 0"}}', true],
  ['a/package.json', '{"name":"a"}', '{"name":"a","version":"2.0.0","dependencies":{"left-pad":"1.0.0"}}', false],
  ['package.json', '{"devDependencies":{"jest":"30.0.0"}}', '{"devDependencies":{"jest":"file:./fake"}}', true],
  ['package.json', '{"jest":{}}', '{"jest":{"testPathIgnorePatterns":["."]}}', true],
  ['package.json', undefined, '{"name":"new part"}', false],
  ['package.json', '{"name":"a"}', '{"broken', true],
  ['package.json', '{"name":"a"}', '7', false],
  ['pyproject.toml', '[project]\nversion = "1"\n', '[project]\nversion = "2"\n', false],
  [
    'pyproject.toml',
    '[tool.pytest.ini_options]\naddopts = ""\n',
    '[tool.pytest.ini_options]\naddopts = "-k x"\n',
    true,
  ],
  ['Cargo.toml', '[dependencies]\n', '[dependencies]\nserde = "1"\n', false],
  ['Cargo.toml', '[[test]]\nname = "a"\n', '[[test]]\nname = "a"\nharness = false\n', true],
])('%s from %s to %s', (path, before, after, isDeciding) => {
  expect(mayDecide(path)).toBe(true);
  expect(differsInDeciding(path, before, after)).toBe(isDeciding);
});

const files = new Set([
  'run.sh',
  'tools/run.js',
  'web/check.mjs',
  'src/index.js',
  'test.js',
  'setup.cjs',
  'ci/x',
  'x.conf',
]);
test.each<[string, string[]]>([
  ['sh run.sh', ['run.sh']],
  ['./run.sh --all', ['run.sh']],
  ['node --test', []],
  ['node tools/run', ['tools/run.js']],
  ['NODE_ENV=test npx node "tools/run.js" && echo ok', ['tools/run.js']],
  ['cd web && node check.mjs', ['web/check.mjs']],
  ['bash -c "node tools/run.js"', ['tools/run.js']],
  ['timeout 5 ci/x', ['ci/x']],
  ['node --require=./setup.cjs --test', ['setup.cjs']],
  ['node -r ./setup.cjs --test', ['setup.cjs']],
  ['mocha -c x.conf', ['x.conf']],
  ['test:\n\t@node tools/run.js\n', ['tools/run.js']],
  ['eslint src/index.js', []],
  ['node --check src/index.js', []],
  ['cc -c src/index.js', []],
])('%s runs %j', (command, wanted) => {
  expect([...filesRunBy(command, (path) => files.has(path))]).toEqual(wanted);
});

test('the scripts of package.json that checks run are followed by name', () => {
  const scripts = {
    test: 'npm run unit',
    pretest: 'node a.js',
    unit: 'node b.js',
    start: 'node c.js',
    lint: 'eslint .',
  };
  expect(withScripts(['npm test', 'node x.js'], scripts)).toEqual([
    'npm test',
    'node x.js',
    'npm run unit',
    'node a.js',
    'node b.js',
  ]);
  expect(withScripts(['npm t'], { test: 'a' })).toEqual(['npm t', 'a']);
  expect(withScripts(['make test'], scripts)).toEqual(['make test']);
  expect(withScripts(['npm run a'], { a: 'npm run b', b: 'npm run a' })).toHaveLength(3);
});

test.each<[string, () => unknown]>([
  ['a line of brackets', () => differsInDeciding('pyproject.toml', '['.repeat(60_000), '')],
  ['deep folders of tests', () => manyTimes(() => decidesByName(`${'test/'.repeat(800)}x`))],
  ['deep folders', () => manyTimes(() => isUsualTestFile(`${'a/'.repeat(2000)}x`))],
  ['many dots', () => manyTimes(() => isUsualTestFile(`${'a.'.repeat(2000)}x`))],
])('%s: the time to judge grows only with the length', async (_what, judge) => {
  expect(await timeOf(judge)).toBeLessThan(10_000);
});

/** A change has at most 5,000 files. */
function manyTimes(judge: () => unknown): void {
  for (let i = 0; i < 5000; i++) judge();
}
