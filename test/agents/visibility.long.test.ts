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

test('the agent of somebody who has become a viewer works no longer, nor does a viewer work with those of others', async () => {
  const team = (await as('owner', 'POST', '/projects', { name: 'Viewed' })).body.id;
  const { userId } = (await as('owner', 'POST', `/projects/${team}/members`, { login: 'member' })).body;
  const { id } = (await as('member', 'POST', '/agents', { name: 'Of a viewer', systemPrompt: 'x' })).body;
  const task = (await as('member', 'POST', `/projects/${team}/tasks`, { title: 't', owner: id })).body.id;
  const works = async () =>
    (await as('owner', 'GET', `/agents?projectId=${team}`)).body.some((agent: { id: string }) => agent.id === id);
  expect(await works()).toBe(true);

  await as('owner', 'PATCH', `/projects/${team}/members/${userId}`, { role: 'viewer' });
  expect(await works()).toBe(false);
  const refused = await as('owner', 'POST', `/projects/${team}/tasks`, { title: 'u', owner: id });
  expect([refused.status, refused.body.errors?.[0].path]).toEqual([400, 'owner']);
  expect((await as('owner', 'POST', `/tasks/${task}/start`)).status).toBe(409);

  // What owners have assigned, viewers see; they do not reset it, and resetting their own leaves the project alone.
  const mine = (await as('owner', 'POST', '/agents', { name: 'Assigned' })).body.id;
  await as('owner', 'POST', `/projects/${team}/tasks`, { title: 'v', owner: mine });
  expect((await as('member', 'GET', `/agents/${mine}`)).status).toBe(200);
  const reset = (agent: string) => as('member', 'POST', `/agents/${agent}/health/reset`);
  expect((await reset(mine)).body.message).toBe('Requires the member role');
  expect((await reset(id)).status).toBe(200);
  const resets = `select 1 from health_resets where agent_id = $1 and project_id = $2`;
  expect(await service.app.db.manager.query(resets, [id, team])).toEqual([]);
});
