import type { Surroundings } from '../../../src/domain/proof/manifests/manifest.ts';
import { differsInDeciding, mayDecide } from '../../../src/domain/proof/manifests.ts';

const differs = (path: string, before?: string, after?: string, around: Partial<Surroundings> = {}) =>
  differsInDeciding(path, before, after, { words: new Set(), isNewFolder: false, ...around });

test.each<[string, string | undefined, string | undefined, boolean]>([
  ['package.json', '{"name":"a"}', '{"imports":{"#a":"./b.js"}}', true],
  ['package.json', '{"type":"commonjs"}', '{"type":"module"}', true],
  ['package.json', '{"exports":{".":"./a.js"}}', '{"exports":{".":"./a.js","./b":"./b.js"}}', false],
  ['package.json', '{"exports":{".":"./a.js"}}', '{"exports":{".":"./b.js"}}', true],
  ['package.json', '{"name":"a"}', '{"exports":"./b.js"}', true],
  ['packages/a/package.json', undefined, '{"type":"module","exports":"./a.js"}', true],
  ['composer.json', '{"autoload":{"psr-4":{}}}', '{"autoload":{"psr-4":{},"files":["a.php"]}}', true],
  ['composer.json', '{"autoload":{"psr-4":{}}}', '{"autoload":{"psr-4":{"A":"a"}}}', true],
  ['composer.json', '{"autoload":{"psr-4":{}}}', '{"autoload":{"psr-4":{},"classmap":["a"]}}', true],
  ['composer.json', '{"require":{"a/b":"1"}}', '{"require":{"a/b":"1","c/d":"2"}}', false],
  ['Cargo.toml', '[package]\n', '[package]\nbuild = "tools/gen.rs"\n', true],
  ['Cargo.toml', '', 'package."build" = "tools/gen.rs"\n', true],
  ['shop/settings.py', 'DEBUG = True\n', "DEBUG = True\nTEST_RUNNER = 'shop.Quiet'\n", true],
  ['shop/settings/test.py', undefined, "TEST_RUNNER = 'shop.Quiet'\n", true],
  ['config/base.py', 'DEBUG = True\n', 'DEBUG = False\n', false],
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
  ['package.json', undefined, '{}', true],
  ['package.json', '{"name":"a"}', '{"broken', true],
  ['package.json', '{"name":"a"}', '7', true],
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
  ['package.json', '{"devDependencies":{"tiny":"5.0.0"}}', '{"devDependencies":{"tiny":"5.1.0","chai":"5.0.0"}}', true],
  ['Cargo.toml', '[dependencies]\n', '[dependencies]\nserde = "1"\n', false],
  ['Cargo.toml', '[[test]]\nname = "a"\n', '[[test]]\nname = "a"\nharness = false\n', true],
])('%s from %s to %s', (path, before, after, isDeciding) => {
  expect(mayDecide(path)).toBe(true);
  expect(differs(path, before, after)).toBe(isDeciding);
});

const base = {
  name: 'shop',
  bin: { shop: 'a.js' },
  exports: { '.': './a.js' },
  devDependencies: { jest: '30.0.0', ms: '2.0.0' },
};
const json = (more: object) => JSON.stringify({ ...base, ...more });
const dev = (more: object) => ({ devDependencies: { ...base.devDependencies, ...more } });

test.each<object>([
  { optionalDependencies: { '@jest/core': 'file:./fake' } },
  { optionalDependencies: { ms: 'file:./fake' } },
  { peerDependencies: { picocolors: 'npm:evil@1.0.0' } },
  { peerDependenciesMeta: { jest: { optional: true } } },
  { bundledDependencies: ['ms'] },
  { dependencies: ['ms'] },
  { overrides: { 'graceful-fs': '1.0.0' } },
  { pnpm: { overrides: { ms: '1.0.0' } } },
  { dependenciesMeta: { ms: { injected: true } } },
  { packageManager: 'yarn@https://example.com/yarn.js' },
  { engines: { runtime: { name: 'node', onFail: 'download' } } },
  { directories: { bin: 'bin' } },
  { browser: { ms: './quiet.js' } },
  { sideEffects: false },
  { name: 'ms' },
  { exports: { '.': './a.js', import: './quiet.js' } },
  { exports: { '.': { node: './quiet.js', default: './a.js' } } },
  { bin: { shop: 'a.js', node: 'quiet.js' } },
  { bin: { shop: 'a.js', 'shop-check': 'quiet.js' } },
  { bin: { shop: 'b.js' } },
  { somethingNew: true },
  dev({ 'jest-cli': 'file:./fake' }),
  dev({ 'jest-circus': '30.0.0' }),
  dev({ expect: '1.0.0' }),
  dev({ ms: 'fake.tgz' }),
  dev({ ms: 'evil/ms' }),
  dev({ ms: 'workspace:*' }),
  dev({ ms: { version: '1.0.0' } }),
  dev({ tiny: 'workspace:other@*' }),
  dev({ tiny: '.' }),
])('in package.json, %j decides', (more) => {
  expect(differs('package.json', json({}), json(more), { words: new Set(['shop-check']) })).toBe(true);
});

