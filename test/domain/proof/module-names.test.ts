import { hasOwnName, importPathOf, moduleNameOf, modulesNamedIn } from '../../../src/domain/proof/module-names.ts';

test.each([
  ['support/assertions.js', 'assertions'],
  ['support/cart.helper.ts', 'cart.helper'],
  ['support/index.ts', 'support'],
  ['support/money/__init__.py', 'money'],
  ['internal/quiet/assert.go', 'quiet'],
  ['types.d.ts', 'types'],
])('%s is imported as %s', (path, name) => expect([moduleNameOf(path), hasOwnName(path)]).toEqual([name, true]));

test('files that runners load in the place of each other have one path', () => {
  for (const path of ['a/b.js', 'a/b.d.ts', 'a/b/index.mjs', 'a/b/__init__.py', 'a/b'])
    expect([path, importPathOf(path)]).toEqual([path, 'a/b']);
  expect([importPathOf('a/b.c.ts'), importPathOf('index.js'), importPathOf('a/b.go')]).toEqual([
    'a/b.c',
    'index',
    'a/b',
  ]);
});

test.each([
  'src/index.ts',
  'index.js',
  'main.go',
  'shop/__main__.py',
  'src/cli.js',
])('%s has no name of its own', (path) => expect(hasOwnName(path)).toBe(false));

test.each([
  ['a.js', 'import same from "./support/checks.js"'],
  ['a.js', 'import {\n  same,\n} from "./checks"'],
  ['a.js', "const { same } = require('checks')"],
  ['a.js', "const file = new URL('./checks.js', import.meta.url)"],
  ['a.rb', "require_relative 'support/checks'"],
  ['a.py', 'from support.checks import same'],
  ['a.py', 'from support import (\n    checks,\n)'],
  ['a.rs', 'pub mod checks;'],
  ['a.rs', 'use crate::{\n    checks::same,\n};'],
  ['a.go', 'import (\n\t"shop/internal/checks"\n)'],
  ['a.test.ts', 'mock.module("../checks")'],
  ['A.java', 'class A { int n = checks.same(); }'],
  ['package.json', '{ "bin": "./src/checks.js" }'],
  ['pyproject.toml', 'shop = "support.checks:main"'],
  ['Procfile', 'web: gunicorn support.checks'],
])('%s names a module: %s', (path, text) => expect(modulesNamedIn(path, text)).toContain('checks'));

test.each([
  ['a.js', 'const checks = 1 // of support/checks.js'],
  ['a.js', "const kind = 'checks'"],
  ['a.ts', "const kind = 'all checks.'"],
  ['a.py', 'checks = 1  # of support.checks'],
  ['a.rs', 'let checks = 1;'],
])('%s does not: %s', (path, text) => expect(modulesNamedIn(path, text)).not.toContain('checks'));
