import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
const tokens: Record<string, string> = {};
const as = (who: string, method: string, path: string, body?: unknown) =>
  service.call(method, path, { token: tokens[who] ?? '', ...(body === undefined ? {} : { body }) });

beforeAll(async () => {
  service = await openTestApp();
  for (const login of ['owner', 'member']) tokens[login] = await service.token(login);
  const project = (await as('owner', 'POST', '/projects', { name: 'P' })).body.id;
  await as('owner', 'POST', `/projects/${project}/members`, { login: 'member' });
});
afterAll(() => service.close());

test('with a project, the list has only the agents that can work there', async () => {
  const names = async (query: string, who: 'owner' | 'member' = 'owner') =>
    (await as(who, 'GET', `/agents${query}`)).body.map((a: { name: string }) => a.name);
  const other = (await as('owner', 'POST', '/projects', { name: 'Another' })).body.id;
  await as('owner', 'POST', '/agents', { name: 'Of the owner' });
  expect(await names(`?projectId=${other}`)).toEqual(expect.arrayContaining(['Developer', 'Reviewer', 'Of the owner']));
  expect((await names(`?projectId=${other}`)).filter((n: string) => n === 'Developer')).toHaveLength(1);
  expect((await names('')).filter((n: string) => n === 'Developer').length).toBeGreaterThan(1);
  expect((await as('member', 'GET', `/agents?projectId=${other}`)).status).toBe(403);
});
