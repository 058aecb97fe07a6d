import { decidesByName, pathsRunBy, withScripts } from '../../../src/domain/proof/deciding-files.ts';
import { differsInDeciding } from '../../../src/domain/proof/manifests.ts';
import { readsCode } from '../../../src/domain/proof/reading-code.ts';
import {
  countSkips,
  isFoundAs,
  isStillSearched,
  isUsualTestFile,
  keepsMost,
  searchedBy,
  takesOver,
} from '../../../src/domain/proof/tests/test-files.ts';
import { timeOf } from '../../support/machine/processor-time.ts';

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
  'golden/button.txt',
  'src/goldens/button.png',
  'src/button.spec.ts-snapshots/button.md',
  'src/__image_snapshots__/button.png',
  'src/button.snap',
  'src/cassettes/login.yml',
  'src/parser.golden',
  'src/parser.expected.json',
  'src/parser.approved.txt',
  'src/parser.received.txt',
  'src/cart_expected.json',
  'src/expected-output.txt',
  'src/snapshots/cart.json',
  'expected/cart.out',
  'data/reference/cart.csv',
  'perf/baselines/cart.json',
])('%s is usually a test', (path) => expect(isUsualTestFile(path)).toBe(true));

test.each([
  'src/testing.ts',
  'src/latest.js',
  'contest/a.py',
  'src/attest.go',
  'docs/tested.md',
  'src/index.js',
  'src/snapshots/store.ts',
  'src/expected/index.js',
  'include/expected.hpp',
  'docs/reference/api.md',
  'website/content/reference/api.md',
  'src/unexpected.json',
])('%s is usually no test', (path) => expect(isUsualTestFile(path)).toBe(false));

test('a renamed test keeps most of its lines, apart from what it imports', () => {
  const old = ['import { f } from "../f.js";', '', "test('f', () => {", '  assert.equal(f(), 1);', '});'];
  const imports = ['-import { f } from "../f.js";', '+import { f } from "../../f.js";'];
  expect(keepsMost(old, [])).toBe(true);
  expect(keepsMost(old, [...imports, "+test('more');"])).toBe(true);
  expect(keepsMost(old, [...imports, '-  assert.equal(f(), 1);', '+    assert.equal(f(), 1);'])).toBe(true);
  expect(
    keepsMost(old, ["-test('f', () => {", '-  assert.equal(f(), 1);', "+test('f', () => {", '+ assert.equal(f(), 1);']),
  ).toBe(true);
  expect(keepsMost(old, ["-test('f', () => {", '-  assert.equal(f(), 1);', '+  assert.equal(g(), 1);'])).toBe(false);
});

test('a renamed test may lose three of ten lines; brackets and imports do not count', () => {
  const lines = Array.from({ length: 10 }, (_, i) => `act(${i});`);
  const old = lines.flatMap((line) => ['{', line, '});', 'import x']);
  const without = (count: number) => lines.slice(0, count).map((line) => `-${line}`);
  expect([keepsMost(old, without(3)), keepsMost(old, without(4))]).toEqual([true, false]);
  expect(keepsMost([], [])).toBe(true);
});

test.each([
  ["test.skip('a', () => {})", 1],
  ["  it.only('a')", 1],
  ["test('a', { skip: true }, () => {})", 1],
  ['@unittest.skip("later")', 1],
  ['@pytest.mark.skipif(True)', 1],
  ['\tt.Skip("later")', 1],
  [`${' '.repeat(3000)}test.skip('a')`, 1],
  ["test['skip']('a')", 1],
  ["test('a', { skip: 1 }, () => {})", 1],
  ["test('a', { skip }, () => {})", 1],
  ["describe.skipIf(true)('a')", 1],
  ["test.concurrent.skip('a')", 1],
  ['  this.skip()', 1],
  ['@unittest.skipIf(True, "")', 1],
  ['@pytest.mark.xfail', 1],
  ['    self.skipTest("later")', 1],
  ["  skip 'later'", 1],
  ['[Fact(Skip = "later")]', 1],
  ["test('a', {\n  timeout: 5,\n  skip: 1,\n}, () => {})", 1],
  ["Deno.test.ignore('a', () => {})", 1],
  ['    __test__ = False', 1],
  ['#![cfg(any())]', 1],
  ['//go:build never', 1],
  ['assumeTrue(false);', 1],
  ['@org.junit.jupiter.api.Disabled', 1],
  ['list({ skip: 10, take: 5 })', 0],
  ['expect(await list({\n  skip: 10,\n}))', 0],
  ['const { only, skip } = options;', 0],
  ["test('skip leaves out some', () => assert.equal(skip([1], 1), 0))", 0],
  ['list.only(3).skip(2)', 0],
])('%s switches off %i', (line, count) => expect(countSkips(line)).toBe(count));

