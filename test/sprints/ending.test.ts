import { inDays } from '../support/machine/midnight.ts';
import { openSprints } from '../support/sprints.ts';

const given = openSprints();
const { call, makeSprint, makeTask, sql } = given;

test('completing freezes the figures, then moves the unfinished tasks where the request says', async () => {
  const [sprint, next] = [await makeSprint({ startDate: inDays(-3) }), await makeSprint()];
  const [done, open] = [
    await makeTask({ sprintId: sprint.id, title: 'Ready one' }),
    await makeTask({ sprintId: sprint.id, title: 'Left one' }),
  ];
  await call('POST', `/sprints/${sprint.id}/start`);
  await call('PATCH', `/tasks/${done.id}`, { status: 'done' });
  await sql(
    `update tasks set failure = '{"category":"checks","message":"two tests fail","retryable":true}' where id = $1`,
    [open.id],
  );
  const complete = (body?: object) => call('POST', `/sprints/${sprint.id}/complete`, body);
  expect((await complete()).body.message).toEqual(
    expect.stringContaining(`The sprint has unfinished tasks: ${open.id}. Set \`unfinished\``),
  );
  expect((await complete({ unfinished: 'sprint_x' })).body.message).toBe(
    'unfinished must be backlog or a sprint of this project, not sprint_x',
  );
  expect((await complete({ unfinished: sprint.id })).status).toBe(409);
  const figures = async () => [
    (await call('GET', `/sprints/${sprint.id}`)).body.taskCount,
    (await call('GET', `/sprints/${sprint.id}/metrics`)).body,
    (await call('GET', `/sprints/${sprint.id}/burndown`)).body,
  ];
  const before = await figures();
  expect((await complete({ unfinished: next.id })).body).toMatchObject({
    status: 'completed',
    taskCount: 2,
    completedCount: 1,
  });
  expect((await call('GET', `/tasks/${open.id}`)).body.sprintId).toBe(next.id);
  await call('PATCH', `/tasks/${done.id}`, { status: 'ready' });
  await call('DELETE', `/tasks/${done.id}`);
  const after = await figures();
  expect(after[0]).toBe(2);
  expect(after[2]).toEqual(before[2]);
  const counts = (metrics: object) => ({ ...metrics, estimatedCompletion: 0, forecast: 0 });
  expect(counts(after[1])).toEqual(counts(before[1]));
  // Moves everything a day into the past. The figures then apply to yesterday, and no day is added.
  const dayBefore = (day: string) => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
  const columns = ['start_date', 'end_date', 'started_at', 'ended_at'].map((c) => `${c} = ${c} - interval '1 day'`);
  await sql(`update sprints set ${columns.join(', ')} where id = $1`, [sprint.id]);
  await sql(`update sprint_history set at = at - interval '1 day' where sprint_id = $1`, [sprint.id]);
  const points: { date: string }[] = before[2];
  expect((await figures())[2]).toEqual(points.map((point) => ({ ...point, date: dayBefore(point.date) })));
  const digest = (await call('GET', `/sprints/${sprint.id}/digest`)).body;
  expect(digest).toMatchObject({
    sprintId: sprint.id,
    completed: [done.id],
    carriedOver: [open.id],
    failed: [{ taskId: open.id, category: 'checks', message: 'two tests fail' }],
    costUsd: 0,
  });
  for (const said of ['[Ready one](http', '/tasks/task_', 'Left one', 'two tests fail', '1 of 2'])
    expect(digest.markdown).toContain(said);
  expect((await call('GET', `/projects/${given.project}/velocity`)).body).toEqual([
    { sprintId: sprint.id, name: 'S', velocity: 1 },
  ]);
});

test('deleting an active sprint needs force and an admin; its tasks stay', async () => {
  const sprint = await makeSprint();
  const task = await makeTask({ sprintId: sprint.id });
  await call('POST', `/projects/${given.project}/members`, { login: 'mate' });
  const mate = await given.service.token('mate');
  await call('POST', `/sprints/${sprint.id}/start`);
  const remove = (as: string, query: string) =>
    given.service.call('DELETE', `/sprints/${sprint.id}${query}`, { token: as });
  expect((await remove(given.token, '')).body.message).toMatch(/The sprint is active. .* delete it with force=true/);
  expect((await remove(mate, '?force=true')).body.message).toBe('Requires the admin role');
  expect((await remove(given.token, '?force=perhaps')).status).toBe(400);
  expect((await remove(given.token, '?force=true')).status).toBe(204);
  expect((await call('GET', `/tasks/${task.id}`)).body).toMatchObject({ sprintId: null, status: 'backlog' });
  const planned = await makeSprint();
  expect((await given.service.call('DELETE', `/sprints/${planned.id}`, { token: mate })).status).toBe(204);
});
