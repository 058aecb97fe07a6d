import { describeSprint } from '../../src/sprints/chat.ts';
import { getSprint } from '../../src/sprints/store.ts';
import { inDays } from '../support/machine/midnight.ts';
import { openSprints } from '../support/sprints.ts';

const given = openSprints();
const { call, makeSprint, makeTask, sql } = given;

/** Adds a completed sprint in which people finished some tasks, one every ten hours. */
async function addHistory(tasks = 12): Promise<void> {
  const id = `earlier_${given.project}`;
  await sql(
    `insert into sprints (id, project_id, name, status, start_date, end_date, started_at, ended_at)
     values ($1, $2, 'Earlier', 'completed', current_date - 20, current_date - 7, now() - interval '20 days', now() - interval '7 days')`,
    [id, given.project],
  );
  await sql(
    `insert into sprint_history (sprint_id, task_id, status, at)
     select $1, 'old_' || n, s.status, now() - interval '20 days' + s.done * n * interval '10 hours'
     from generate_series(1, $2::int) n, (values ('ready', 0), ('done', 1)) s (status, done)`,
    [id, tasks],
  );
}

/** Starts a sprint with some tasks, of which each waits for the one before. */
async function startChain(count: number) {
  const sprint = await makeSprint();
  const tasks: string[] = [];
  for (let i = 0; i < count; i++) tasks.push((await makeTask({ sprintId: sprint.id, dependsOn: tasks.slice(-1) })).id);
  await call('POST', `/sprints/${sprint.id}/start`);
  return { id: sprint.id as string, tasks };
}
const forecastOf = async (id: string, query = '') =>
  (await call('GET', `/sprints/${id}/metrics${query}`)).body.forecast as Record<string, string | null>;

test('too little history gives no forecast, and says how much is needed', async () => {
  const { id } = await startChain(1);
  const nothing = { p50: null, p80: null, p95: null };
  expect(await forecastOf(id)).toEqual({
    ...nothing,
    reason: expect.stringMatching(/^A forecast needs 5 tasks .* There are 0\.$/),
  });
  expect(await forecastOf((await makeSprint()).id)).toEqual({ ...nothing, reason: 'The sprint has no tasks.' });
  expect((await call('GET', `/sprints/${id}/burndown?ahead=true`)).body).toEqual([
    { date: inDays(0), ideal: 1, actual: 1, low: 1, high: 1 },
  ]);
});

test('earlier sprints give a forecast, which leaves out the tasks in `without`', async () => {
  await addHistory();
  const { id, tasks } = await startChain(4);
  const forecast = await forecastOf(id);
  expect(forecast.reason).toBeNull();
  const [p50, p80, p95] = [forecast.p50, forecast.p80, forecast.p95].map((time) => Date.parse(time ?? ''));
  // Four tasks at ten hours each.
  expect(p50).toBeGreaterThan(Date.now() + 20 * 3_600_000);
  expect(p50).toBeLessThan(Date.now() + 80 * 3_600_000);
  expect(p80).toBeGreaterThan(p50 as number);
  expect(p95).toBeGreaterThan(p80 as number);
  const without = await forecastOf(id, `?without=${tasks[2]},${tasks[3]},${tasks[3]}`);
  expect(Date.parse(without.p50 ?? '')).toBeLessThan(p50 as number);
  expect(await forecastOf(id, `?without=${tasks.join(',')}`)).toMatchObject({
    p50: null,
    reason: 'No open tasks are left.',
  });
  // A task that another one waits for still has to be done.
  const needed = await forecastOf(id, `?without=${tasks[0]}`);
  expect(Math.abs(Date.parse(needed.p50 ?? '') - (p50 as number))).toBeLessThan(3_600_000);
});

test('the chat about a sprint knows its forecast', async () => {
  await addHistory();
  const { id } = await startChain(4);
  const { app } = given.service;
  const { text } = await describeSprint(app, await getSprint(app.db.manager, id));
  const times = /^## Forecast\n.* 50 % by (\S+), of 80 % by (\S+), and of 95 % by (\S+)\.$/m.exec(text)?.slice(1) ?? [];
  const { p50, p80, p95 } = await forecastOf(id);
  // It is computed again, from a later time.
  for (const [i, shown] of [p50, p80, p95].entries())
    expect(Math.abs(Date.parse(times[i] ?? '') - Date.parse(shown ?? ''))).toBeLessThan(3_600_000);
});