test.each<[string, string, boolean]>([
  ['test/a.test.js', 'test/unit/b.test.js', true],
  ['test/a.test.js', 'src/__tests__/a.test.js', true],
  ['test_a.py', 'tests/test_b.py', true],
  ['test/a.test.js', 'test/a.test.js.disabled', false],
  ['test/a.test.js', 'test/a.js', false],
  ['test_a.py', 'a.py', false],
  ['test/a.test.js', 'test/fixtures/a.test.js', false],
  ['tests/test_a.py', 'tests/a.test.py', false],
  ['a/parser_test.go', 'a/_old/parser_test.go', false],
])('%s is still found as %s: %s', (old, path, isFound) => expect(isFoundAs(old, path)).toBe(isFound));

const noFile = () => false;
test.each<[string, string, string[], boolean]>([
  ['test/a.test.js', 'test/unit/a.test.js', ['node --test'], true],
  ['test/a.test.js', 'test/unit/a.test.js', ['node --test test/'], true],
  ['test/a.test.js', 'e2e/a.test.js', ['node --test test/'], false],
  ['test/a.test.js', 'e2e/a.test.js', ['npm test', 'jest --roots=./test'], false],
  ['test/a.test.js', 'test/unit/a.test.js', ['mocha'], false],
  ['test/a.test.js', 'test/unit/a.test.js', ['mocha --recursive'], true],
  ['test/a.test.js', 'test/b.test.js', ['mocha'], true],
  ['tests/test_a.py', 'tests/unit/test_a.py', ['python3 -m unittest'], false],
  ['tests/test_a.py', 'tests/unit/test_a.py', ['pytest'], true],
])('moved from %s to %s, a test is still run by %j: %s', (old, path, commands, isRun) =>
  expect(isStillSearched(old, path, searchedBy(commands, noFile))).toBe(isRun));

test('unittest finds tests in packages', () => {
  const isFile = (path: string) => ['tests/__init__.py', 'tests/unit/__init__.py'].includes(path);
  const given = searchedBy(['python3 -m unittest'], isFile);
  expect(isStillSearched('tests/test_a.py', 'tests/unit/test_a.py', given)).toBe(true);
});

test.each([
  ['func TestMain(m *testing.M) {', true],
  ['def load_tests(loader, tests, pattern):', true],
  ['def pytest_collection_modifyitems(items):', true],
  ['func TestMainPage(t *testing.T) {', false],
  ['def test_pytest(): pass', false],
])('%s takes over other tests: %s', (line, isOver) => expect(takesOver(['package a', line])).toBe(isOver));

const imported = 'import { f } from "../src/f.js";\n';
test.each<[string, boolean]>([
  ["assert.match(readFileSync('src/f.js', 'utf8'), /x/);", true],
  ["const at = new URL('../src/f.js', import.meta.url);\nconst text = readFileSync(\n  at,\n);", true],
  ["assert.ok(existsSync(join(root, 'src', 'f.js')));", true],
  ['text = Path("src/f.py").read_text()', true],
  ['assert "x" in inspect.getsource(f)', true],
  ["execSync('git diff HEAD~1 -- src/f.js');", true],
  ["spawnSync('git', ['status', '--porcelain']);", true],
  ["spawnSync('git', ['grep', '-c', 'x']);", true],
  ["file((new ReflectionClass('Shop\\Price'))->getFileName());", true],
  ["spawnSync('git', ['status', '--porcelain'], { cwd: folder });", false],
  ["spawnSync('git', ['-C', '.', 'hash-object', 'x']);", true],
  ["spawnSync('git', ['-C', root, '--no-pager', 'status']);", true],
  ['git -C . hash-object x', true],
  ['git --no-pager hash-object x', true],
  ['git -c core.abbrev=7 --git-dir=.git hash-object src/f.js', true],
  ["const out = tmpdir();\nspawnSync('git', ['-C', '.', 'hash-object', 'x']);", true],
  [`execSync(\`git -C \${join(root, 'src')} diff HEAD~1\`);`, true],
  ["spawnSync('git', ['log', '-1', 'src/f.js']);\nspawnSync('git', ['-C', tmp, 'status']);", true],
  ["spawnSync('git', ['-C', mkdtempSync('x'), 'status']);", false],
  ["const dir = mkdtempSync('x');\nconst repo = join(dir, 'r');\nspawnSync('git', ['-C', repo, 'status']);", false],
  ['git -C "$TMPDIR/repo" status', false],
  ['def repo(tmp_path):\n  return tmp_path\ndef test(repo):\n  run(["git", "-C", repo, "status"])', false],
  ['repo := t.TempDir()\nexec.Command("git", "-C", repo, "--no-pager", "diff")', false],
  ["spawnSync('git', ['-C', '.', 'tag']);", false],
  [`${imported}assert.match(String(f), /x/);`, true],
  [`import { version } from "./helper.js";\nassert.equal(g(), \`\${version}.0\`);`, false],
  [`${imported}assert.equal(String(f(1)), '1');`, false],
  [`${imported}assert.equal(f(), readFileSync('expected.txt', 'utf8'));`, false],
  ["const at = 'src/f.js';\nspawnSync('node', [at]);\nassert.equal(readFileSync('out.txt', 'utf8'), 'x');", false],
  ["jest.mock('../src/f.js');\nreadFileSync('data.json');", false],
  ["readFileSync('CHANGELOG.md')", false],
  ["lstatSync('src/f.js');", true],
  ["const fd = openSync('src/f.js');", true],
  ["execFileSync('cat', ['src/f.js']);", true],
  ["spawnSync('git', ['hash-object', 'src/f.js']);", true],
  [`${imported}assert.match('' + f, /x/);`, true],
  [`${imported}assert.match(inspect(f), /x/);`, true],
  [`${imported}assert.equal('' + f(1), '1');`, false],
  ['assert "x" in f.__code__.co_names', true],
  ['os.path.getsize("src/f.py")', true],
  ['grep -q x src/f.py', true],
  ["assert.equal(head(list), 'f.js');", false],
  ["at = Path('src/f.py')\nat.read_text()", true],
  ["const x = 'data.json';\nreadFileSync(x);", false],
  ["c = b;\nb = a;\na = 'src/f.js';\nreadFileSync(c);", true],
  ["d = c;\nc = b;\nb = a;\na = 'src/f.js';\nreadFileSync(d);", false],
  [`readFileSync(${' '.repeat(183)}f.js)`, true],
  [`readFileSync(${' '.repeat(184)}f.js)`, false],
  [`${'x\n'.repeat(50_000)}readFileSync('src/f.js');`, false],
  ['import { VERSION } from "../src/f.js";\nassert.equal(String(VERSION), "1");', false],
  ['import { type A as B } from "../src/f.js";\nassert.equal(String(type) + String(as), "");', false],
  ['import { readFile } from "../src/f.js";', false],
  ['import {\n  open,\n} from "../src/f.js";\nopen("x");', false],
  ["const { open } = require('../src/f.js');\nopen('x');", false],
])('%.200s reads code as text: %s', (text, isReading) => {
  expect(readsCode(text.split('\n'), ['src/f.js', 'src/f.py', 'CHANGELOG.md'])).toBe(isReading);
});

