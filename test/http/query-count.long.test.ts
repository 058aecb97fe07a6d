import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
let task: string;
const post = async (path: string, body: object) => (await service.call('POST', path, { token, body })).body;

beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
  project = (await post('/projects', { name: 'P' })).id;
  task = (await post(`/projects/${project}/tasks`, { title: 'first' })).id;
});
afterAll(() => service.close());

/**
 * Counts the statements that the service sends to handle a request. Of several requests the lowest count is right: now
 * and then the service also notes that the token was used.
 */
async function statementsOf(path: string): Promise<number> {
  const counts = [];
  for (let i = 0; i < 3; i++) {
    const before = spied;
    expect((await service.call('GET', path, { token })).status).toBe(200);
    counts.push(spied - before);
  }
  return Math.min(...counts);
}

let spied = 0;
beforeAll(() => {
  // Every statement goes through the pool below TypeORM.
  const { master } = service.app.db.manager.connection.driver as unknown as {
    master: { on(event: string, act: (client: { query: (...args: unknown[]) => unknown }) => void): void };
  };
  master.on('acquire', (client) => {
    if (Object.hasOwn(client, 'isSpied')) return;
    const query = client.query.bind(client);
    Object.assign(client, {
      isSpied: true,
      query: (...args: unknown[]) => {
        spied += 1;
        return query(...args);
      },
    });
  });
});

test('no list sends more statements for twelve rows than for one', async () => {
  const lists = [
    '/projects?limit=100',
    '/me/tokens?limit=100',
    '/me/inbox',
    '/me/sessions?limit=100',
    `/projects/${project}/members`,
    `/projects/${project}/runs?limit=100`,
    '/repositories',
    `/repositories?projectId=${project}`,
    '/agents',
    '/agents/teams/core',
    '/agents/health/all',
    '/agents/health/unhealthy',
    '/agents/pool/reconciliations?limit=100',
    `/projects/${project}/tasks?limit=100`,
    `/projects/${project}/board?limit=100`,
    `/tasks/${task}/subtasks`,
    `/tasks/${task}/runs?limit=100`,
    `/tasks/${task}/handoffs`,
    `/tasks/${task}/prs`,
  ];
  const few = new Map<string, number>();
  for (const path of lists) few.set(path, await statementsOf(path));
  expect(Math.min(...few.values())).toBeGreaterThan(0);
  for (let i = 0; i < 12; i++) {
    await post('/projects', { name: `P${i}` });
    await post('/me/tokens', { name: `t${i}` });
    await post(`/projects/${project}/members`, { login: `member-${i}` });
    await post('/repositories', { projectId: project, name: `r${i}`, url: `https://github.com/o/r${i}` });
    await post('/agents', { name: `A${i}` });
    await post('/agents/pool/reconcile', {});
    await post(`/projects/${project}/tasks`, { title: `t${i}` });
    await post(`/tasks/${task}/subtasks`, { title: `s${i}` });
  }
  for (const path of lists) expect([path, await statementsOf(path)]).toEqual([path, few.get(path)]);
});
