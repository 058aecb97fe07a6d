import type { CardRun, TaskCard } from '../../../src/web/api.ts';
import { arrangeTasks, isFolded, parseChoices, toggled } from '../../../src/web/board/arrange-tasks.ts';
import { eachAtMost, outcomeText, refusalsByReason, withTitles } from '../../../src/web/board/bulk/bulk-actions.ts';
import { maxSelected, withToggled } from '../../../src/web/board/bulk/selection.ts';
import { paramsOf, viewQueryOf } from '../../../src/web/board/views/view-query.ts';
import { ageText, clockText, elapsedOf } from '../../../src/web/display/formats.ts';

// The rules of the board that can be tested without a page.

const at = (minute: number) => new Date(Date.UTC(2026, 0, 5, 10, minute)).toISOString();

function card(id: string, changes: Partial<TaskCard> = {}): TaskCard {
  return {
    id,
    projectId: 'proj_1',
    title: id,
    status: 'ready',
    priority: 'normal',
    owner: 'agent_1',
    responsible: null,
    repositoryId: null,
    base: null,
    parentId: null,
    sprintId: null,
    dependsOn: [],
    prUrl: null,
    merging: null,
    collisions: 0,
    issueNumber: null,
    failure: null,
    runCount: 0,
    run: null,
    costUsd: null,
    checks: null,
    createdAt: at(0),
    updatedAt: at(0),
    statusSince: at(0),
    ...changes,
  };
}

function run(status: CardRun['status'], changes: Partial<CardRun> = {}): CardRun {
  return {
    id: 'run_1',
    kind: 'start',
    status,
    steps: 0,
    waitReason: null,
    createdAt: at(0),
    startedAt: at(1),
    finishedAt: null,
    waitingSince: null,
    waitedSeconds: 0,
    ...changes,
  };
}

const idsOf = (tasks: TaskCard[], query: string, text = '') =>
  [...arrangeTasks(tasks, new URLSearchParams(query), text).values()].flat().map(({ id }) => id);

test('the board shows the tasks that match every filter, by column', () => {
  const failure = { category: 'checks', message: 'the checks fail', retryable: true } as const;
  const tasks = [
    card('task_a', { title: 'First', sprintId: 'sprint_1', run: run('queued') }),
    card('task_b', { title: 'Second', status: 'done', owner: null, run: run('running') }),
    card('task_c', { title: 'first again', failure, run: run('waiting', { waitReason: 'question' }) }),
    card('task_d', {
      title: 'last',
      status: 'done',
      sprintId: 'sprint_1',
      run: run('waiting', { waitReason: 'model' }),
    }),
  ];
  expect(idsOf(tasks, '')).toEqual(['task_a', 'task_c', 'task_b', 'task_d']);
  expect(idsOf(tasks, '', ' FIRST ')).toEqual(['task_a', 'task_c']);
  expect(idsOf(tasks, '', 'sk_b')).toEqual(['task_b']);
  const people = [card('task_p', { responsible: 'user_1' }), card('task_q')];
  expect([idsOf(people, 'person=user_1'), idsOf(people, 'person=none')]).toEqual([['task_p'], ['task_q']]);
  const urgent = [card('task_u', { priority: 'urgent' }), card('task_v')];
  expect([idsOf(urgent, 'priority=urgent'), idsOf(urgent, 'priority=normal')]).toEqual([['task_u'], ['task_v']]);
  expect(idsOf(tasks, 'agent=none')).toEqual(['task_b']);
  expect(idsOf(tasks, 'agent=agent_1&sprint=none')).toEqual(['task_c']);
  expect(idsOf(tasks, 'sprint=sprint_1')).toEqual(['task_a', 'task_d']);
  const states = ['failed', 'running', 'queued', 'waiting'].map((state) => idsOf(tasks, `state=${state}`));
  expect(states).toEqual([['task_c'], ['task_b'], ['task_a'], ['task_c']]);
});

test('tasks are sorted within their columns; an unknown order keeps that of the service', () => {
  const tasks = [
    card('task_c', { title: 'Part 10', createdAt: at(3), updatedAt: at(4), statusSince: at(4), costUsd: 0.5 }),
    card('task_b', { title: 'part 9', createdAt: at(2), updatedAt: at(9), statusSince: at(2), costUsd: 2 }),
    card('task_a', { title: 'Old', createdAt: at(1), updatedAt: at(5), statusSince: at(3) }),
  ];
  const shown = (sort: string) =>
    idsOf(tasks, `sort=${sort}`)
      .map((id) => id.at(-1))
      .join('');
  expect(['', 'nonsense', 'oldest', 'updated', 'resting', 'cost', 'title'].map(shown)).toEqual([
    'cba',
    'cba',
    'abc',
    'bac',
    'bac',
    'bca',
    'abc',
  ]);
});

