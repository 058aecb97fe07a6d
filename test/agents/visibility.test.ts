import { findAgentsByName } from '../../src/agents/store.ts';
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

test('a command and the board find the agent of another member only once its creator has assigned it to a task', async () => {
  const team = (await as('owner', 'POST', '/projects', { name: 'Team' })).body.id;
  await as('owner', 'POST', `/projects/${team}/members`, { login: 'member' });
  const { id } = (await as('owner', 'POST', '/agents', { name: 'Secretive', systemPrompt: 'private' })).body;
  const { manager } = service.app.db;
  const idOf = async (who: 'owner' | 'member') => (await as(who, 'GET', '/me')).body.id as string;
  const found = async (by: string | null, name = 'secretive') =>
    (await findAgentsByName(manager, name, team, by)).map((agent) => agent.id);
  const [owner, member] = [await idOf('owner'), await idOf('member')];

  expect(await found(owner)).toEqual([id]);
  expect(await found(member)).toEqual([]);
  expect(await found(null)).toEqual([]);
  expect((await as('member', 'GET', `/agents/${id}`)).status).toBe(404);
  // Agents of the project need not be visible: people who may write in a repository need not be members.
  expect(await found(null, 'developer')).toHaveLength(1);

  const onBoard = async (who: 'owner' | 'member') =>
    (await as(who, 'GET', `/projects/${team}/board`)).body.agents.some((agent: { id: string }) => agent.id === id);
  expect([await onBoard('owner'), await onBoard('member')]).toEqual([true, false]);

  await as('owner', 'POST', `/projects/${team}/tasks`, { title: 'Shared', owner: id });
  expect([await onBoard('owner'), await onBoard('member')]).toEqual([true, true]);
  expect(await found(member)).toEqual([id]);
  expect(await found(null)).toEqual([]);
});
