import { filesNotPlanned, problemWithFiles } from '../../src/conversation/planned-files.ts';
import { RunFailed } from '../../src/domain/run.ts';
import { findUnplanned } from '../../src/worker/plan.ts';
import type { Work } from '../../src/worker/work.ts';

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

test('where comparing takes too long, all files count as unplanned, and such a plan is refused', async () => {
  const tooLong = () => Promise.reject(new RunFailed('repository', 'comparing takes more than 2 s'));
  expect(await filesNotPlanned(['src/**'], ['src/a.ts', 'b'], tooLong)).toEqual(['src/a.ts', 'b']);
  expect(await problemWithFiles(['src/**'], tooLong)).toContain('they take too long to compare');
  const broken = () => Promise.reject(new Error('no memory'));
  await expect(filesNotPlanned(['src/**'], ['src/a.ts'], broken)).rejects.toThrow('no memory');
  await expect(problemWithFiles(['src/**'], broken)).rejects.toThrow('no memory');
});

/** A repository of a run. Its base branch is at `base`, and the run began from `from`; `changed` are the files since. */
function workOn(name: string, changed: Record<string, string[]>, more: object = {}): Work {
  const checkout = {
    mergeBase: async (base: string, from: string) => `${base} and ${from}`,
    treeOf: async (commit: string) => commit,
    changes: async (from: string, to: string) => (to === 'now' ? changed[from] : undefined)?.map((path) => ({ path })),
  };
  const branch = { base: 'base', from: 'from', continues: false };
  return { checkout, branch, repository: { name }, others: [], ...more } as unknown as Work;
}
const planFor = (files: string[]) => ({ planning: { approved: { files, checks: [] } } });
const treeOf = async () => 'now';

test('the unplanned files of each repository are listed, by their paths from the one of the task', async () => {
  const other = workOn('docs', { from: ['guide.md', 'api.md'] });
  const work = workOn(
    'app',
    { from: ['src/a.ts', 'b.ts'] },
    { ...planFor(['src', '../docs/guide.md']), others: [other] },
  );
  await findUnplanned(work, treeOf);
  expect([work.unplanned, other.unplanned]).toEqual([['b.ts'], ['../docs/api.md']]);
});

test('where a person changed the plan, no file is called unplanned, because the list is that of the agent', async () => {
  const { planning } = planFor(['src']);
  const changed = { planning: { ...planning, approved: { ...planning.approved, isChanged: true } } };
  const work = workOn('app', { from: ['b.ts'] }, changed);
  await findUnplanned(work, treeOf);
  expect(work.unplanned).toBeUndefined();
});

test('without an approved plan, no file is called unplanned', async () => {
  const work = workOn('app', { from: ['b.ts'] }, { planning: {} });
  await findUnplanned(work, treeOf);
  expect(work.unplanned).toBeUndefined();
});

test('a run that continues a branch answers for all of the branch', async () => {
  const branch = { base: 'base', from: 'from', continues: true };
  const work = workOn('app', { from: [], 'base and from': ['earlier.ts'] }, { ...planFor(['src']), branch });
  await findUnplanned(work, treeOf);
  expect(work.unplanned).toEqual(['earlier.ts']);
});
