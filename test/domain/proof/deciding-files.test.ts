import {
  decidesByName,
  isKnownProgram,
  pathsRunBy,
  startsVendoring,
  withScripts,
} from '../../../src/domain/proof/deciding-files.ts';

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
  'vendor/github.com/google/go-cmp/cmp/compare.go',
  'vendor/phpunit/phpunit/src/Framework/TestCase.php',
  'vendor/cache/rspec-core-3.13.0.gem',
  'sitecustomize.py',
  'shop-1.0.dist-info/entry_points.txt',
  'src/shop.egg-info/entry_points.txt',
  '.venv/lib/python3.12/site-packages/pytest/__init__.py',
  '.pnp.cjs',
  'go.work',
  'src/main/resources/META-INF/services/org.junit.jupiter.api.extension.Extension',
  'jest-preset.js',
  'pnpm-workspace.yaml',
  'Package.swift',
  'Package@swift-5.9.swift',
  'project/plugins.sbt',
  'project/Quiet.scala',
  'config/test.exs',
  'config/environments/test.rb',
  'src/Directory.Build.rsp',
  'NuGet.Config',
  'pubspec_overrides.yaml',
  'rebar.config',
  'lib/minitest/quiet_plugin.rb',
  'test/minitest/quiet_plugin.rb',
  'lib/minitest.rb',
  'lib/rspec/core.rb',
  'lib/Test/More.pm',
  'api/gems.rb',
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
  'lib/shop/minitest.rb',
  'config/environments/production.rb',
  'src/main/scala/Price.scala',
])('%s does not', (path) => expect(decidesByName(path)).toBe(false));

test('Go takes its libraries from a folder that lists them', () => {
  expect(['vendor/modules.txt', 'api/vendor/modules.txt', 'vendor/a/modules.go'].map(startsVendoring)).toEqual([
    true,
    true,
    false,
  ]);
});

test.each<[string, boolean]>([
  ['node', true],
  ['sh', true],
  ['env', true],
  ['jest', true],
  ['git', true],
  ['shop', false],
])('runners start %s: %s', (name, isKnown) => expect(isKnownProgram(name)).toBe(isKnown));

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
  expect(pathsRunBy(command)?.filter((path) => files.has(path))).toEqual(wanted);
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
