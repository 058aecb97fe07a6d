import { missingPrograms } from '../../bench/eval/checking/isolated.ts';
import { problemsOf } from '../../bench/eval/checking/verify.ts';
import { changed, filesOf } from '../../bench/eval/repository/changes.ts';
import { allTasks, chosenTasks, packages, writtenTasks } from '../../bench/eval/tasks/all.ts';
import type { EvalTask, Fetch } from '../../bench/eval/tasks/task.ts';

const noRegistry: Fetch = async ({ name }) => {
  throw new Error(`${name} must not be fetched`);
};

const canIsolate = await missingPrograms(['sh', 'node', 'python3']).then(
  (missing) => missing.length === 0,
  () => false,
);
if (!canIsolate) console.warn('skipped: bubblewrap or a language does not work here');
const isolated = canIsolate ? test : test.skip;

test('there are at least 60 tasks, in several languages', () => {
  expect(allTasks.length).toBeGreaterThanOrEqual(60);
  expect(new Set(allTasks.map((task) => task.language)).size).toBeGreaterThanOrEqual(5);
});

test('ids differ, and no title is part of another, because oracles find a task by its title', () => {
  expect(new Set(allTasks.map(({ id }) => id)).size).toBe(allTasks.length);
  const clashes = allTasks.filter(({ title }) => allTasks.filter((other) => other.title.includes(title)).length > 1);
  expect(clashes.map(({ id }) => id)).toEqual([]);
});

test('packages are pinned by version and integrity', () => {
  for (const each of packages.flatMap((pkg) => [pkg, ...(pkg.dependencies ?? [])])) {
    expect(each.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(each.integrity).toMatch(/^sha512-[\w+/]{86}==$/);
  }
});

test.each(writtenTasks.map((task) => [task.id, task] as const))('%s has changes that apply', async (_id, task) => {
  const files = await task.repository(noRegistry);
  for (const change of [task.gold, ...task.cheats]) expect(() => changed(files, change)).not.toThrow();
  expect(changed(files, task.gold)).not.toEqual(files);
  expect(Object.keys(task.hidden.files).some((path) => files.has(path))).toBe(false);
});

const chosen = ['own-python-money', 'own-shell-rotate', 'own-node-line-endings'];
isolated.each(chosen)('%s is verified: gold passes, nothing and cheats fail', async (id) => {
  const [task] = chosenTasks([id]);
  expect(await problemsOf(task as EvalTask, noRegistry)).toEqual([]);
});

isolated('a task that cannot be judged is reported', async () => {
  const [task] = chosenTasks(['own-python-money']) as [EvalTask];
  expect(await problemsOf({ ...task, cheats: [task.gold] }, noRegistry)).toEqual(['cheat 1 passes the hidden tests']);
  expect(await problemsOf({ ...task, gold: [] }, noRegistry)).toEqual([
    expect.stringContaining('the gold change fails the hidden tests'),
  ]);
});

isolated('hidden tests do not pass because the code ends the process', async () => {
  const [task] = chosenTasks(['own-node-line-endings']) as [EvalTask];
  const leaves = [{ file: 'headers.js', content: 'process.exit(0);\nexport const parseHeaders = 0;\n' }];
  expect(await problemsOf({ ...task, cheats: [leaves] }, noRegistry)).toEqual([]);
});

test('an edit must occur exactly once', () => {
  const files = filesOf({ 'a.txt': 'x x' });
  expect(() => changed(files, [{ file: 'a.txt', find: 'x', replace: 'y' }])).toThrow('2 times');
  expect(() => changed(files, [{ file: 'a.txt', find: 'z', replace: 'y' }])).toThrow('0 times');
  expect(() => changed(files, [{ file: 'b.txt', find: 'x', replace: 'y' }])).toThrow('does not exist');
});

test('a choice that fits no task is refused', () => {
  expect(() => chosenTasks(['own-python', 'nothing'])).toThrow('No task begins with nothing');
});
