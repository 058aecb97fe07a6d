import { until } from '../../demo/real-service.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { call, overMcp } from '../support/http/mcp-client.ts';

let service: TestApp;
let token: string;
beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
});
afterAll(() => service.close());

test('a token is shown once, listed without its value, and revoked with immediate effect', async () => {
  const made = await service.call('POST', '/me/tokens', { token, body: { name: 'ci', expiresInDays: 1 } });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    id: expect.stringMatching(/^tok_/),
    name: 'ci',
    token: expect.stringMatching(/^ey/),
    prefix: expect.any(String),
    scopes: 'admin',
    createdAt: expect.any(String),
    expiresAt: expect.any(String),
  });
  const days = (Date.parse(made.body.expiresAt) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(1);
  const own = made.body.token;
  const claims = JSON.parse(Buffer.from(own.split('.')[1], 'base64url').toString());
  expect(claims.exp).toBe(Math.floor(Date.parse(made.body.expiresAt) / 1000));
  expect((await service.call('GET', '/me', { token: own })).body.login).toBe('octocat');
  const list = (await service.call('GET', '/me/tokens', { token })).body;
  expect(list.map((t: { name: string }) => t.name)).toEqual(['ci', 'test']);
  expect(JSON.stringify(list)).not.toContain(own);
  await until(
    'the use to be noted',
    async () => (await service.call('GET', '/me/tokens', { token })).body[0].lastUsedAt,
  );
  const stranger = await service.token('stranger');
  expect((await service.call('DELETE', `/me/tokens/${made.body.id}`, { token: stranger })).status).toBe(404);
  expect((await service.call('DELETE', `/me/tokens/${made.body.id}`, { token })).status).toBe(204);
  expect((await service.call('GET', '/me', { token: own })).status).toBe(401);
  expect((await service.call('DELETE', `/me/tokens/${made.body.id}`, { token })).status).toBe(404);
});

test.each([
  {},
  { name: '' },
  { name: 'x', expiresInDays: 0 },
  { name: 'x', expiresInDays: 367 },
  { name: 'x', expiresInDays: 1.5 },
  { name: 'x', scopes: 'all' },
  { name: 'x', scopes: ['read'] },
])('a token cannot be created with %j', async (body) => {
  expect((await service.call('POST', '/me/tokens', { token, body })).status).toBe(400);
});

const withScope = async (scopes: string, as = token) =>
  service.call('POST', '/me/tokens', { token: as, body: { name: scopes, scopes } });
const needs = (needed: string, found: string) =>
  `Requires a token with the ${needed} scope; this one has the ${found} scope`;

test('a token with a scope is listed with it, and rules over no token that allows more', async () => {
  const write = (await withScope('write')).body;
  const read = (await withScope('read', write.token)).body;
  expect([write.scopes, read.scopes]).toEqual(['write', 'read']);
  expect((await service.call('GET', '/me', { token: read.token })).body.scopes).toBe('read');
  const list = (await service.call('GET', '/me/tokens', { token: read.token })).body;
  expect(list.map((each: { scopes: string }) => each.scopes)).toEqual(['read', 'write', 'admin']);

  const [, , first] = list;
  // Without a scope, a token would allow everything.
  const wider = await service.call('POST', '/me/tokens', { token: write.token, body: { name: 'more' } });
  expect([wider.status, wider.body.message]).toEqual([403, needs('admin', 'write')]);
  const refused = await service.call('DELETE', `/me/tokens/${first.id}`, { token: write.token });
  expect([refused.status, refused.body.message]).toEqual([403, needs('admin', 'write')]);
  expect((await service.call('DELETE', `/me/tokens/${read.id}`, { token: write.token })).status).toBe(204);
  expect((await service.call('DELETE', `/me/tokens/${write.id}`, { token: write.token })).status).toBe(204);
});

test('what takes the admin role within a route of members takes the admin scope, too', async () => {
  const send = (method: string, path: string, body?: object, as = token) =>
    service.call(method, path, { token: as, ...(body && { body }) });
  const write = (await withScope('write')).body.token;
  const project = (await send('POST', '/projects', { name: 'P' })).body.id;
  const { userId } = (await send('POST', `/projects/${project}/members`, { login: 'hubot' })).body;
  const removal = await send('DELETE', `/projects/${project}/members/${userId}`, undefined, write);
  expect([removal.status, removal.body.message]).toEqual([403, needs('admin', 'write')]);
  const days = { startDate: '2026-01-01', endDate: '2026-01-02' };
  const sprint = (await send('POST', `/projects/${project}/sprints`, { name: 'S', ...days }, write)).body.id;
  await send('POST', `/projects/${project}/tasks`, { title: 't', sprintId: sprint });
  expect((await send('POST', `/sprints/${sprint}/start`, undefined, write)).status).toBe(200);
  const forced = await send('DELETE', `/sprints/${sprint}?force=true`, undefined, write);
  expect([forced.status, forced.body.message]).toEqual([403, needs('admin', 'write')]);
  expect((await send('DELETE', `/sprints/${sprint}?force=true`)).status).toBe(204);
});

test('the role limits a token, whatever its scope', async () => {
  const project = (await service.call('POST', '/projects', { token, body: { name: 'P' } })).body.id;
  await service.call('POST', `/projects/${project}/members`, { token, body: { login: 'seer', role: 'viewer' } });
  const seer = await service.token('seer');
  const made = await service.call('POST', `/projects/${project}/tasks`, { token: seer, body: { title: 't' } });
  expect([made.status, made.body.message]).toEqual([403, 'Requires the member role']);
});

test('over MCP, a token sees the tools that it allows, and learns why it may not call another', async () => {
  const read = (await withScope('read')).body.token;
  const { tools, result } = await overMcp({ url: service.url, token: read }, async (client) => ({
    tools: (await client.listTools()).tools,
    result: await call(client, 'cancelTask', { id: 'task_1' }),
  }));
  expect(tools.filter((tool) => tool.annotations?.readOnlyHint !== true)).toEqual([]);
  expect(tools.map((tool) => tool.name)).toContain('getTask');
  expect(result).toMatchObject({ isError: true });
});