test('the most urgent tasks come first, and equally urgent ones stay newest first', () => {
  const given = [
    ['a', 'low'],
    ['b', 'normal'],
    ['c', 'urgent'],
    ['d', 'high'],
    ['e', 'urgent'],
  ] as const;
  const tasks = given.map(([id, priority]) => card(id, { priority }));
  expect(idsOf(tasks, 'sort=priority').join('')).toBe('cedba');
});

test('empty columns are folded unless the person decided otherwise, and only decisions are stored', () => {
  expect([isFolded({}, 'ready', 0), isFolded({}, 'ready', 1)]).toEqual([true, false]);
  expect(isFolded({ ready: 'open' }, 'ready', 0)).toBe(false);
  expect(isFolded({ ready: 'folded' }, 'ready', 5)).toBe(true);
  const opened = toggled({}, 'ready', 0);
  expect([opened, toggled(opened, 'ready', 0)]).toEqual([{ ready: 'open' }, {}]);
  expect(toggled({ done: 'folded' }, 'ready', 3)).toEqual({ done: 'folded', ready: 'folded' });
  expect(parseChoices('{"done":"folded","ready":"wide","other":"open"}')).toEqual({ done: 'folded' });
  for (const bad of [null, 'x', 'null', '[]']) expect(parseChoices(bad)).toEqual({});
});

test('equal views have equal texts, which contain nothing but filters and sorting', () => {
  const params = new URLSearchParams('sort=cost&new=one&state=failed&search=a%26b&agent=');
  expect(viewQueryOf(params)).toBe('search=a%26b&state=failed&sort=cost');
  expect(Object.fromEntries(paramsOf('tab=diff&state=failed&new=many'))).toEqual({ state: 'failed' });
});

test('a selection has a limit, within which tasks can still be deselected', () => {
  const full = new Set(Array.from({ length: maxSelected }, (_, i) => `task_${i}`));
  expect(withToggled(full, 'task_x')).toBeUndefined();
  expect(withToggled(full, 'task_5')?.has('task_5')).toBe(false);
  expect([...(withToggled(new Set(['a']), 'b') ?? [])]).toEqual(['a', 'b']);
});

test('the outcome of a bulk action says how many were refused, and why', () => {
  const results = [
    { id: '1', title: 'one' },
    { id: '2', title: 'two', reason: 'It is done.' },
    { id: '3', title: 'three', reason: 'It has no agent.' },
    { id: '4', title: 'four', reason: 'It has no agent.' },
  ];
  expect(outcomeText('started', results.slice(0, 1))).toBe('1 task started');
  expect(outcomeText('started', results)).toBe('1 started, 3 refused');
  expect(refusalsByReason(results).map(({ reason, tasks }) => [reason, tasks.map(({ id }) => id)])).toEqual([
    ['It has no agent.', ['3', '4']],
    ['It is done.', ['2']],
  ]);
});

test('work on many items is limited, and every item gets its turn', async () => {
  const done: number[] = [];
  let [active, most] = [0, 0];
  await eachAtMost(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    active += 1;
    most = Math.max(most, active);
    await new Promise((resolve) => setImmediate(resolve));
    active -= 1;
    done.push(item);
  });
  expect([most, done.sort()]).toEqual([3, [1, 2, 3, 4, 5, 6, 7]]);
  await eachAtMost(3, [], async () => expect(true).toBe(false));
});

test('clocks and ages', () => {
  expect([-5, 7, 65, 3599, 3723, 36_000].map((s) => clockText(s * 1000))).toEqual([
    '0:00',
    '0:07',
    '1:05',
    '59:59',
    '1:02:03',
    '10:00:00',
  ]);
  const [hour, day] = [3600, 86_400];
  expect([-1, 59, 60, hour, 23 * hour, day, 364 * day, 800 * day].map((s) => ageText(s * 1000))).toEqual([
    'now',
    'now',
    '1 min',
    '1 h',
    '23 h',
    '1 d',
    '364 d',
    '2 y',
  ]);
});

test('the clock of a run leaves out its waits, and stands still during one', () => {
  const now = Date.parse(at(10));
  const minutes = (changes: Partial<CardRun>) => elapsedOf(run('running', changes), now) / 60_000;
  expect(minutes({})).toBe(9);
  expect(minutes({ waitedSeconds: 120 })).toBe(7);
  expect(minutes({ waitingSince: at(4), waitedSeconds: 60 })).toBe(2);
  expect(minutes({ finishedAt: at(6) })).toBe(5);
  expect(minutes({ startedAt: null })).toBe(10);
});

test('a refusal names the tasks that it is about', () => {
  const reason = 'The task depends on tasks that are not done: task_a, task_b. Finish them.';
  expect(withTitles(reason, [{ id: 'task_a', title: 'Slugs' }])).toBe(
    'The task depends on tasks that are not done: “Slugs”, task_b. Finish them.',
  );
});
