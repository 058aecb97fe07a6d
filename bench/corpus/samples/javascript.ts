import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { tar } from '../../../test/images/stand-ins/tar.ts';
import { type Case, type Functions, filesOf, type Language, type Sample } from '../sample.ts';

const code = ({ factor, hasTriple }: Functions) =>
  [`exports.double = (n) => n * ${factor};`, ...(hasTriple ? ['exports.triple = (n) => n * 3;'] : []), ''].join('\n');

const assertion = ({ name, given, result }: Case) =>
  `test('${name} of ${given}', () => {\n  assert.equal(${name}(${given}), ${result});\n});\n`;

const named = (cases: Case[]) => [...new Set(cases.map(({ name }) => name))].join(', ');

/** Tests of Node's own runner. `more` stands above them, and may refuse to run. */
const tests =
  (from: string, more = '') =>
  (cases: Case[]) =>
    `const assert = require('node:assert');\nconst { test } = require('node:test');\nconst { ${named(cases)} } = require('${from}');\n${more}\n${cases.map(assertion).join('\n')}`;

const node = (more = ''): Language => ({
  source: 'src/numbers.js',
  test: 'test/numbers.test.js',
  code,
  tests: tests('../src/numbers.js', more),
});

const manifest = (more: object) =>
  `${JSON.stringify({ name: 'sample', version: '1.0.0', private: true, ...more }, null, 2)}\n`;
const script = { scripts: { test: 'node --test' } };

/** A packed package that adds two numbers. */
const plus = gzipSync(
  tar([
    { name: 'package/package.json', content: JSON.stringify({ name: 'plus', version: '1.0.0', main: 'plus.js' }) },
    { name: 'package/plus.js', content: 'module.exports = (a, b) => a + b;\n' },
  ]),
);
const address = 'file:vendor/plus-1.0.0.tgz';
const usesPlus = "require('plus')(1, 1);";
const dependencies = { plus: address };
const integrity = `sha512-${createHash('sha512').update(plus).digest('base64')}`;

const lock = (packages: object) =>
  `${JSON.stringify({ name: 'sample', version: '1.0.0', lockfileVersion: 3, requires: true, packages }, null, 2)}\n`;
const lockOfPlus = lock({
  '': { name: 'sample', version: '1.0.0', dependencies },
  'node_modules/plus': { version: '1.0.0', resolved: address, integrity },
});
const packed = { 'vendor/plus-1.0.0.tgz': plus, '.gitignore': 'node_modules/\n' };

/** A workspace of two packages; the tests of `b` pass or fail. */
function workspaces(passes: boolean) {
  const own = { name: 'sample', version: '1.0.0', workspaces: ['packages/*'] };
  const links = Object.fromEntries(
    ['a', 'b'].flatMap((name) => [
      [`node_modules/${name}`, { resolved: `packages/${name}`, link: true }],
      [`packages/${name}`, { version: '1.0.0' }],
    ]),
  );
  const language: Language = {
    source: 'packages/a/numbers.js',
    test: 'packages/a/numbers.test.js',
    code,
    tests: tests('./numbers.js'),
  };
  const pack = (name: string) => manifest({ name, scripts: { test: 'node --test' } });
  const files = {
    'package.json': manifest({ workspaces: own.workspaces, scripts: { test: 'npm test --workspaces' } }),
    'package-lock.json': lock({ '': own, ...links }),
    '.gitignore': 'node_modules/\n',
    ...filesOf(language),
    'packages/a/package.json': pack('a'),
    'packages/b/package.json': pack('b'),
    'packages/b/b.test.js': `const { test } = require('node:test');\ntest('b works', () => {${passes ? '' : " throw new Error('b is broken');"} });\n`,
  };
  return { files, language };
}

const setup = ['npm ci'];
const checks = ['npm test'];
const npm = ['npm'];
const withPlus = node(usesPlus);
const alone = node();

