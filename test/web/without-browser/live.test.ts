import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { type Board, defaults, type Run, type Task, type TaskCard } from '../../../src/web/api.ts';
import { mergeBoard } from '../../../src/web/live/fetch-lists.ts';
import { dropTask, putStatus, putTask } from '../../../src/web/live/put-task.ts';
import * as queries from '../../../src/web/live/queries.ts';
import { boardUpdates, type Changed, refetchChanges } from '../../../src/web/live/refetch-changes.ts';

// Which cached data the dashboard fetches again after an event, and which it keeps.

let client: QueryClient;
let requested: string[];
/** The reply to each request for the board. A test can hold one back. */
let answer: () => Promise<Response>;

beforeEach(() => {
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  requested = [];
  answer = async () => Response.json({}, { status: 503 });
  defaults.fetch = async (url) => {
    requested.push(decodeURIComponent(String(url)));
    return answer();
  };
});
afterEach(() => client.clear());

const { queryKey: boardKey } = queries.board('proj_1');
const titles = () => client.getQueryData<Board>(boardKey)?.tasks.map(({ title }) => title);
const titleOf = (id: string) => client.getQueryData<Task>(queries.task(id).queryKey)?.title;
const isInvalidated = (key: readonly unknown[]) => client.getQueryState(key)?.isInvalidated;
const changesOf = (kind: Changed, ...ids: string[]) => new Map(ids.map((id) => [id, kind]));

const time = (second: number) => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString();

function task(id: string, title: string, second = 0, createdSecond = 0): Task {
  return { id, title, projectId: 'proj_1', createdAt: time(createdSecond), updatedAt: time(second) } as Task;
}

const card = (id: string, title: string, second = 0, created = 0) =>
  ({ ...task(id, title, second, created), run: null }) as unknown as TaskCard;

const boardOf = (...tasks: TaskCard[]): Board => ({ total: tasks.length, tasks, agents: [], people: [], sprints: [] });

/** Lets the board be shown by a page, so that it is fetched again when it has changed. */
function show(...tasks: TaskCard[]): void {
  client.setQueryData(boardKey, boardOf(...tasks));
  new QueryObserver(client, queries.board('proj_1')).subscribe(() => {});
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
  client.setQueryData(boardKey, boardOf(card('a', 'Newer', 2), card('b', 'Other')));
  client.setQueryData<Task>(queries.task('a').queryKey, task('a', 'Newer', 2));
  putTask(client, task('a', 'Older', 1));
  expect(titles()).toEqual(['Newer', 'Other']);
  expect(titleOf('a')).toBe('Newer');
  putTask(client, task('a', 'Newest', 3));
  expect(titles()).toEqual(['Newest', 'Other']);
  putTask(client, task('a', 'Same time', 3));
  putTask(client, task('c', 'Added', 0, 1));
  expect(titles()).toEqual(['Added', 'Same time', 'Other']);
  expect([titleOf('a'), titleOf('c')]).toEqual(['Same time', 'Added']);
  dropTask(client, 'proj_1', 'b');
  expect(titles()).toEqual(['Added', 'Same time']);
});

test('tasks that were created together are listed in their order, in whatever order they arrive', () => {
  client.setQueryData(boardKey, boardOf(card('z', 'New', 0, 9), card('a', 'Old')));
  for (const id of ['d', 'b', 'c']) putTask(client, task(id, id, 0, 5));
  expect(titles()).toEqual(['New', 'b', 'c', 'd', 'Old']);
});

test('storing one task does not hide that others are stale', () => {
  client.setQueryData(boardKey, boardOf(card('a', 'Here'), card('b', 'Stale')));
  void client.invalidateQueries({ queryKey: boardKey });
  putStatus(client, task('a', 'Here'), 'done');
  expect(client.getQueryData<Board>(boardKey)?.tasks[0]?.status).toBe('done');
  expect(isInvalidated(boardKey)).toBe(true);
});

test('a status is shown at once wherever the task was fetched, and makes up no task where it was not', () => {
  client.setQueryData<Task>(queries.task('a').queryKey, task('a', 'Here'));
  for (const id of ['a', 'b']) putStatus(client, task(id, 'Here'), 'done');
  expect(client.getQueryData<Task>(queries.task('a').queryKey)).toMatchObject({ title: 'Here', status: 'done' });
  expect(client.getQueryData<Task>(queries.task('b').queryKey)).toBeUndefined();
});

test('a reply about some tasks changes, adds and removes them, and keeps every other object', () => {
  const [a, b, c, d] = [card('a', 'A', 1, 4), card('b', 'B', 5, 3), card('c', 'C', 1, 2), card('d', 'D', 1, 1)];
  const before = { ...boardOf(a, b, c, d), agents: [{ id: 'agent_1', name: 'Developer' }] };
  const reply = {
    ...boardOf(card('a', 'A changed', 2, 4), card('b', 'B before', 4, 3), { ...d }, card('n', 'New', 1, 3)),
    total: 4,
    agents: [{ id: 'agent_1', name: 'Developer' }],
  };
  const after = mergeBoard(before, ['a', 'b', 'c', 'd', 'run_of_n'], reply);
  expect(after.tasks.map(({ title }) => title)).toEqual(['A changed', 'B', 'New', 'D']);
  expect(after.tasks[1]).toBe(b);
  expect(after.tasks[3]).toBe(d);
  expect(after.agents).toBe(before.agents);
  expect(after.total).toBe(4);
});

