import { filesNotPlanned, problemWithFiles } from '../../src/runs/outgoing/planned-files.ts';

test.each([
  [['src/a.ts'], undefined],
  [[], undefined],
  [['src/**', '*.md', './test/', '../other/src/*.ts'], undefined],
  [['src/**/*.{ts,tsx}'], undefined],
  [['**'], 'match every file'],
  [['**/*'], 'match every file'],
  [['src/a.ts', './**'], 'match every file'],
  [['*', '*/**'], 'match every file'],
  [['!src/a.ts'], 'must not begin with "!"'],
  [['src/../../etc'], 'must name files or folders of the repository'],
  [['a*b*c*d*e'], 'must have at most 3 stars'],
])('the files %j of a plan: %s', async (files, problem) => {
  const found = await problemWithFiles(files);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});

test('the changed files that a plan does not name are those outside of its files, folders and patterns', async () => {
  const planned = ['./src/cart.js', 'docs/', 'test/**/*.test.js', '../other/lib'];
  const changed = [
    'src/cart.js',
    'src/cart.test.js',
    'docs/a/b.md',
    'test/unit/cart.test.js',
    'test/cart.js',
    'lib/x.js',
    '../other/lib/x.js',
    '../other/README.md',
  ];
  expect(await filesNotPlanned(planned, changed)).toEqual([
    'src/cart.test.js',
    'test/cart.js',
    'lib/x.js',
    '../other/README.md',
  ]);
  expect(await filesNotPlanned([], ['a'])).toEqual(['a']);
});
