import { until } from '../../src/demo/real-service.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
let developer: string;
const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const today = new Date().toISOString().slice(0, 10);
const inDays = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10);

beforeEach(async () => {
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
  const agents: { id: string; name: string }[] = (await call('GET', `/agents?projectId=${project}`)).body;
  developer = agents.find((a) => a.name === 'Developer')?.id ?? '';
});
beforeAll(async () => {
  service = await openTestApp({ OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'm' });
  token = await service.token('octocat');
});
afterAll(() => service.close());

const makeTask = async (body: object = {}) =>
  (await call('POST', `/projects/${project}/tasks`, { title: 't', ...body })).body;
const makeSprint = async (body: object = {}) =>
  (await call('POST', `/projects/${project}/sprints`, { name: 'S', startDate: today, endDate: inDays(9), ...body }))
    .body;

beforeAll(() => service.work());

const repository = () =>
  call('POST', '/repositories', { projectId: project, name: 'r', url: 'https://github.com/o/r' });
const withToken = () => call('POST', `/projects/${project}/git-token`, { token: 'ghp_x' });
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
  await call('PATCH', `/projects/${project}`, { budgets: { dayCostUsd: 1 } });
  const spent = await makeTask();
  await sql(
    `insert into runs (id, task_id, project_id, kind, status, cost_usd) values ('run_' || $1, $1, $2, 'start', 'succeeded', 2)`,
    [spent.id, project],
  );
  const sprint = await makeSprint();
  const task = await makeTask({ sprintId: sprint.id, owner: developer });
  await call('POST', `/sprints/${sprint.id}/start`);
  await until('the reason', async () => (await get(task.id)).failure?.category === 'budget');
  expect(await kinds(task.id)).toEqual([]);
});