const differsIn = (path: string, before: string, after: string) =>
  differsInDeciding(path, before, after, { words: new Set(), isNewFolder: false });

test.each<[string, () => unknown]>([
  ['a line of brackets', () => differsIn('pyproject.toml', '['.repeat(60_000), '')],
  ['a package of many signs', () => differsIn('package.json', '{}', `{"overrides":{"${'@'.repeat(190_000)}\\n":"1"}}`)],
  ['deep folders of tests', () => manyTimes(() => decidesByName(`${'test/'.repeat(800)}x`))],
  ['deep folders', () => manyTimes(() => isUsualTestFile(`${'a/'.repeat(2000)}x`))],
  ['many skips', () => countSkips(`${'t.'.repeat(100_000)}\n${'test('.repeat(20_000)}${'\n'.repeat(200_000)}`)],
  ['many skips before many spaces', () => countSkips(`${'it('.repeat(100)}{${' '.repeat(2_000_000)}`)],
  ['many readers', () => readsCode(Array(20_000).fill('x=open('), ['a.js'])],
  ['many readers in one line', () => readsCode(['open('.repeat(20_000)], ['a.js'])],
  ['many calls of git', () => readsCode(['git -C '.repeat(14_000)], ['a.js'])],
  ['a call of git with many options', () => readsCode([`git ${'-a b '.repeat(20_000)}`], ['a.js'])],
  ['a call of git in a long line', () => readsCode([`git${' '.repeat(90_000)}`], ['a.js'])],
  ['many imports', () => readsCode([`${'import '.repeat(7000)}${'const '.repeat(8000)}`], ['a.js'])],
  ['a long word', () => readsCode(['x'.repeat(100_000)], ['a.js'])],
  ['many folders of libraries', () => manyTimes(() => decidesByName(`${'vendor/patches/'.repeat(250)}x`))],
  [
    'many commands',
    () => {
      const searched = searchedBy(['x '.repeat(250_000)], noFile);
      manyTimes(() => isStillSearched(`${'a/'.repeat(20)}b.js`, 'c/b.js', searched));
    },
  ],
  ['many libraries in one line', () => differsIn('pyproject.toml', '', `[project]\n${'pytest '.repeat(28_000)}`)],
  [
    'many words in a deep folder',
    () => times(20, () => pathsRunBy(`cd ${'a/'.repeat(5000)}\nnode ${'x '.repeat(4900)}`)),
  ],
  ['many scripts', () => times(50, () => withScripts(manyCommands, manyScripts))],
  ['many objects', () => countSkips("test('".repeat(10_000) + '{ a: 1,\n'.repeat(20_000))],
  ['many names', () => manyTimes(() => isFoundAs('a.js', `${'.test'.repeat(50)}x`))],
  ['many dots', () => manyTimes(() => isUsualTestFile(`${'a.'.repeat(2000)}x`))],
])('%s: the time to judge grows only with the length', async (_what, judge) => {
  expect(await timeOf(judge)).toBeLessThan(10_000);
});

const manyCommands = Array.from({ length: 200 }, (_, i) => `npm run ${i}`);
const manyScripts = Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`s${i}`, '']));

/** A change has at most 5,000 files. */
function manyTimes(judge: () => unknown): void {
  times(5000, judge);
}

function times(count: number, judge: () => unknown): void {
  for (let i = 0; i < count; i++) judge();
}