test('one request fetches all that changed; what changes during it is fetched with the next', async () => {
  show(card('a', 'Before'), card('b', 'Deleted'), card('c', 'Before'));
  const update = boardUpdates(client, 'proj_1');
  let release: (response: Response) => void = () => {};
  answer = () => new Promise((resolve) => (release = resolve));
  update(['a', 'run_1', 'b']);
  await until(() => true);
  update(['c']);
  update(['c', 'run_2']);
  expect(requested).toEqual(['/api/v1/projects/proj_1/board?ids=a,run_1,b']);
  answer = async () => Response.json(boardOf(card('c', 'C', 1)));
  release(Response.json(boardOf(card('a', 'A', 1))));
  await until(() => titles()?.join() === 'A,C');
  expect(requested.slice(1)).toEqual(['/api/v1/projects/proj_1/board?ids=c,run_2']);
});

test('a change during the first load is not missed', async () => {
  let release: (response: Response) => void = () => {};
  answer = () => new Promise((resolve) => (release = resolve));
  new QueryObserver(client, queries.board('proj_1')).subscribe(() => {});
  boardUpdates(client, 'proj_1')(['a']);
  await until(() => requested.length === 1);
  answer = async () => Response.json(boardOf(card('a', 'After', 1)));
  release(Response.json(boardOf(card('a', 'Before'))));
  await until(() => titles()?.join() === 'After');
  expect(requested).toEqual(['/api/v1/projects/proj_1/board?limit=2000', '/api/v1/projects/proj_1/board?ids=a']);
});

test('a change while the board is fetched for a page that is not there yet is not missed', async () => {
  let release: (response: Response) => void = () => {};
  answer = () => new Promise((resolve) => (release = resolve));
  const prefetched = client.prefetchQuery(queries.board('proj_1'));
  boardUpdates(client, 'proj_1')(['a']);
  await until(() => requested.length === 1);
  answer = async () => Response.json(boardOf(card('a', 'After', 1)));
  release(Response.json(boardOf(card('a', 'Before'))));
  await prefetched;
  await until(() => titles()?.join() === 'After');
});

test('a reply that arrives after the person has left the project does not hide what changed since', async () => {
  show(card('a', 'Before'));
  let release: (response: Response) => void = () => {};
  answer = () => new Promise((resolve) => (release = resolve));
  boardUpdates(client, 'proj_1')(['a']);
  await until(() => requested.length === 1);
  // What leaving does: from now on no event reports changes.
  void client.invalidateQueries({ queryKey: boardKey, exact: true, refetchType: 'none' });
  release(Response.json(boardOf(card('a', 'After', 1))));
  await until(() => titles()?.join() === 'After');
  expect(isInvalidated(boardKey)).toBe(true);
});

test('a board of exactly one page is one request, and a larger one is complete', async () => {
  const all = (count: number, total: number) => ({
    ...boardOf(...Array.from({ length: count }, (_, i) => card(`${total}_${i}`, 'T'))),
    total,
  });
  answer = async () => Response.json(all(2000, 2000));
  await client.fetchQuery(queries.board('proj_1'));
  expect(requested).toHaveLength(1);
  answer = async () => Response.json(requested.length === 2 ? all(2000, 2001) : all(1, 1));
  const board = await client.fetchQuery({ ...queries.board('proj_1'), staleTime: 0 });
  expect([requested.length, board.tasks.length]).toEqual([3, 2001]);
});

