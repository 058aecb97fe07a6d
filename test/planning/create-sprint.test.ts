import { openTestApp, type TestApp } from '../support/app.ts';
import { awayFromMidnight, inDays } from '../support/machine/midnight.ts';

let service: TestApp;
let token: string;
let project: string;
const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const wizard = (what: string, body: object = {}) => call('POST', `/projects/${project}/wizard/${what}`, body);

beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
});
afterAll(() => service.close());

test('a sprint with its tasks in one request, all or nothing', async () => {
  await awayFromMidnight();
  const made = await wizard('create-sprint', {
    name: 'S',
    goal: 'g',
    tasks: [{ title: 'a', description: 'd' }, { title: 'b' }],
  });
  expect([made.status, made.body.tasks.map((t: { title: string }) => t.title)]).toEqual([201, ['a', 'b']]);
  const sprint = (await call('GET', `/sprints/${made.body.sprint.id}`)).body;
  const days = (Date.parse(sprint.endDate) - Date.parse(sprint.startDate)) / 86_400_000;
  expect([sprint.startDate.slice(0, 10), days]).toEqual([inDays(0), 13]);
  for (const bad of [
    { name: 'S' },
    { name: 'S', tasks: [] },
    { tasks: [{ title: 'a' }] },
    { name: 'S', tasks: Array(101).fill({ title: 'a' }) },
    { name: 'S', tasks: [{ title: '' }] },
    { name: 'S', tasks: [{ title: 'a' }], startDate: '2026-02-02', endDate: '2026-02-01' },
  ])
    expect((await wizard('create-sprint', bad)).status).toBe(400);
  const unknown = await wizard('create-sprint', {
    name: 'S',
    tasks: [{ title: 'a' }, { title: 'b', owner: 'agent_x' }],
  });
  expect(unknown.body.message).toBe('tasks.1.owner must be an agent that may work in this project, not agent_x');
  expect((await call('GET', `/projects/${project}/sprints`)).body).toHaveLength(1);
  expect((await call('GET', `/projects/${project}/stats`)).body.total).toBe(2);
});
