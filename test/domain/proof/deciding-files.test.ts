import {
  decidesByName,
  filesRunBy,
  takesPlaceOfModule,
  withScripts,
} from '../../../src/domain/proof/deciding-files.ts';
import { differsInDeciding, mayDecide } from '../../../src/domain/proof/manifests.ts';

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
  'pytest.toml',
  '.env',
  'web/.env.test',
  '.mvn/maven.config',
  '.cargo/config.toml',
  'gradle.properties',
  'node_modules/chai/index.js',
  'patches/jest+30.0.0.patch',
  'vendor/github.com/stretchr/testify/assert/assertions.go',
  'sitecustomize.py',
  'shop-1.0.dist-info/entry_points.txt',
  'src/shop.egg-info/entry_points.txt',
  '.venv/lib/python3.12/site-packages/pytest/__init__.py',
  '.pnp.cjs',
  'go.work',
  'src/main/resources/META-INF/services/org.junit.jupiter.api.extension.Extension',
  'jest-preset.js',
  'pnpm-workspace.yaml',
])('%s decides how tests run', (path) => expect(decidesByName(path)).toBe(true));

test.each([
  'setup.py',
  'src/setup.ts',
  'src/jest.md',
  'test/a.test.js',
  'test/helpers.js',
  'src/config.ts',
  'src/mocha.js',
  '.env.example',
  'src/env.ts',
  'vendor/github.com/pkg/errors/errors.go',
  'src/patches/index.js',
])('%s does not', (path) => expect(decidesByName(path)).toBe(false));

test.each([
  ['difflib.py', true],
  ['pytest/__init__.py', true],
  ['tests/json.py', true],
  ['shop/json.py', false],
  ['shop.py', false],
  ['src/json.ts', false],
])('%s takes the place of a module that runners load: %s', (path, isTaken) =>
  expect(takesPlaceOfModule(path)).toBe(isTaken));

test.each<[string, string | undefined, string | undefined, boolean]>([
  ['package.json', '{"name":"a"}', '{"imports":{"#a":"./b.js"}}', true],
  ['package.json', '{"type":"commonjs"}', '{"type":"module"}', true],
  ['package.json', '{"exports":{".":"./a.js"}}', '{"exports":{".":"./a.js","./b":"./b.js"}}', false],
  ['package.json', '{"exports":{".":"./a.js"}}', '{"exports":{".":"./b.js"}}', true],
  ['package.json', '{"name":"a"}', '{"exports":"./b.js"}', true],
  ['packages/a/package.json', undefined, '{"type":"module","exports":"./a.js"}', false],
  ['composer.json', '{"autoload":{"psr-4":{}}}', '{"autoload":{"psr-4":{},"files":["a.php"]}}', true],
  ['composer.json', '{"autoload":{"psr-4":{}}}', '{"autoload":{"psr-4":{"A":"a"}}}', false],
  ['go.mod', 'module a\n', 'module a\nreplace b => ./b\n', true],
  ['go.mod', 'module a\n', 'module a\nrequire golang.org/x/text v0.14.0\n', false],
  ['requirements.txt', 'pytest==8.0\n', './tools/quiet\n', true],
  ['requirements-dev.txt', 'pytest==8.0\n', 'pytest==7.0\n', true],
  ['requirements/base.txt', 'requests==2.0\n', 'requests==2.0\nattrs==24.1\n', false],
  ['requirements.txt', 'requests==2.0\n', 'requests @ file:./x\n', true],
  ['pyproject.toml', '[project]\n', '[project]\n[tool.uv.sources]\npytest = { path = "a" }\n', true],
  ['pyproject.toml', '[project]\n', '[project]\ndependencies = ["attrs"]\n', false],
  ['Gemfile', "gem 'rspec'\n", "gem 'rspec', path: 'quiet'\n", true],
  ['Gemfile', "gem 'rspec'\n", "gem 'rspec'\ngem 'oj'\n", false],
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
    '[tool.pytest.x]\na = 1\n[project]\nversion = "1"\n',
    '[tool.pytest.x]\na = 1\n[project]\nversion = "2"\n',
    false,
  ],
  [
    'package.json',
    '{"devDependencies":{"jest":"30.0.0","tiny":"1.0.0"}}',
    '{"devDependencies":{"jest":"30.0.0","tiny":"1.1.0"}}',
    false,
  ],
  ['package.json', '{"overrides":{}}', '{"overrides":{"jest@29":"30.0.0"}}', true],
  ['package.json', '{"overrides":{}}', '{"overrides":{"@playwright/test@1":"2.0.0"}}', true],
  [
    'pyproject.toml',
    '[tool.pytest.ini_options]\naddopts = ""\n',
    '[tool.pytest.ini_options]\naddopts = "-k x"\n',
    true,
  ],
  ['pyproject.toml', '', 'tool.pytest.ini_options.addopts = "--co"\n', true],
  ['pyproject.toml', '', '[tool]\npytest = { ini_options = { addopts = "--co" } }\n', true],
  ['pyproject.toml', '', '[tool."pyt\\u0065st".ini_options]\naddopts = "--co"\n', true],
  ['pyproject.toml', '', '[project]\nentry-points = { pytest11 = { x = "x" } }\n', true],
  ['pyproject.toml', '[tool.pytest.x]\na = [\n["b"],\n]\n', '[tool.pytest.x]\na = [\n["b"],\n]\naddopts = ""\n', true],
  ['pyproject.toml', '[tool.ruff]\n', '[tool.ruff]\nline-length = 100\n[project]\ndependencies = ["x"]\n', false],
  ['setup.cfg', '[metadata]\n', '[metadata]\nname = a\u2028[tool:pytest]\n', true],
  ['setup.py', 'setup(version="1")\n', 'setup(version="2")\n', false],
  ['setup.py', 'setup(\n)', 'setup(\nentry_points={"pytest11": ["x"]}\n)', true],
  ['Cargo.toml', '[package]\n', '[package]\nautotests = false\n', true],
  ['package.json', '{"workspaces":["a","b"]}', '{"workspaces":["a"]}', true],
  ['package.json', '{"overrides":{}}', '{"overrides":{"**/jest":"npm:fake"}}', true],
  ['package.json', '{"devDependencies":{"chai":"5.0.0"}}', '{"devDependencies":{"chai":"4.0.0"}}', true],
  ['package.json', '{"devDependencies":{"tiny":"5.0.0"}}', '{"devDependencies":{"tiny":"file:./fake"}}', true],
  [
    'package.json',
    '{"devDependencies":{"tiny":"5.0.0"}}',
    '{"devDependencies":{"tiny":"5.1.0","chai":"5.0.0"}}',
    false,
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
  'web/tool.py',
  'src/index.js',
  'test.js',
  'setup.cjs',
  'ci/x',
  'x.conf',
  'ci/index.js',
  'ci/check.py',
  'unittest/__main__.py',
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
  ['node ci/', ['ci/index.js']],
  ['node web/../tools/./run.js', ['tools/run.js']],
  ['python3 -m ci.check', ['ci/check.py']],
  ['cd web && python3 -m tool', ['web/tool.py']],
  ['python3 ci.check', []],
  ['python3 -m', []],
  ['python -W error -m unittest', ['unittest/__main__.py']],
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
  const after = (count: number) =>
    withScripts([...Array(count).fill('echo'), 'npm run a'], { a: 'echo a' }).length - count;
  expect([after(199), after(200)]).toEqual([2, 1]);
  expect(withScripts(['npm run a'], { a: 'npm run b', b: 'npm run a' })).toHaveLength(3);
});
