import { approvalReasons, textsForFetch } from '../../../src/environment/change/approval-reasons.ts';
import type { FilesOfTree } from '../../../src/environment/change/files-of-tree.ts';
import { outsideOfPackage, readForFetch } from '../../../src/environment/change/judge-manifests.ts';
import { fetchesOf } from '../../../src/environment/change/package-managers.ts';
import { timeOf } from '../../support/machine/processor-time.ts';

const treeOf = (files: Record<string, string>): FilesOfTree => ({
  oids: new Map(Object.entries(files)),
  texts: new Map(Object.entries(files)),
});
const reasonsFor = (command: string, base: Record<string, string>, change: Record<string, string>) =>
  approvalReasons(fetchesOf(command), treeOf(base), treeOf({ ...base, ...change }));

const berry = (resolution: string, more = '') =>
  `__metadata:\n  version: 8\n\n"a@npm:1":\n  version: 1.0.0\n  resolution: "${resolution}"\n${more}`;
const range = (written: string, field = 'dependencies') => ({
  'package.json': JSON.stringify({ [field]: { a: written } }),
});
const lockOf = (entry: object) => JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0', ...entry } } });
const locked = (...packages: object[]) =>
  JSON.stringify({ packages: packages.map((each) => ({ name: 'acme/tool', ...each })), 'packages-dev': [] });
const dist = { type: 'zip', url: 'https://example.org/a.zip' };

test.each([
  [
    'npm ci',
    { 'package.json': '{"dependencies":{"a":"1"}}', 'package-lock.json': '{"resolved": "https://example.org/a.tgz"}' },
  ],
  ['npm ci', { 'src/index.js': 'x', 'pip.conf': 'x', '.yarnrc.yml': 'x' }],
  ...[
    lockOf({ resolved: 'https://registry.example.org/a/-/a-1.0.0.tgz', bin: { version: 'bin/version.js' } }),
    lockOf({ resolved: 'https://gitlab.com/api/v4/projects/1/packages/npm/a/-/a-1.0.0.tgz' }),
    lockOf({ resolved: 'packages/a', link: true }),
    lockOf({ resolved: 'file:packages/a', requires: { b: 'npm:@c/d@^1', e: '>=1, <2', f: '*' } }),
    lockOf({ from: '@a/b@^1.0.0', resolved: false, optionalDependencies: { '@a/c': 'latest' } }),
  ].map((lock): [string, Record<string, string>] => ['npm ci', { 'package-lock.json': lock }]),
  ['pnpm install', { 'pnpm-lock.yaml': 'resolution: {tarball: https://registry.example.org/a.tgz}' }],
  [
    'pnpm install',
    { 'pnpm-lock.yaml': 'importers:\n  packages/a:\n    dependencies:\n      b:\n        version: link:../b\n' },
  ],
  ['yarn', { 'yarn.lock': '# yarn lockfile v1\n"b@file:../b", "c@file:./x/../c":\n  version "1.0.0"\n' }],
  ['yarn', { 'yarn.lock': berry('a@npm:1.0.0') }],
  ['yarn', { 'yarn.lock': berry('typescript@patch:typescript@npm%3A5.1.0#optional!builtin<compat/typescript>') }],
  ...[
    '^1.0.0 || >=2 <3',
    'latest',
    'npm:@b/c@^1.0.0',
    'workspace:^',
    'link:../b',
    'portal:./b',
    'patch:a@npm%3A1.0.0#~/.yarn/patches/a.patch',
    'patch:@b/c@^1.0.0#./c.patch',
    'catalog:',
  ].map((written): [string, Record<string, string>] => ['yarn', range(written)]),
  ['npm ci', range('file:../b')],
  ['npm ci', range('$a', 'overrides')],
  ['pnpm install', range('link:../b')],
  ['yarn', { 'yarn.lock': '# yarn lockfile v1\na@1:\n  resolved "https://example.org/a.tgz#0"\n' }],
  [
    'pip install -r r.txt',
    { 'r.txt': 'a[x]==1.0 ; python_version < "4"  # why\nb>=1,<2 \\\n  --hash=sha256:00\n-c c.txt\n' },
  ],
  [
    'uv sync',
    { 'pyproject.toml': '[project]\ndependencies = [\n"a", "uv"]\n[build-system]\nrequires = ["uv-build"]\n' },
  ],
  ['cargo fetch', { 'Cargo.toml': '[dependencies]\na = "1"\n' }],
  ['composer install', { 'composer.lock': locked({ dist, source: { type: 'git' } }) }],
])('%s needs no approval for %j', (command, change) => {
  expect(reasonsFor(command, { 'package.json': '{}' }, change)).toEqual([]);
});

