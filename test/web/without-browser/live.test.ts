import { QueryClient } from '@tanstack/react-query';
import { defaults, type Run, type Task } from '../../../src/web/api.ts';
import { putTask } from '../../../src/web/live/put-task.ts';
import * as queries from '../../../src/web/live/queries.ts';
import { type Changed, refetchChanges } from '../../../src/web/live/refetch-changes.ts';

// Which cached data the dashboard fetches again after an event, and which it keeps.

let client: QueryClient;
let requested: string[];
/** The tasks of the API by id; every other request gets the status. */
let stored: Map<string, Task>;
let statusOfOthers: number;

beforeEach(() => {
  client = new QueryClient();
  requested = [];
  stored = new Map();
  statusOfOthers = 404;
  defaults.fetch = async (url) => {
    requested.push(String(url));
    const task = stored.get(String(url).split('/').at(-1) ?? '');
    return Response.json(task ?? {}, { status: task === undefined ? statusOfOthers : 200 });
  };
});
afterEach(() => client.clear());

const { queryKey: listKey } = queries.tasks('proj_1');
const titles = () => client.getQueryData<Task[]>(listKey)?.map(({ title }) => title);
const isInvalidated = (key: readonly unknown[]) => client.getQueryState(key)?.isInvalidated;
const changesOf = (kind: Changed, ...ids: string[]) => new Map(ids.map((id) => [id, kind]));

const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString();

function task(id: string, title: string, second = 0, createdSecond = 0): Task {
  return { id, title, projectId: 'proj_1', createdAt: at(createdSecond), updatedAt: at(second) } as Task;
}

/** Waits until the cache meets a condition. */
function until(condition: () => boolean | undefined): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!condition()) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = client.getQueryCache().subscribe(check);
    check();
  });
}

test('a reply that arrives late does not overwrite a newer one', () => {
  client.setQueryData<Task[]>(listKey, [task('a', 'Newer', 2), task('b', 'Other')]);
  client.setQueryData<Task>(queries.task('a').queryKey, task('a', 'Newer', 2));
  putTask(client, task('a', 'Older', 1));
  expect(titles()).toEqual(['Newer', 'Other']);
  expect(client.getQueryData<Task>(queries.task('a').queryKey)?.title).toBe('Newer');
  putTask(client, task('a', 'Newest', 3));
  expect(titles()).toEqual(['Newest', 'Other']);
  putTask(client, task('c', 'Added', 0, 1));
  expect(titles()).toEqual(['Added', 'Newest', 'Other']);
});

test('tasks that were created together are listed in their order, in whatever order they arrive', () => {
  client.setQueryData<Task[]>(listKey, [task('z', 'New', 0, 9), task('a', 'Old')]);
  for (const id of ['d', 'b', 'c']) putTask(client, task(id, id, 0, 5));
  expect(titles()).toEqual(['New', 'b', 'c', 'd', 'Old']);
});

test('a changed task is fetched alone, and a deleted one is removed from the list', async () => {
  client.setQueryData<Task[]>(listKey, [task('a', 'Before'), task('b', 'Deleted')]);
  client.setQueryData<Task[]>(queries.subtasks('a').queryKey, []);
  stored.set('a', task('a', 'After', 1));
  refetchChanges(client, 'proj_1', changesOf('task', 'a', 'b'));
  await until(() => titles()?.join() === 'After');
  expect(requested).toEqual(['/api/v1/tasks/a', '/api/v1/tasks/b']);
  expect(isInvalidated(listKey)).toBe(false);
  expect(isInvalidated(queries.subtasks('a').queryKey)).toBe(true);
});

test('a task that cannot be fetched is kept, and the list is fetched again', async () => {
  client.setQueryData<Task[]>(listKey, [task('a', 'Before')]);
  statusOfOthers = 503;
  refetchChanges(client, 'proj_1', changesOf('task', 'a'));
  await until(() => isInvalidated(listKey));
  expect(titles()).toEqual(['Before']);
});

test('up to fifteen tasks are fetched one by one, more as a list', async () => {
  const ids = Array.from({ length: 16 }, (_, i) => `task_${i}`);
  for (const id of ids) stored.set(id, task(id, id));
  client.setQueryData<Task[]>(listKey, []);
  refetchChanges(client, 'proj_1', changesOf('task', ...ids));
  expect([isInvalidated(listKey), requested]).toEqual([true, []]);
  client.setQueryData<Task[]>(listKey, []);
  refetchChanges(client, 'proj_1', changesOf('task', ...ids.slice(1)));
  await until(() => titles()?.length === 15);
  expect([isInvalidated(listKey), requested.length]).toEqual([false, 15]);
});

test('a run refreshes itself, the list that contains it and the data computed from runs', () => {
  const { queryKey: withRun } = queries.runs('a');
  const { queryKey: withoutRun } = queries.runs('b');
  client.setQueryData<Run[]>(withRun, [{ id: 'run_1' } as Run]);
  client.setQueryData<Run[]>(withoutRun, [{ id: 'run_2' } as Run]);
  const others = [['run', 'run_1'], ['run', 'run_2'], ['health'], ['agents', 'proj_1'], ['metrics', 'sprint_1']];
  for (const key of others) client.setQueryData(key, {});
  refetchChanges(client, 'proj_1', changesOf('run', 'run_1'));
  expect([withRun, withoutRun, ...others].map(isInvalidated)).toEqual([true, false, true, false, true, true, false]);
});

test('a sprint refreshes the sprints of its project and every figure about them', () => {
  const keys = [['sprints', 'proj_1'], ['sprints', 'proj_2'], ['sprint', 's'], ['velocity', 'proj_1'], ['health']];
  for (const key of keys) client.setQueryData(key, {});
  refetchChanges(client, 'proj_1', changesOf('sprint', 's'));
  expect(keys.map(isInvalidated)).toEqual([true, false, true, true, false]);
});