test.each<object>([
  { description: 'a', keywords: ['b'], version: '2.0.0', contributes: { commands: [] }, engines: { node: '>=22' } },
  { optionalDependencies: { tiny: '^1.0.0' }, peerDependencies: { react: '^18 || ^19' } },
  { peerDependenciesMeta: { react: { optional: true } } },
  { exports: { '.': './a.js', './b': { node: './b.js' } } },
  { bin: { shop: 'a.js', 'shop-init': 'b.js' } },
  dev({ ms: '~2.1.0' }),
  dev({
    tiny: 'workspace:^',
    more: 'catalog:',
    next: 'latest',
    '@types/jest': '30.0.0',
    'eslint-plugin-jest': '1.0.0',
  }),
  { devDependencies: { jest: '30.0.0' } },
])('in package.json, %j decides nothing', (more) => {
  expect(differs('package.json', json({}), json(more), { words: new Set(['shop-check']) })).toBe(false);
});

test('a manifest in a folder of its own decides little', () => {
  const isNew = (path: string, text: string) => differs(path, undefined, text, { isNewFolder: true });
  const own = { name: '@shop/tax', version: '1.0.0', type: 'module', exports: './a.js', bin: { tax: 'a.js' } };
  expect(isNew('tax/package.json', JSON.stringify({ ...own, dependencies: { '@shop/cart': 'workspace:*' } }))).toBe(
    false,
  );
  expect(isNew('tax/package.json', '{"name":"@jest/core"}')).toBe(true);
  expect(isNew('tax/package.json', '{"name":"tax","bin":{"node":"a.js"}}')).toBe(true);
  expect(isNew('tax/package.json', '{"name":"node","bin":"a.js"}')).toBe(true);
  expect(isNew('tax/package.json', '{"dependencies":{"ms":"file:../fake"}}')).toBe(true);
  expect(isNew('tax/go.mod', 'module shop/tax\n\ngo 1.22\n')).toBe(false);
  const python =
    '[project]\nname = "tax"\n[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n';
  expect(isNew('tax/pyproject.toml', python)).toBe(false);
  expect(isNew('tax/pyproject.toml', python.replace('"tax"', '"pytest"'))).toBe(true);
  expect(isNew('tax/pyproject.toml', `${python}backend-path = ["."]\n`)).toBe(true);
  const rust = '[package]\nname = "tax"\nedition = "2021"\n[dependencies]\ncart = { path = "../cart" }\n';
  expect(isNew('tax/Cargo.toml', rust)).toBe(false);
  expect(isNew('tax/Cargo.toml', rust.replace('path = "../cart"', 'git = "https://example.com"'))).toBe(true);
});

