import { detectSetup } from '../../src/environment/detect.ts';
import { hasFailingTests, hasPassed, usualChecks } from '../../src/environment/draft/usual-checks.ts';
import type { Checkout } from '../../src/git/engine.ts';

/** What is found in these files, by path and content. */
async function search(files: Record<string, string>, isDetected = true) {
  const readFile = async (_commit: string, path: string) =>
    files[path] === undefined ? undefined : Buffer.from(files[path]);
  const paths = new Map(Object.entries(files));
  const { folders } = await detectSetup(paths.keys());
  return usualChecks({ readFile } as unknown as Checkout, 'commit', { paths, folders, isDetected });
}
const scripts = (test: unknown, more: object = {}) => JSON.stringify({ scripts: { test }, ...more });
const python = ['python3 -m pytest', 'python3 -m unittest'];

test.each([
  [{ 'README.md': '' }, []],
  [{ 'package.json': scripts('jest') }, [['npm test']]],
  [{ 'package.json': scripts('jest'), 'pnpm-lock.yaml': '' }, [['pnpm test']]],
  [{ 'package.json': scripts('jest', { packageManager: 'yarn@4.1.0' }), 'package-lock.json': '' }, [['yarn test']]],
  [{ 'package.json': scripts('echo "Error: no test specified" && exit 1') }, []],
  [{ 'package.json': '{"scripts": []' }, []],
  [{ 'package.json': scripts('jest'), 'deno.json': '{}' }, [['npm test']]],
  [{ 'deno.json': '{}' }, [['deno test']]],
  [{ 'go.mod': '', 'Cargo.toml': '', 't/basic.t': '' }, [['go test ./...'], ['cargo test'], ['prove -lr t']]],
  [{ 'src/tests/test_x.py': '' }, [python]],
  [{ 'test_x.py': '', 'tox.ini': '' }, [[...python, 'tox']]],
  [{ 'noxfile.py': '' }, [['nox']]],
  [{ Rakefile: '', Gemfile: '', 'test/x.rb': '' }, [['bundle exec rake test', 'bundle exec rake spec']]],
  [{ Gemfile: '', '.rspec': '' }, [['bundle exec rspec']]],
  [{ 'spec/models/x_spec.rb': '' }, [['rspec']]],
  [{ 'composer.json': scripts(['@php x']), 'phpunit.xml.dist': '' }, [['composer test', 'vendor/bin/phpunit']]],
  [{ 'phpunit.xml': '' }, [['vendor/bin/phpunit']]],
  [{ 'pom.xml': '', mvnw: '' }, [['sh ./mvnw -B -q -o test']]],
  [{ 'settings.gradle.kts': '', gradlew: '' }, [['sh ./gradlew --no-daemon -q --offline test']]],
  [{ justfile: 'set shell := ["sh"]\ntest := "x"\n@test *args: build\n  true\n' }, [['just test']]],
  [{ Justfile: 'testing:\n  true\n  test: x\n' }, []],
  [{ 'Taskfile.dist.yml': "tasks:\n  'test':\n    cmds: [true]\n" }, [['task test']]],
  [{ 'Taskfile.yml': "version: '3'\ntasks:\n  check:\n    cmds: [true]\n" }, [['task check']]],
])('the usual checks of %j', async (files, commands) => {
  expect((await search(files as Record<string, string>)).checks).toEqual(commands);
});

test.each([
  ['all:\n\ttrue\ncheck : all\ntest:\n', ['make test', 'make check']],
  ['test := 1\n# check:\n\ttest:\n', []],
  ['test lint: deps\n\ttrue\n', ['make test']],
  ['lint \\\n  test: deps\r\n\ttrue\r\n', ['make test']],
  ['test::\n\ttrue\n', ['make test']],
  ['test: deps ## runs the tests\n\ttrue\n', ['make test']],
  ['include common.mk\n.PHONY: lint check\n', ['make check']],
  ['test ::= 1\nX = test: y\ntest-all: test\n%.test: x\n', []],
])('the targets of the Makefile %j', async (Makefile, commands) => {
  expect((await search({ Makefile })).checks.flat()).toEqual(commands);
});

test.each([
  ['uv.lock', 'uv run --no-sync'],
  ['poetry.lock', 'poetry run'],
  ['Pipfile.lock', 'pipenv run'],
])('%s decides how Python runs, unless .deckhand.yml lists another set-up', async (lock, runner) => {
  const files = { [lock]: '', 'tests/test_x.py': '', 'requirements.txt': '' };
  const inEnvironment = [`${runner} pytest`, `${runner} python -m unittest`];
  expect((await search(files)).checks).toEqual([inEnvironment]);
  expect((await search(files, false)).checks).toEqual([[...inEnvironment, ...python]]);
});

test('a side folder that is a project of its own is checked there, and one without a check is named', async () => {
  const { checks, unchecked } = await search({
    'backend/uv.lock': '',
    'backend/tests/test_x.py': '',
    'frontend/package.json': scripts('vitest run'),
    'frontend/yarn.lock': '',
    'packages/core/package.json': scripts('node --test'),
    'packages/core/package-lock.json': '',
    "it's/go.mod": '',
    'docs/package-lock.json': '',
    Makefile: 'check:\n',
  });
  expect(checks).toEqual([
    ['make check'],
    ['cd backend && uv run --no-sync pytest', 'cd backend && uv run --no-sync python -m unittest'],
    ['cd frontend && yarn test'],
    ["cd './it'\\''s' && go test ./..."],
    ['cd packages/core && npm test'],
  ]);
  expect(unchecked).toEqual(['docs']);
});

test('a side folder without a lock file is checked if the root has no manifest', async () => {
  const api = { 'api/package.json': scripts('node --test') };
  expect((await search(api)).checks).toEqual([['cd api && npm test']]);
  expect((await search({ ...api, 'pyproject.toml': '' })).checks).toEqual([]);
});

test('the tests of a folder that has only tests are also those of the root', async () => {
  const { checks } = await search({ 'tests/requirements.txt': '', 'tests/test_x.py': '', 'src/x.py': '' });
  expect(checks).toEqual([python, python.map((command) => `cd tests && ${command}`)]);
});

test.each([
  ['nothing of unittest', 0, 'Ran 0 tests in 0.000s\n\nOK\n', false, false],
  ['nothing of Node', 0, 'ℹ tests 0\nℹ suites 0\n', false, false],
  ['nothing of Node, as TAP', 0, '# tests 0\n# pass 0\n', false, false],
  ['a folder that make takes for the target', 0, "make: 'test' is up to date.\n", false, false],
  ['a target without a recipe', 0, "make: Nothing to be done for 'check'.\n", false, false],
  ['a part that make need not build', 0, "make[1]: 'build/x' is up to date.\n", true, false],
  ['ten tests of Node', 0, 'ℹ tests 10\nℹ pass 10\n', true, false],
  ['one test of unittest', 0, 'Ran 1 test in 0.001s\n\nOK\n', true, false],
  ['a failing test of pytest', 1, '=== short test summary info ===\n1 failed in 0.03s\n', false, true],
  ['a file that pytest cannot import', 2, 'Interrupted: 1 error during collection\n', false, false],
  ['no pytest', 1, '/usr/bin/python3: No module named pytest\n', false, false],
])('a usual check that says: %s', (_what, exitCode, output, passed, failed) => {
  const result = { exitCode, output };
  expect([hasPassed(result), hasFailingTests(result)]).toEqual([passed, failed]);
});