test('`without` names tasks of the sprint, at most 100', async () => {
  const { id, tasks } = await startChain(1);
  const elsewhere = (await makeTask()).id;
  for (const unknown of ['task_x', elsewhere, 'a\0b', '%00']) {
    const query = new URLSearchParams({ without: `${tasks[0]},${unknown}` });
    const { status, body } = await call('GET', `/sprints/${id}/metrics?${query}`);
    expect([status, body.errors]).toEqual([
      400,
      [{ path: 'without', message: `without: no task ${unknown} in this sprint` }],
    ]);
  }
  for (const many of [Array.from({ length: 101 }, (_, i) => `t${i}`).join(','), 'x'.repeat(7000)]) {
    const { status, body } = await call('GET', `/sprints/${id}/metrics?without=${many}`);
    expect([status, body.message]).toEqual([400, 'without must have at most 100 task ids']);
  }
  const repeated = await call('GET', `/sprints/${id}/metrics?without=task_x&without=${tasks[0]},task_y`);
  expect(repeated.body.errors.map(({ message }: { message: string }) => message)).toEqual(
    ['task_x', 'task_y'].map((unknown) => `without: no task ${unknown} in this sprint`),
  );
  expect((await call('GET', `/sprints/${id}/metrics?without=${tasks[0]}&without=${tasks[0]}`)).status).toBe(200);
  expect((await call('GET', `/sprints/${id}/metrics?without=,`)).status).toBe(200);
});

test('the burndown has a band from today on, and future days only on request', async () => {
  await addHistory();
  const { id } = await startChain(3);
  const [today, ...more] = (await call('GET', `/sprints/${id}/burndown`)).body;
  expect(more).toEqual([]);
  expect(today).toMatchObject({ actual: 3, high: 3 });
  const ahead = (await call('GET', `/sprints/${id}/burndown?ahead=true`)).body;
  expect(ahead.length).toBeGreaterThan(2);
  expect(ahead[0]).toEqual(today);
  expect(ahead[1]).toMatchObject({ date: inDays(1), actual: null });
  expect(ahead.at(-1)).toMatchObject({ low: 0, actual: null });
  for (const { low, high } of ahead) expect(low).toBeLessThanOrEqual(high);
});

test('a sprint that has not started is forecast from its first day, one that has ended not at all', async () => {
  await addHistory();
  const planned = await makeSprint({ startDate: inDays(30), endDate: inDays(40) });
  await makeTask({ sprintId: planned.id });
  const { p50 } = await forecastOf(planned.id);
  expect(Date.parse(p50 ?? '')).toBeGreaterThan(Date.parse(inDays(30)));
  const { estimatedCompletion } = (await call('GET', `/sprints/${planned.id}/metrics`)).body;
  expect(Date.parse(estimatedCompletion)).toBeGreaterThan(Date.parse(inDays(30)));
  const { id } = await startChain(1);
  await call('POST', `/sprints/${id}/complete`, { unfinished: 'backlog' });
  expect(await forecastOf(id)).toMatchObject({ p50: null, reason: 'The sprint is completed.' });
});

test('a cycle of dependencies, which only damaged data can have, is reported', async () => {
  await addHistory();
  const { id, tasks } = await startChain(2);
  await sql('insert into task_dependencies (task_id, depends_on_id) values ($1, $2)', [tasks[0], tasks[1]]);
  const { p50, reason } = await forecastOf(id);
  expect([p50, reason]).toEqual([null, expect.stringContaining('wait for each other')]);
});

test('a sprint of 300 tasks is forecast in a thread', async () => {
  await addHistory();
  const sprint = await makeSprint();
  await sql(
    `insert into tasks (id, project_id, sprint_id, title, status)
     select $1 || n, $2, $3, 't', 'ready' from generate_series(1, 300) n`,
    [`task_${given.project}`, given.project, sprint.id],
  );
  await call('POST', `/sprints/${sprint.id}/start`);
  const { p50, p95 } = await forecastOf(sprint.id);
  // 300 tasks at ten hours each.
  expect(Date.parse(p50 ?? '')).toBeGreaterThan(Date.now() + 60 * 86_400_000);
  expect(Date.parse(p95 ?? '')).toBeGreaterThan(Date.parse(p50 ?? ''));
});

test('a sprint whose forecast fails can be completed', async () => {
  const { id } = await startChain(1);
  // The forecast reads this table, and completing does not.
  await sql('alter table task_dependencies rename to elsewhere');
  try {
    expect((await call('GET', `/sprints/${id}/metrics`)).status).toBe(500);
    expect((await call('POST', `/sprints/${id}/complete`, { unfinished: 'backlog' })).status).toBe(200);
  } finally {
    await sql('alter table elsewhere rename to task_dependencies');
  }
  const { markdown } = (await call('GET', `/sprints/${id}/digest`)).body;
  expect(markdown).toContain('The forecast could not be computed.');
});