test.each([
  ['npm ci', { '.npmrc': 'git=./x' }, /^\.npmrc: /],
  ['npm ci', { 'package.json': '{"packageManager":"npm@https://example.org/x.js"}' }, /"packageManager"/],
  ['npm ci', { 'package.json': '{"a":' }, /cannot be read/],
  ['npm ci', { 'package-lock.json': '{"resolved": "git+ssh://git@example.org/a.git#0"}' }, /git repository/],
  ...[
    { resolved: 'u/r#0' },
    { resolved: 'packages/a' },
    { resolved: 'git@github.com:u/r.git', link: true },
    { from: 'a@github:u/r' },
    { version: 'gitlab:u/r#0' },
    { dependencies: { b: 'u/r' } },
    { optionalDependencies: { b: { version: 'bitbucket:u/r' } } },
    { resolved: 'git@github.com:u/r.git#0' },
    { resolved: 'https://github.com/u/r.git#0' },
    { resolved: 'https://WWW.github.com:443/u/r' },
    { resolved: 'https://gitlab.com/u/r#0' },
    { resolved: ' https://github.com/u/r' },
    { peerDependencies: { b: 'git+ssh://git@example.org/b.git' } },
  ].map((entry): [string, Record<string, string>, RegExp] => [
    'npm ci',
    { 'package-lock.json': lockOf(entry) },
    /^package-lock\.json: .*git repository/,
  ]),
  ...[
    'tarball: https:///codeload.github.com/u/r/tar.gz/0',
    'tarball: //codeload.github.com/u/r/tar.gz/0',
    'tarball: HTTPS://codeload.github.com/u/r/tar.gz/0',
    'tarball: https://%63odeload.github.com/u/r/tar.gz/0',
    'tarball: https://x@codeload.github.com/u/r/tar.gz/0',
    'tarball: https://registry.example.org/a.tgz, tarball: //gitlab.com/u/r',
    'tarball: https://codeload.github.com/u/r/tar.gz/0',
    'gitHosted: true',
    'tarball: "https:\\x2f/x"',
  ].map((part): [string, Record<string, string>, RegExp] => [
    'pnpm install',
    { 'pnpm-lock.yaml': `resolution: {${part}}` },
    /^pnpm-lock\.yaml: .*git repository/,
  ]),
  ...[{ dependencies: { 'x/../../.local': '1.0.0' } }, { requires: { '../x': '1.0.0' } }].map(
    (entry): [string, Record<string, string>, RegExp] => [
      'npm ci',
      { 'package-lock.json': lockOf(entry) },
      /^package-lock\.json: /,
    ],
  ),
  [
    'npm ci',
    { 'package-lock.json': '{"packages":{"node_modules/x/../../../.local":{"version":"1.0.0"}}}' },
    /package-lock/,
  ],
  ...['npm ci', 'pnpm install', 'yarn'].map((command): [string, Record<string, string>, RegExp] => [
    command,
    { 'package.json': '{"dependencies":{"x/../../../.local":"npm:yarn@1.10.0"}}' },
    /^package\.json: "x\/\.\.\/\.\.\/\.\.\/\.local" is not the name/,
  ]),
  ['yarn', { 'yarn.lock': '# yarn lockfile v1\n"a@1, x/../../y@1":\n  version "1.0.0"\n' }, /outside of the folder/],
  ['yarn', { 'yarn.lock': '# yarn lockfile v1\na@1:\n  dependencies:\n    "x/../y" "1"\n' }, /outside of the folder/],
  [
    'pnpm install',
    { 'pnpm-lock.yaml': "packages:\n  'x/../../y@1.0.0':\n    resolution: {}\n" },
    /outside of the folder/,
  ],
  ['pnpm install', { 'package.json': '{"pnpm":{"overrides":{}}}' }, /"pnpm"/],
  ['pnpm install', { 'pnpm-workspace.yaml': 'configDependencies: {}' }, /^pnpm-workspace\.yaml: /],
  ['pnpm install', { 'pnpm-lock.yaml': 'resolution: {commit: 0, repo: x, type: git}' }, /git repository/],
  ...['"type": git', "'type': git", 'type:  git', 'type: "git"', 'type: !!str git'].map(
    (spelt): [string, Record<string, string>, RegExp] => [
      'pnpm install',
      { 'pnpm-lock.yaml': `resolution: {commit: 0, repo: x, ${spelt}}` },
      /git repository/,
    ],
  ),
  ['yarn', { '.yarn/plugins/x.cjs': 'x' }, /^\.yarn\/plugins\/x\.cjs: /],
  ['yarn', { 'a/.yarnrc.yml': 'yarnPath: x' }, /^a\/\.yarnrc\.yml: /],
  ['yarn', { 'yarn.lock': berry('a@exec:./x.js') }, /unusual/],
  ['yarn', { 'yarn.lock': berry('a@https://example.org/x.git#commit=0') }, /unusual/],
  ['yarn', { 'yarn.lock': berry('a@npm:1.0.0', '  dependencies:\n    b: "exec:./x.js"\n') }, /unusual/],
  ['yarn', { 'yarn.lock': berry('a@npm:1.0.0', '"b":\n  "resolution": "b@\\u0065xec:./x.js"\n') }, /unusual/],
  ['yarn', { 'yarn.lock': berry('a@patch:a@exec%3A./x.js#x.patch') }, /unusual/],
  ['yarn', range('exec:./sub/go.mod'), /^package\.json: .*"exec:/],
  ['yarn', range('exec:./x.js', 'resolutions'), /"exec:/],
  ['yarn', range('patch:a@exec%3A./x.js#x.patch'), /"patch:/],
  ['yarn', range('file:./x'), /"file:/],
  ['yarn', range('portal:./x::locator=b@exec:./x.js'), /"portal:/],
  ['yarn', { 'package.json': '{"dependenciesMeta":{"b":{"built":true}}}' }, /"dependenciesMeta" changes/],
  ['yarn', range('link:./x::locator=b%40exec%3A./x.js'), /"link:/],
  ['yarn', range('u/r'), /"u\/r"/],
  ['yarn', { 'sub/package.json': '{"peerDependencies":{"a":"https://example.org/a.git"}}' }, /^sub\/package\.json: /],
  ['npm install', range('github:u/r#0123'), /"github:/],
  ['npm install', { 'package.json': '{"overrides":{"a":{"b":"git+https://example.org/b"}}}' }, /"git\+https:/],
  ['pnpm install', range('https://example.org/a.git'), /"https:/],
  ['yarn', { 'yarn.lock': berry('a@npm:1.0.0').replace('__metadata', '"__metadata"') }, /unusual/],
  ['yarn', { 'yarn.lock': `# yarn lockfile v1\n${berry('a@https://example.org/x.git')}` }, /unusual/],
  ['yarn', { 'yarn.lock': berry('a@npm:1.0.0').replace('8\n', '8\n  version: 4\n') }, /unusual/],
  ['yarn', { 'yarn.lock': 'a@1:\n  resolved "https://example.org/a.tgz#0"\n' }, /unusual/],
  [
    'pnpm install',
    { 'pnpm-lock.yaml': '---\nconfigDependencies: x\n---\nlockfileVersion: 9\n' },
    /before the packages/,
  ],
  ['pip install -r r.txt', { 'r.txt': '--index-url https://example.org\n' }, /^r\.txt: "--index-url/],
  ['pip install -r r.txt', { 'r.txt': 'a @ https://example.org/a.tar.gz\n' }, /"a @ https/],
  ['pip install -r r.txt', { 'r.txt': '--no-binary :all:\n' }, /--no-binary/],
  ['pip install -r r.txt', { 'r.txt': '-r more.txt\n', 'more.txt': '-e .\n' }, /^more\.txt: "-e \."/],
  ['pip install -r r.txt', { 'r.txt': '-r pip/__main__.py\n' }, /__main__/],
  ['pip install -r r.txt', { 'pip.conf': 'x' }, /^pip\.conf: /],
  ...['\f', '\v', '\x1c', '\x1d', '\x1e', '\x85', '\u2028', '\u2029', '\r', '\0', '\uFEFF', '\uFFFD'].flatMap(
    (hidden): [string, Record<string, string>, RegExp][] => [
      [
        'pip install -r r.txt',
        { 'r.txt': `# a${hidden}b @ https://example.org/b.tar.gz\n` },
        /^r\.txt: .*control char/,
      ],
      ['uv sync', { 'uv.lock': `# a${hidden}b` }, /^uv\.lock: .*control char/],
    ],
  ),
  ['pip install -r r.txt', { 'r.txt': '# a \\\nb @ https://example.org/b\n' }, /"b @ https/],
  ['pip install -r r.txt', { 'r.txt': 'a ; python_version > "3" --global-option=x\n' }, /--global-option/],
  ['pip install -r r.txt', { 'r.txt': 'a>= -r\n' }, /"a>= -r"/],
  ['pip install -r r.txt', { 'r.txt': 'a --hash=sha256:0 --config-settings=x\n' }, /--config-settings/],
  ['pip install -r r.txt', { 'r.txt': '-c ../c.txt\n' }, /"-c \.\.\/c\.txt"/],
  ['npm ci', { 'package-lock.json': '{"resolv\\u0065d" : "git\\u002bssh://git@example.org/a.git"}' }, /git repository/],
  ['npm ci', { 'package-lock.json': '{"resolved": "x" // y\n}' }, /^package-lock\.json: it cannot be read/],
  ['npm ci', { 'package.json': '{"__proto__":{"packageManager":"x"}}' }, /^package\.json: it cannot be read/],
  ['yarn', { 'yarn.lock': '# yarn lockfile v1\na@1:\n  "resolved" git+ssh://example.org/a.git\n' }, /git repository/],
  ['uv sync', { 'uv.lock': 'source = { "git" = "https://example.org/a" }' }, /git repository/],
  ['uv sync', { 'uv.toml': 'x' }, /^uv\.toml: /],
  ['uv sync', { 'pyproject.toml': '[[tool.uv.index]]\nurl = "https://example.org"\n' }, /settings of uv/],
  ['uv sync', { 'pyproject.toml': '[tool]\nuv.index-url = "https://example.org"\n' }, /settings of uv/],
  ['uv sync', { 'pyproject.toml': 'tool = { "\\u0075v" = { no-build = false } }\n' }, /settings of uv/],
  ['uv sync', { 'pyproject.toml': '[tool.uv]\na = [\n["b"],\n]\nindex-url = "x"\n' }, /settings of uv/],
  ['uv sync', { 'pyproject.toml': '[project]\nname = "a\n[tool.uv]\n' }, /settings of uv/],
  ['uv sync', { 'uv.lock': 'source = { git = "https://example.org/a" }' }, /git repository/],
  ['cargo fetch', { '.cargo/config.toml': '[build]\nrustc = "./x"' }, /^\.cargo\/config\.toml: /],
  ['cargo fetch', { 'rust-toolchain.toml': 'path = "x"' }, /^rust-toolchain\.toml: /],
  ['composer install', { 'composer.json': '{"repositories":[{"type":"hg"}]}' }, /"repositories"/],
  ['composer install', { 'composer.json': '{"config":{"bin-dir":"~/.local/bin"}}' }, /"config" changes/],
  ['composer install', { 'composer.json': '{"bin-compat":"full"}' }, /"bin-compat" changes/],
  ['composer install', { 'composer.lock': locked({ dist, source: { type: 'hg' } }) }, /archive/],
  ['composer install', { 'composer.lock': locked({ source: { type: 'git' } }) }, /archive/],
  ['composer install', { 'composer.lock': locked({ dist: { type: 'phar' } }) }, /archive/],
  ...['../../home/agent/.local/bin', 'a/../../b', 'tool', 'acme/tool/more', undefined].map(
    (name): [string, Record<string, string>, RegExp] => [
      'composer install',
      { 'composer.lock': locked({ dist, name }) },
      /folder of its own/,
    ],
  ),
  ['composer install', { 'composer.lock': locked({ dist, 'target-dir': '../x' }) }, /folder of its own/],
])('%s needs approval for %j', (command, change, reason) => {
  expect(reasonsFor(command, { 'package.json': '{}' }, change)).toEqual([expect.stringMatching(reason)]);
});

test('a lock file of Yarn has the format of the base', () => {
  const [old = '', now = ''] = ['4', '10'].map((version) => berry('a@npm:1.0.0').replace('8', version));
  const asked = [expect.stringMatching(/^yarn\.lock: .*format/)];
  expect(reasonsFor('yarn', { 'yarn.lock': now }, { 'yarn.lock': old })).toEqual(asked);
  expect(reasonsFor('yarn', { 'yarn.lock': now }, { 'yarn.lock': '# yarn lockfile v1\n' })).toEqual(asked);
  expect(reasonsFor('yarn', { 'yarn.lock': now }, { 'b/yarn.lock': now })).toEqual([]);
});

test.each([
  ['diff --git a/index.js b/index.js\n--- a/index.js\n+++ b/index.js\n@@ -1 +1 @@\n-a/../b\n+"c"\n', false],
  ['--- /dev/null\n+++ b/new.js\n@@ -0,0 +1 @@\n+x\n', false],
  ['--- a/index.js\n+++ b/../../../bin/npm\n', true],
  ['diff --git a/.. b/x\n', true],
  ['rename from a.js\nrename to ../a.js\n', true],
  ['--- /dev/null\n+++ /home/agent/.local/bin/npm\n', true],
  ['rename from x\nrename to x\r/../../y\n', true],
  ['rename to x\u2028/../y\n', true],
  ['+++ ab../x\n', true],
  ['diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n', false],
  ['--- /dev/null\n+++ "b/\\056\\056/npm"\n', true],
])('a patch that names a file outside of its package needs an approval: %j', (patch, isOutside) => {
  const reasons = outsideOfPackage([['patches/a.patch', Buffer.from(patch)]]);
  expect(reasons).toEqual(isOutside ? ['patches/a.patch: it changes files outside of the package'] : []);
});

test('a fetch gets the files of its own package manager only', () => {
  const paths = ['a/package.json', 'yarn.lock', 'go.mod', 'r.txt', 'uv.lock', 'x.patch', 'src/x.rs', 'composer.json'];
  const tree = treeOf(Object.fromEntries(paths.map((path) => [path, '{}'])));
  const commands = ['yarn', 'npm ci', 'pip install -r r.txt', 'uv sync', 'go mod download', 'cargo fetch'];
  const kept = commands.flatMap(fetchesOf).map((fetch) => [...textsForFetch(fetch, tree).keys()].join(' '));
  expect(kept).toEqual(['a/package.json yarn.lock', 'a/package.json', 'r.txt', 'uv.lock', 'go.mod', '']);
});

test('a package manager reads what was checked, and not the file', () => {
  const tree = treeOf({
    'r.txt':
      '# coding: utf-7\n# a +AAo-b @ https://example.org/b.tar.gz\na[x]==1 \\\r\n  --hash=sha256:00 # c\n-c c.txt',
    'c.txt': '# \\\nb<2\n',
    'package.json': '\uFEFF{"a": 1, "b": {"c": 1, "c": 2}, "\\u0061": 3, "\\u0073cripts": {"prepare": "./x"}}',
    'go.mod': 'module a // b\n',
  });
  const read = ['pip install -r r.txt', 'npm ci', 'go mod download'].flatMap(fetchesOf);
  expect(read.map((fetch) => Object.fromEntries(textsForFetch(fetch, tree)))).toEqual([
    { 'r.txt': 'a[x]==1    --hash=sha256:00\n-c c.txt', 'c.txt': 'b<2' },
    { 'package.json': '{\n  "a": 3,\n  "b": {\n    "c": 2\n  }\n}\n' },
    { 'go.mod': 'module a // b\n' },
  ]);
});

test('what the base says already needs no approval', () => {
  const base = {
    '.npmrc': 'x',
    'r.txt': '--index-url https://example.org\n',
    'package.json': '{"packageManager":"x","dependencies":{"b":"u/r"}}',
    'pyproject.toml': '[tool.uv]\na = 1\n[project]\n',
  };
  const change = {
    'r.txt': `${base['r.txt']}a\n`,
    'package.json': '{"packageManager":"x","dependencies":{"a":"1","b":"u/r"}}',
  };
  const project = { 'pyproject.toml': '[project]\ndependencies = ["uv"]\n[tool.uv]\na = 1 # why\n' };
  expect(reasonsFor('npm ci && pip install -r r.txt && uv sync', base, { ...change, ...project })).toEqual([]);
});

const contentsOf = (path: string, content: string) => {
  const [base, change] = [new Map(), new Map([[path, 'oid']])];
  return { base, change, contents: new Map([['oid', Buffer.from(content)]]) };
};

test.each<[string, () => unknown]>([
  ['strings without an end', () => reasonsFor('uv sync', {}, { 'pyproject.toml': '"""\n\\'.repeat(60_000) })],
  [
    'a long table',
    () => reasonsFor('uv sync', {}, { 'pyproject.toml': `[${'a'.repeat(1e6)}]\n${'a=1\n'.repeat(1e5)}` }),
  ],
  [
    'empty lines of go.mod',
    () => fetchesOf('go mod download').map((fetch) => readForFetch(fetch, contentsOf('go.mod', '\n'.repeat(200_000)))),
  ],
  [
    'files of requirements without end',
    () =>
      reasonsFor(
        'pip install -r r.txt',
        {},
        { 'r.txt': Array.from({ length: 1e5 }, (_, i) => `-r ${i}.txt`).join('\n') },
      ),
  ],
])('%s: the time to judge grows only with the length', async (_what, judge) => {
  expect(await timeOf(judge)).toBeLessThan(5000);
});

test('which Go a change wants is seen in every line, and only other versions count', () => {
  const [fetch] = fetchesOf('go mod download');
  const changes = (base: string, change: string) =>
    fetch !== undefined &&
    readForFetch(fetch, {
      base: new Map([['go.mod', 'a']]),
      change: new Map([['go.mod', 'b']]),
      contents: new Map(Object.entries({ a: Buffer.from(base), b: Buffer.from(change) })),
    }).changesGo;
  expect(changes('module a\n\ngo 1.24\n', 'module b\ngo 1.24\n')).toBe(false);
  expect(changes('module a\n\ngo 1.24\n', 'module a\n\ngo 1.25\n')).toBe(true);
  expect(changes('go 1.24\n', 'go 1.24\n\n \t toolchain go1.99.1\n')).toBe(true);
  expect(changes('go 1.24\n', 'go 1.24\n\u00a0toolchain go1.99.1\n')).toBe(true);
});