export const javascript: Sample[] = [
  {
    name: 'npm',
    about: 'a lock file of npm, and a packed dependency',
    needs: npm,
    files: {
      'package.json': manifest({ ...script, dependencies }),
      'package-lock.json': lockOfPlus,
      ...packed,
      ...filesOf(withPlus),
    },
    expected: { setup, checks },
    language: withPlus,
  },
  {
    name: 'npm-without-lock',
    about: 'a package.json without a lock file',
    needs: npm,
    files: { 'package.json': manifest({ ...script, dependencies }), ...packed, ...filesOf(withPlus) },
    expected: { setup: ['npm install --no-package-lock'], checks },
    language: withPlus,
  },
  {
    name: 'npm-workspaces',
    about: 'two packages in a workspace',
    needs: npm,
    ...workspaces(true),
    expected: { setup, checks },
  },
  {
    name: 'npm-workspaces-failing',
    about: 'a workspace in which the tests of one package fail',
    needs: npm,
    files: workspaces(false).files,
    expected: { setup, checks: [], hint: /b is broken/ },
  },
  {
    name: 'side-folders',
    about: 'two packages in side folders, without a workspace',
    needs: npm,
    files: Object.fromEntries(
      ['packages/api', 'web'].flatMap((folder) =>
        Object.entries({
          'package.json': manifest({ ...script, dependencies }),
          'package-lock.json': lockOfPlus,
          ...packed,
          ...filesOf(withPlus),
        }).map(([path, text]) => [`${folder}/${path}`, text]),
      ),
    ),
    expected: {
      setup: ['cd packages/api && npm ci', 'cd web && npm ci'],
      checks: ['cd packages/api && npm test', 'cd web && npm test'],
    },
  },
  {
    name: 'windows-line-ends',
    about: 'all text files end their lines with CR and LF',
    needs: npm,
    files: Object.fromEntries(
      Object.entries({
        'package.json': manifest({ ...script, dependencies }),
        'package-lock.json': lockOfPlus,
        ...filesOf(withPlus),
      })
        .map(([path, text]): [string, string | Buffer] => [path, String(text).replaceAll('\n', '\r\n')])
        .concat(Object.entries(packed)),
    ),
    expected: { setup, checks },
    language: {
      ...withPlus,
      code: (what) => withPlus.code(what).replaceAll('\n', '\r\n'),
      tests: (cases) => withPlus.tests(cases).replaceAll('\n', '\r\n'),
    },
  },
  {
    name: 'wrong-node',
    about: 'a version of Node that nobody has',
    needs: npm,
    files: {
      'package.json': manifest({ ...script, dependencies, engines: { node: '>=99' } }),
      'package-lock.json': lockOfPlus,
      '.npmrc': 'engine-strict=true\n',
      ...packed,
      ...filesOf(withPlus),
    },
    expected: { setup: ['npm ci'], checks: [], hint: /EBADENGINE|Unsupported engine/ },
  },
  {
    name: 'pnpm',
    about: 'a workspace of pnpm with its lock file',
    needs: ['pnpm'],
    files: {
      'package.json': manifest(script),
      'pnpm-workspace.yaml': "packages: ['packages/*']\n",
      'pnpm-lock.yaml':
        "lockfileVersion: '9.0'\n\nsettings:\n  autoInstallPeers: true\n  excludeLinksFromLockfile: false\n\nimporters:\n\n  .: {}\n\n  packages/a: {}\n",
      'packages/a/package.json': manifest({ name: 'a' }),
      '.gitignore': 'node_modules/\n',
      ...filesOf(alone),
    },
    expected: { setup: ['pnpm install --frozen-lockfile'], checks: ['pnpm test'] },
    language: alone,
  },
  {
    name: 'yarn',
    about: 'a lock file of Yarn 1',
    needs: ['yarn'],
    files: {
      'package.json': manifest({ ...script, dependencies }),
      'yarn.lock': `# THIS IS AN AUTOGENERATED FILE. DO NOT EDIT THIS FILE DIRECTLY.\n# yarn lockfile v1\n\n\n"plus@${address}":\n  version "1.0.0"\n  resolved "${address}#${createHash('sha1').update(plus).digest('hex')}"\n`,
      ...packed,
      ...filesOf(withPlus),
    },
    expected: { setup: ['yarn install --frozen-lockfile'], checks: ['yarn test'] },
    language: withPlus,
  },
  {
    name: 'bun',
    about: 'a lock file of Bun',
    needs: ['bun'],
    files: {
      'package.json': manifest({ ...script, dependencies }),
      'bun.lock': `{\n  "lockfileVersion": 1,\n  "workspaces": {\n    "": {\n      "name": "sample",\n      "dependencies": {\n        "plus": "${address}",\n      },\n    },\n  },\n  "packages": {\n    "plus": ["plus@${address.slice('file:'.length)}", {}, "sha512-${createHash('sha512').update(plus).digest('base64')}"],\n  }\n}\n`,
      ...packed,
      ...filesOf(withPlus),
    },
    expected: { setup: ['bun install --frozen-lockfile'], checks: ['bun run test'] },
    language: withPlus,
  },
  {
    name: 'native-addon',
    about: 'a package that compiles an addon when it is installed',
    needs: ['npm', 'cc'],
    files: {
      'package.json': manifest({
        scripts: { install: 'cc -shared -fPIC -o addon.node addon.c', test: 'node --test' },
        dependencies,
      }),
      'package-lock.json': lock({
        '': { name: 'sample', version: '1.0.0', hasInstallScript: true, dependencies },
        'node_modules/plus': { version: '1.0.0', resolved: address, integrity },
      }),
      'addon.c':
        'typedef struct napi_env__ *napi_env; typedef struct napi_value__ *napi_value;\nnapi_value napi_register_module_v1(napi_env env, napi_value exports) { return exports; }\n',
      ...packed,
      '.gitignore': 'node_modules/\naddon.node\n',
      ...filesOf(node("require('../addon.node');")),
    },
    expected: { setup, checks },
    language: node("require('../addon.node');"),
  },
  {
    name: 'large',
    about: '30,000 files',
    needs: npm,
    files: {
      'package.json': manifest({ ...script, dependencies }),
      'package-lock.json': lockOfPlus,
      ...packed,
      ...filesOf(withPlus),
      ...Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`pages/${i % 300}/${i}.txt`, `page ${i}\n`])),
    },
    expected: { setup, checks },
    language: withPlus,
  },
  ...['postgresql', 'redis'].map((name): Sample => {
    const port = name === 'redis' ? 6379 : 5432;
    const more = `const { once } = require('node:events');\ntest('the service answers', async () => {\n  const socket = require('node:net').connect(${port}, '127.0.0.1');\n  await once(socket, 'connect');\n  socket.destroy();\n});`;
    return {
      name,
      about: `tests that need ${name === 'redis' ? 'Redis' : 'PostgreSQL'}`,
      needs: name === 'redis' ? ['npm', 'redis-server'] : ['npm', 'initdb', 'postgres'],
      files: {
        'package.json': manifest({ ...script, dependencies }),
        'package-lock.json': lockOfPlus,
        ...packed,
        ...filesOf(node(`${usesPlus}\n${more}`)),
      },
      expected: { setup, checks: [], services: [port], hint: /ECONNREFUSED/ },
      language: node(`${usesPlus}\n${more}`),
    };
  }),
  {
    name: 'lfs',
    about: 'a test reads a file that Git LFS stores',
    needs: npm,
    files: {
      'package.json': manifest(script),
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'data.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${createHash('sha256').update('ten bytes!').digest('hex')}\nsize 10\n`,
      ...filesOf(
        node(
          "test('the data', () => assert.equal(require('node:fs').readFileSync('data.bin', 'utf8'), 'ten bytes!'));",
        ),
      ),
    },
    expected: { setup: [], checks: [], checkout: 'lfs', hint: /git-lfs\.github\.com/ },
  },
  {
    name: 'nested-submodules',
    about: 'a test reads a file of a submodule of a submodule',
    needs: npm,
    files: {
      'package.json': manifest(script),
      ...filesOf(node("test('the part', () => assert.equal(require('../outer/inner/part.js'), 1));")),
    },
    submodules: [
      {
        path: 'outer',
        files: { 'outer.js': 'module.exports = 2;\n' },
        submodules: [{ path: 'inner', files: { 'part.js': 'module.exports = 1;\n' } }],
      },
    ],
    expected: { setup: [], checks: [], checkout: 'submodules', hint: /Cannot find module/ },
    language: node("test('the part', () => assert.equal(require('../outer/inner/part.js'), 1));"),
  },
];