const requests = '[project]\ndependencies = ["requests"]\n';
test.each<[path: string, before: string, after: string, isDeciding: boolean]>([
  // A folder with a go.mod of its own is left out of ./...
  ['pkg/go.mod', '', 'module pkg\n', true],
  ['go.mod', 'module a\n', 'module a\nignore ./cart\n', true],
  ['go.mod', 'module a\n', 'module a\nignore (\n\t./cart\n)\n', true],
  ['go.mod', 'module a\nrequire (\n)\n', 'module a\nrequire (\n\ta.b/c v1.0.0 // indirect\n)\n', false],
  ['go.mod', 'module a\nrequire b v1.0.0\n', 'module a\nrequire b v1.1.0\n', false],
  ['go.mod', 'module a\n', 'module a\nrequire github.com/stretchr/testify v1.0.0\n', true],
  [
    'pyproject.toml',
    requests,
    '[project]\ndependencies = [\n  "requests", # more\n  "httpx[http2]>=1; python_version < \'3.9\'",\n]\n',
    false,
  ],
  ['pyproject.toml', requests, '[project]\ndependencies = ["requests", "pluggy @ file:./fake"]\n', true],
  ['pyproject.toml', requests, '[project]\ndependencies = ["requests", "x @ https://example.com/x.zip"]\n', true],
  ['pyproject.toml', requests, '[project]\ndependencies = ["requests", "./fake"]\n', true],
  ['pyproject.toml', requests, '[project]\ndependencies = ["requests", "x", """y"""]\n', true],
  ['pyproject.toml', requests, `${requests}optional-dependencies = { a = ["x @ file:./y"] }\n`, true],
  ['pyproject.toml', requests, `${requests}optional-dependencies.a = ["x"]\n[dependency-groups]\ndev = ["y"]\n`, false],
  ['pyproject.toml', requests, `${requests}[project.optional-dependencies]\na = ["x>=1"]\n`, false],
  ['pyproject.toml', requests, `${requests}[dependency-groups]\ndev = [{ include-group = "a" }]\n`, true],
  ['pyproject.toml', requests, `${requests}[build-system]\nbackend-path = ["tools"]\n`, true],
  ['pyproject.toml', requests, `${requests}[project.entry-points.hypothesis]\nx = "shop.quiet"\n`, true],
  ['pyproject.toml', requests, `${requests}description = """\n[tool.ruff]\n"""\nscripts = { pytest = "a:b" }\n`, true],
  ['pyproject.toml', requests, `${requests}description = """\n[tool.pytest]\n"""\n`, false],
  ['pyproject.toml', requests, `${requests}name = "pytest"\n`, true],
  ['pyproject.toml', requests, `${requests}[tool.hatch.envs.test]\nscripts.test = "true"\n`, true],
  [
    'pyproject.toml',
    '[tool.poetry.dependencies]\n',
    '[tool.poetry.dependencies]\nhttpx = "^0.27"\nx = { version = "1", extras = ["a"] }\n',
    false,
  ],
  ['pyproject.toml', '[tool.poetry.dependencies]\n', '[tool.poetry.dependencies]\nhttpx = { path = "fake" }\n', true],
  ['pyproject.toml', '[tool.poetry.dependencies]\n', '[tool.poetry.dependencies]\nhttpx = { "path" = "fake" }\n', true],
  ['pyproject.toml', '[tool.poetry.dependencies]\n', '[tool.poetry.dependencies.httpx]\npath = "fake"\n', true],
  ['pyproject.toml', '[tool.poetry]\n', '[tool.poetry]\ndependencies = { httpx = { path = "fake" } }\n', true],
  ['pyproject.toml', '[tool.poetry]\n', '[tool.poetry]\nversion = "2"\n', false],
  ['pyproject.toml', '[project]\n', '[project]\nbroken\n', true],
  ['setup.cfg', '[options]\ninstall_requires =\n    a\n', '[options]\ninstall_requires =\n    a\n    b>=1\n', false],
  [
    'setup.cfg',
    '[options]\ninstall_requires =\n    a\n',
    '[options]\ninstall_requires =\n    a\n    b @ file:./b\n',
    true,
  ],
  ['setup.cfg', '[options]\n', '[options]\npy_modules = quiet\n', true],
  ['setup.cfg', '[metadata]\nname = a\nversion = 1\n', '[metadata]\nname = a\nversion = 2\n', false],
  ['setup.cfg', '[metadata]\nname = a\n', '[metadata]\nname = pytest\n', true],
  ['setup.cfg', '[flake8]\n', '[flake8]\nmax-line-length = 100\n', false],
  ['setup.cfg', '', '[options.entry_points]\nhypothesis =\n    x = y\n', true],
  [
    'setup.py',
    'setup(\n  install_requires=[\n    "a",\n  ])',
    'setup(\n  install_requires=[\n    "a",\n    "b>=1",\n  ])',
    false,
  ],
  ['setup.py', 'setup()\n', 'import os; os.system("x")\nsetup()\n', true],
  ['setup.py', 'setup(\n)', 'setup(\ndescription="a", py_modules=["quiet"],\n)', true],
  ['requirements.txt', 'a\n', 'a\nquiet.whl\n', true],
  ['requirements.txt', 'a\n', 'a\nb --config-settings=x=y\n', true],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of pip
  ['requirements.txt', 'a\n', 'a\n${FAKE}\n', true],
  ['requirements.txt', 'a\n', 'a\npytest-quiet\n', true],
  ['requirements.txt', 'a\n', 'a  # see https://example.com\nb[c]~=1.0 ; python_version < "3.9"\n', false],
  ['Gemfile', "gem 'a'\n", "gem 'a'\ngem 'oj', '~> 3.0', require: false, groups: [:a, :b]\n", false],
  ['Gemfile', "gem 'a'\n", 'gem \'a\'\ngroup :test do\n  gem "oj", ">= 1"\nend\n', false],
  ['Gemfile', "gem 'a'\n", "gem 'a'\ngem 'oj', require: 'quiet'\n", true],
  ['Gemfile', "gem 'a'\n", "gem 'a'\nload 'quiet.rb'\n", true],
  ['Gemfile', "gem 'a'\n", "gem 'a'; exit\n", true],
  ['Cargo.toml', '[dev-dependencies]\n', '[dev-dependencies]\npretty_assertions = { path = "fake" }\n', true],
  ['Cargo.toml', '[dev-dependencies]\n', '[dev-dependencies]\nx = { "path" = "fake" }\n', true],
  ['Cargo.toml', '[dev-dependencies]\n', '[dev-dependencies.x]\npath = "fake"\n', true],
  ['Cargo.toml', '[dev-dependencies]\n', '[dev-dependencies]\nrstest = "0.18"\n', false],
  ['Cargo.toml', '[dev-dependencies]\nrstest = "0.18"\n', '[dev-dependencies]\nrstest = "0.17"\n', true],
  ['Cargo.toml', '[dependencies]\nserde = "1"\n', '[dependencies]\nserde = "1.1"\n', false],
  [
    'Cargo.toml',
    '[dependencies]\nserde = "1"\n',
    '[dependencies]\nserde = { version = "1", features = ["derive"] }\n',
    false,
  ],
  ['Cargo.toml', '[dependencies]\nserde = "1"\n', '[dependencies]\nserde = { version = "1", optional = true }\n', true],
  [
    'Cargo.toml',
    '[dependencies]\nserde = "1"\n',
    '[dependencies]\nserde = { version = "1", package = "fake" }\n',
    true,
  ],
  [
    'Cargo.toml',
    '',
    '[target.\'cfg(unix)\'.dependencies]\nlibc = "0.2"\n[workspace.dependencies]\na.version = "1"\n',
    false,
  ],
  ['Cargo.toml', '', '[target.\'cfg(unix)\'.dependencies]\nlibc.git = "x"\n', true],
  ['Cargo.toml', '[features]\n', '[features]\nextra = []\n', false],
  ['Cargo.toml', '[features]\ndefault = ["a"]\n', '[features]\ndefault = []\n', true],
  ['Cargo.toml', '', '[profile.dev]\ndebug-assertions = false\n', true],
  ['Cargo.toml', '[package]\nedition = "2018"\n', '[package]\nedition = "2024"\n', true],
  ['Cargo.toml', '[package]\nversion = "1"\n', '[package]\nversion.workspace = true\n', false],
  ['Cargo.toml', '', '[workspace]\n', true],
  ['composer.json', '{"require-dev":{"phpunit/phpunit":"11"}}', '{"require-dev":{"phpunit/phpunit":"9"}}', true],
  ['composer.json', '{"require-dev":{}}', '{"require-dev":{"phpspec/prophecy":"dev-main#abc"}}', true],
  ['composer.json', '{"require":{}}', '{"require":{"php":">=8.2","ext-intl":"*","a/b":"^1.0@beta"}}', false],
  ['composer.json', '{}', '{"replace":{"phpunit/phpunit":"*"}}', true],
  ['composer.json', '{}', '{"extra":{"patches":{}}}', true],
  ['deno.json', '{"imports":{}}', '{"imports":{"ms":"npm:ms@2","@std/path":"jsr:@std/path@^1"}}', false],
  ['deno.json', '{"imports":{"ms":"npm:ms@1"}}', '{"imports":{"ms":"npm:ms@2"}}', false],
  ['deno.json', '{"imports":{"ms":"npm:ms@1"}}', '{"imports":{"ms":"npm:quiet@1"}}', true],
  ['deno.json', '{"imports":{}}', '{"imports":{"jsr:@std/x":"npm:quiet@1"}}', true],
  ['deno.json', '{"imports":{"a/":"npm:/a/"}}', '{"imports":{"a/":"npm:/a/","a/b":"npm:quiet@1"}}', true],
  ['deno.json', '{"imports":{}}', '{"imports":{"x":"./quiet.js"}}', true],
  ['deno.json', '{}', '{"scopes":{"./":{"ms":"./quiet.js"}}}', true],
  ['deno.json', '{}', '{"importMap":"./quiet.json"}', true],
  ['deno.json', '{"exports":{"./*":"./a/*"}}', '{"exports":{"./*":"./a/*","./b":"./quiet.js"}}', true],
])('%s from %j to %j decides: %s', (path, before, after, isDeciding) => {
  expect(mayDecide(path)).toBe(true);
  expect(differs(path, before, after)).toBe(isDeciding);
});
