import { until } from '../../demo/real-service.ts';
import { openSprints } from '../support/sprints.ts';

const given = openSprints();
const { call, makeSprint, makeTask, sql } = given;
let developer: string;
beforeAll(() => given.service.work());
beforeEach(async () => {
  const agents: { id: string; name: string }[] = (await call('GET', `/agents?projectId=${given.project}`)).body;
  developer = agents.find((a) => a.name === 'Developer')?.id ?? '';
});

const repository = () =>
  call('POST', '/repositories', { projectId: given.project, name: 'r', url: 'https://github.com/o/r' });
const withToken = () => call('POST', `/projects/${given.project}/git-token`, { token: 'ghp_x' });
const get = async (id: string) => (await call('GET', `/tasks/${id}`)).body;
const kinds = async (id: string) => (await call('GET', `/tasks/${id}/runs`)).body.map((r: { kind: string }) => r.kind);

test('an active sprint starts the tasks it can, shows why the others cannot start, and tries again after a change', async () => {
  await repository();
  const sprint = await makeSprint();
  const owned = await makeTask({ sprintId: sprint.id, owner: developer });
  const ownerless = await makeTask({ sprintId: sprint.id });
  const waiting = await makeTask({ sprintId: sprint.id, owner: developer, dependsOn: [ownerless.id] });
  await call('POST', `/sprints/${sprint.id}/start`);
  await until('the reason', async () => (await get(owned.id)).failure !== null);
  expect((await get(owned.id)).failure).toMatchObject({
    category: 'auth',
    message: expect.stringContaining('git credential'),
  });
  expect(await kinds(owned.id)).toEqual([]);
  await withToken();
  // Any change in the sprint makes the service check all its tasks again.
  await call('PATCH', `/tasks/${ownerless.id}`, { status: 'done' });
  await until(
    'both to start',
    async () => (await kinds(owned.id)).length === 1 && (await kinds(waiting.id)).length === 1,
  );
  expect(await kinds(ownerless.id)).toEqual([]);
  await call('POST', `/sprints/${sprint.id}/cancel`);
  for (const id of [owned.id, waiting.id]) expect(await get(id)).toMatchObject({ status: 'ready', sprintId: null });
});

test('tasks that name files which no earlier one touches start first', async () => {
  await repository();
  await withToken();
  const sprint = await makeSprint();
  const wanted: [string, string][] = [
    ['first', 'Change `src/login.ts`.'],
    ['same', 'Change `src/login.ts`, too.'],
    ['nothing', ''],
    ['other', 'Change `docs/login.md`.'],
  ];
  for (const [title, description] of wanted)
    await makeTask({ title, description, sprintId: sprint.id, owner: developer });
  await call('POST', `/sprints/${sprint.id}/start`);
  const started = () =>
    sql<{ title: string }[]>(
      'select t.title from runs r join tasks t on t.id = r.task_id where t.sprint_id = $1 order by r.created_at, r.id',
      [sprint.id],
    );
  const all = await until('all to start', async () => {
    const found = await started();
    return found.length === wanted.length && found;
  });
  expect(all.map(({ title }) => title)).toEqual(['first', 'nothing', 'other', 'same']);
  await call('POST', `/sprints/${sprint.id}/cancel`);
});

test('only a person can restart a task whose run failed or was cancelled', async () => {
  await repository();
  await withToken();
  const sprint = await makeSprint();
  await call('POST', `/sprints/${sprint.id}/start`);
  const task = await makeTask({ sprintId: sprint.id, owner: developer });
  await until('its start', async () => (await kinds(task.id)).length === 1);
  await call('POST', `/tasks/${task.id}/cancel`);
  const other = await makeTask({ sprintId: sprint.id, owner: developer });
  await until('the other start', async () => (await kinds(other.id)).length === 1);
  expect((await get(task.id)).status).toBe('ready');
  expect(await kinds(task.id)).toEqual(['start']);
  await call('DELETE', `/sprints/${sprint.id}?force=true`);
  expect(await get(other.id)).toMatchObject({ status: 'ready', sprintId: null });
});

test('no task is started once the daily budget is used up', async () => {
  await repository();
  await withToken();
  await call('PATCH', `/projects/${given.project}`, { budgets: { dayCostUsd: 1 } });
  const spent = await makeTask();
  await sql(
    `insert into runs (id, task_id, project_id, kind, status, cost_usd) values ('run_' || $1, $1, $2, 'start', 'succeeded', 2)`,
    [spent.id, given.project],
  );
  const sprint = await makeSprint();
  const task = await makeTask({ sprintId: sprint.id, owner: developer });
  await call('POST', `/sprints/${sprint.id}/start`);
  await until('the reason', async () => (await get(task.id)).failure?.category === 'budget');
  expect(await kinds(task.id)).toEqual([]);
});

test('no task is started once the daily budget of the person who created the project is used up', async () => {
  await repository();
  await withToken();
  await sql(
    `insert into person_spend_days select created_by, (now() at time zone 'UTC')::date, 20 from projects where id = $1
     on conflict (user_id, day) do update set cost_usd = 20`,
    [given.project],
  );
  const sprint = await makeSprint();
  const task = await makeTask({ sprintId: sprint.id, owner: developer });
  await call('POST', `/sprints/${sprint.id}/start`);
  await until('the reason', async () => (await get(task.id)).failure?.category === 'budget');
  expect((await get(task.id)).failure.message).toContain('for all projects that one person created');
  expect(await kinds(task.id)).toEqual([]);
  await sql('delete from person_spend_days', []);
});
