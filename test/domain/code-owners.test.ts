import { ownersOf } from '../../src/domain/text/code-owners.ts';

const owns = (pattern: string, path: string) => (ownersOf(`${pattern} @a`, [path]) ?? []).length === 1;

test.each([
  ['*', 'a.js', true],
  ['*', 'a/b/c.js', true],
  ['*.js', 'a/b.js', true],
  ['*.js', 'a/b.ts', false],
  ['/build/logs/', 'build/logs/x/y.log', true],
  ['/build/logs/', 'src/build/logs/x.log', false],
  ['docs/*', 'docs/start.md', true],
  ['docs/*', 'docs/build/app.md', false],
  ['apps/', 'src/apps/a.ts', true],
  ['apps/', 'apps', false],
  ['/docs/', 'docs/a/b.md', true],
  ['/apps/github', 'apps/github/x', true],
  ['/apps/github', 'apps/github.ts', false],
  ['**/logs', 'build/logs/x', true],
  ['**/logs', 'deeply/nested/logs/x', true],
  ['/scripts/**', 'scripts/a/b', true],
  ['a/**/b', 'a/b', true],
  ['a/**/b', 'a/x/y/b', true],
  ['Docs/', 'docs/a.md', false],
  ['a?.md', 'ab.md', true],
  ['with\\ space.md', 'with space.md', true],
  ['!a.js', 'a.js', false],
  ['[ab].js', 'a.js', false],
  ['a(b.js', 'a(b.js', true],
  ['/', 'a.js', false],
])('%s owns %s: %s', (pattern, path, isOwned) => {
  expect(owns(pattern, path)).toBe(isOwned);
});

test('the last match decides, a line without owners takes them away, comments are skipped', () => {
  const file = '# all\n* @acme/all\n/docs/ @acme/docs docs@acme.example # writers\n/docs/generated/\n';
  expect(ownersOf(file, ['a', 'b', 'c', 'd', 'docs/x.md', 'docs/generated/y.md'])).toEqual([
    { owners: ['@acme/all'], paths: ['a', 'b', 'c'], count: 4 },
    { owners: ['@acme/docs', 'docs@acme.example'], paths: ['docs/x.md'], count: 1 },
  ]);
  expect(ownersOf('* @a\n'.repeat(2001), ['a'])).toBeUndefined();
});
