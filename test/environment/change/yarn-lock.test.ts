import { isUsualLock } from '../../../src/environment/change/yarn-lock.ts';

const lock = (resolution: string, more = '') =>
  `# This file is generated.\n\n__metadata:\n  version: 8\n  cacheKey: 10c0\n\n"a@npm:1":\n  version: 1.0.0\n  resolution: "${resolution}"\n${more}`;
const depends = (...lines: string[]) => `  dependencies:\n${lines.map((line) => `    ${line}\n`).join('')}`;
const on = (range: string) => lock('a@npm:1.0.0', depends(`b: "${range}"`));

test.each([
  ['of a registry', lock('a@npm:1.0.0')],
  ['a built-in patch', lock('typescript@patch:typescript@npm%3A5.1.0#optional!builtin<compat/typescript>')],
  [
    'a patch of the repository',
    lock('a@patch:a@npm%3A1.3.0#./.yarn/patches/a.patch::version=1.3.0&hash=3a&locator=own%40workspace%3A.'),
  ],
  [
    'ranges of all kinds',
    lock(
      'a@npm:1.0.0',
      depends(
        '"@b/c": "npm:^1.0.0 || ~2"',
        'd: ^1.2.3',
        'e: "workspace:^"',
        'f: "npm:@g/h@^1"',
        'i: "npm:latest"',
        'j: "*"',
      ),
    ),
  ],
  [
    'all sections of an entry',
    lock(
      'a@npm:1.0.0',
      '  peerDependencies:\n    r: "*"\n  dependenciesMeta:\n    b:\n      optional: true\n  bin:\n    k: ./bin/k.js\n  checksum: 10c0/ab\n  conditions: (os=linux | os=darwin) & cpu=x64\n  linkType: hard\n\n"b@npm:^1, b@npm:2":\n  version: 2.0.0\n',
    ),
  ],
  ['a long key', lock('a@npm:1.0.0', '\n? "b@npm:1, b@npm:2"\n:\n  version: 2.0.0\n')],
])('%s is usual', (_name, text) => expect(isUsualLock(text)).toBe(true));

test.each([
  ['exec:', lock('a@exec:./x.js')],
  ['exec: in a range', on('exec:./x.js')],
  ['exec: of a locator in a range', on(`patch:b@npm%3A1#./y.patch::locator=${encodeURIComponent('c@exec:./x.js')}`)],
  ['exec: with an absolute path', on('exec:/proc/self/cwd/x.js')],
  ['a repository of GitHub in a range', on('u/r')],
  ['git in a range', on('https://example.org/a.git')],
  ['a repository as the name in a patch', lock('a@patch:is-odd%40user%2Frepo%23@npm%3A1.0.0#y.patch')],
  ['exec: as the name in a patch', lock('a@patch:b%40exec%3A./x.js@npm%3A1#y.patch')],
  ['git as a locator', lock('a@patch:a@npm%3A1#./y.patch::locator=x%40https%3A%2F%2Fexample.org%2Fa.git')],
  ['a repository of GitHub as a locator', lock('a@patch:a@npm%3A1#./y.patch::locator=x%40u%2Fr%23commit%3D0')],
  ['too many levels', lock('a@patch:a@npm%3A1#./y.patch::locator=x%252525252540exec%25252525253A')],
])('%s is not', (_name, text) => expect(isUsualLock(text)).toBe(false));

// Yarn reads YAML, which says the same in many ways.
test.each([
  ['behind an empty line', '  dependencies:\n\n    b: "npm:1"\n'],
  ['behind a comment', '  dependencies:\n# x\n    b: "npm:1"\n'],
  ['in a flow mapping', '  dependencies: {b: "npm:1"}\n'],
  ['with other spaces', '  dependencies:\n   b: "npm:1"\n'],
  ['as a complex key', '  dependencies:\n    ? b\n    : "npm:1"\n'],
  ['with an anchor', '  dependencies: &x\n    b: "npm:1"\n'],
  ['as an alias', '  dependencies:\n    b: *x\n'],
  ['with a tag', '  dependencies:\n    b: !!str npm:1\n'],
  ['in other quotation marks', "  dependencies:\n    b: 'npm:1'\n"],
  ['in a block', '  dependencies:\n    b: >-\n      npm:1\n'],
  ['with an escape', '  dependencies:\n    b: "\\u006epm:1"\n'],
])('a range %s is unusual', (_name, more) => expect(isUsualLock(lock('a@npm:1.0.0', more))).toBe(false));
