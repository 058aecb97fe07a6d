import { fewestCollisionsFirst, namedPaths, overlap } from '../../../src/domain/text/named-paths.ts';

test('paths are found in what people write', () => {
  const text = `Change \`src/login.ts\` and ./src/session.ts, then (docs/api/) in package.json.
    See https://example.org/a/b.html, version 1.2.3, and/or "test/**"; not e.g. this. lib\\x.c <b>/x</b>`;
  expect(namedPaths(text)).toEqual([
    'src/login.ts',
    'src/session.ts',
    'docs/api/',
    'package.json',
    'and/or',
    'test/**',
  ]);
  expect(namedPaths('')).toEqual([]);
  expect(namedPaths('a/b '.repeat(100_000))).toEqual(['a/b']);
  expect(namedPaths(Array.from({ length: 500 }, (_, i) => `src/f${i}.ts`).join(' '))).toHaveLength(50);
});

test.each([
  [['src/a.ts'], ['src/a.ts'], ['src/a.ts']],
  [['src/a.ts'], ['src/b.ts'], []],
  [['src/a.ts', 'x.ts'], ['src/'], ['src/a.ts']],
  [['src'], ['src/deep/a.ts'], ['src']],
  [['src/**/*.ts'], ['src/deep/a.ts'], ['src/**/*.ts']],
  [['./src/a.ts'], ['src/a.ts'], ['./src/a.ts']],
  [['src/a'], ['src/ab'], []],
  // They stand for everything, or another repository.
  [['**', '*.ts', '../docs/a.md', '!src/a.ts', ''], ['src/a.ts', '../docs/a.md'], []],
  [[], ['src/a.ts'], []],
])('%j overlaps %j in %j', (mine, theirs, expected) => {
  expect(overlap(mine, theirs)).toEqual(expected);
});

test('tasks that touch no busy file start first, and otherwise in their order', () => {
  const tasks = [
    { id: 'a', files: ['src/busy.ts'] },
    { id: 'b', files: ['src/x.ts'] },
    { id: 'c', files: ['src/x.ts'] },
    { id: 'd', files: [] },
    { id: 'e', files: ['docs/'] },
  ];
  expect(fewestCollisionsFirst(tasks, ['src/busy.ts'])).toEqual(['b', 'd', 'e', 'a', 'c']);
  expect(fewestCollisionsFirst(tasks, [])).toEqual(['a', 'b', 'd', 'e', 'c']);
});

test('many files and long paths take no time', () => {
  const files = (tag: string) => Array.from({ length: 500 }, (_, i) => `${'d/'.repeat(1000)}/${tag}${i}`);
  const others = Array.from({ length: 10 }, (_, i) => files(`b${i}x`));
  const orders = others.map((theirs, i) => ({ id: `${i}`, files: theirs }));
  const begin = performance.now();
  expect(others.flatMap((theirs) => overlap(files('a'), theirs))).toEqual([]);
  expect(fewestCollisionsFirst(orders, files('a'))).toHaveLength(10);
  // Comparing each path with each other one takes ten times as long.
  expect(performance.now() - begin).toBeLessThan(5000);
});