test('where the service cuts a page of a board, the next one begins', async () => {
  const all = Array.from({ length: 2500 }, (_, i) => card(`${i}`, 'T'));
  answer = async () => {
    const offset = Number(/offset=(\d+)/.exec(requested.at(-1) ?? '')?.[1] ?? 0);
    return Response.json({ ...boardOf(...all.slice(offset, offset + 1200)), total: all.length });
  };
  const board = await client.fetchQuery(queries.board('proj_1'));
  expect(board.tasks.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  expect(requested.map((path) => /offset=(\d+)/.exec(path)?.[1])).toEqual([undefined, '1200', '2400']);
});

test('if cards cannot be fetched or too many have changed, the whole board is fetched', async () => {
  show(card('a', 'Before'));
  boardUpdates(client, 'proj_1')(['a']);
  await until(() => requested.length === 2);
  expect(requested[1]).toBe('/api/v1/projects/proj_1/board?limit=2000');
  expect(titles()).toEqual(['Before']);
  requested = [];
  answer = async () => Response.json(boardOf(card('a', 'After')));
  boardUpdates(client, 'proj_1')(Array.from({ length: 101 }, (_, i) => `task_${i}`));
  await until(() => titles()?.join() === 'After');
  expect(requested).toEqual(['/api/v1/projects/proj_1/board?limit=2000']);
});

test('a board that no page shows is only marked as stale, and one that was never fetched is left alone', () => {
  boardUpdates(client, 'proj_1')(['a']);
  client.setQueryData(boardKey, boardOf(card('a', 'Before')));
  boardUpdates(client, 'proj_1')(['a']);
  expect([isInvalidated(boardKey), requested]).toEqual([true, []]);
});

test('a changed task refreshes its parts, and passes its id to the board', () => {
  const updated: string[] = [];
  const keys = [['task', 'a'], ['subtasks', 'a'], ['digest'], ['subtasks', 'b'], ['spend'], ['sprints', 'proj_1']];
  for (const key of keys) client.setQueryData(key, []);
  refetchChanges(client, 'proj_1', changesOf('task', 'a'), (ids) => updated.push(...ids));
  expect(updated).toEqual(['a']);
  expect(keys.map(isInvalidated)).toEqual([true, true, true, false, false, false]);
});

test('a changed task refreshes the related tasks of every task of its project, because it may have become one', () => {
  const keys = [
    ['related', 'proj_1', 'b'],
    ['related', 'proj_2', 'c'],
  ];
  for (const key of keys) client.setQueryData(key, []);
  refetchChanges(client, 'proj_1', changesOf('run', 'run_1'), () => {});
  expect(keys.map(isInvalidated)).toEqual([false, false]);
  refetchChanges(client, 'proj_1', changesOf('task', 'a'), () => {});
  expect(keys.map(isInvalidated)).toEqual([true, false]);
});

test('a run refreshes itself, the list that contains it and the data computed from runs', () => {
  const { queryKey: withRun } = queries.runs('a');
  const { queryKey: withoutRun } = queries.runs('b');
  client.setQueryData<Run[]>(withRun, [{ id: 'run_1' } as Run]);
  client.setQueryData<Run[]>(withoutRun, [{ id: 'run_2' } as Run]);
  const others = [['run', 'run_1'], ['run', 'run_2'], ['health'], ['agents', 'proj_1'], ['metrics', 'sprint_1']];
  for (const key of others) client.setQueryData(key, {});
  refetchChanges(client, 'proj_1', changesOf('run', 'run_1'), () => {});
  expect([withRun, withoutRun, ...others].map(isInvalidated)).toEqual([true, false, true, false, true, true, false]);
});

test('what is fetched for the first time while it changes is fetched again', async () => {
  let release: (response: Response) => void = () => {};
  answer = () => new Promise((resolve) => (release = resolve));
  new QueryObserver(client, queries.runs('a')).subscribe(() => {});
  const without = [...queries.runs('a').queryKey, 'of another run'];
  client.setQueryData(without, []);
  refetchChanges(client, 'proj_1', changesOf('run', 'run_1'), () => {});
  answer = async () => Response.json([{ id: 'run_1', status: 'succeeded' }]);
  release(Response.json([{ id: 'run_1', status: 'running' }]));
  const statuses = () => client.getQueryData<Run[]>(queries.runs('a').queryKey)?.map(({ status }) => status);
  await until(() => statuses()?.join() === 'succeeded');
  expect([requested.length, isInvalidated(without)]).toEqual([2, false]);
});

test('a step of a run refreshes the run and what is spent, but not the agents, which only depend on its status', () => {
  const keys = [['run', 'run_1'], ['spend', 'proj_1', 30], ['health'], ['agents', 'all'], ['agent', 'agent_1']];
  for (const key of keys) client.setQueryData(key, {});
  refetchChanges(client, 'proj_1', changesOf('step', 'run_1'), () => {});
  expect(keys.map(isInvalidated)).toEqual([true, true, false, false, false]);
});

test('a sprint refreshes the sprints of its project and every figure about them', () => {
  const keys = [['sprints', 'proj_1'], ['sprints', 'proj_2'], ['sprint', 's'], ['velocity', 'proj_1'], ['health']];
  for (const changes of [changesOf('sprint', 's'), changesOf('sprint', 's').set('a', 'task')]) {
    for (const key of keys) client.setQueryData(key, {});
    refetchChanges(client, 'proj_1', changes, () => {});
    expect(keys.map(isInvalidated)).toEqual([true, false, true, true, false]);
  }
});

test.each([
  ['has an installation that works', { state: 'ok', reason: null, since: null }, 30_000],
  [
    'has an installation that is suspended',
    { state: 'suspended', reason: 'The App is suspended', since: null },
    30_000,
  ],
  ['has no installation', null, false],
])('whether a project is fetched again: it %s', (_name, github, ms) => {
  const options = queries.project('proj_1');
  client.setQueryData<object>(options.queryKey, { id: 'proj_1', github });
  const query = client.getQueryCache().find({ queryKey: options.queryKey });
  const { refetchInterval } = options as unknown as { refetchInterval(of: unknown): number | false };
  expect(refetchInterval(query)).toBe(ms);
});
