import { until } from '../../../demo/real-service.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { call, overMcp } from '../../support/http/mcp-client.ts';
import { headOf, openRaw, type RawConnection } from '../../support/http/raw-http.ts';

// What a client of the MCP server cannot have more of than a client of the REST API.

const opened: TestApp[] = [];
const connections: RawConnection[] = [];
afterEach(async () => {
  for (const { socket } of connections.splice(0)) socket.destroy();
  for (const service of opened.splice(0)) await service.close();
});

async function open(settings: Record<string, string>) {
  const service = await openTestApp(settings);
  opened.push(service);
  const token = await service.token('mallory');
  const { body } = await service.call('POST', '/projects', { token, body: { name: 'P' } });
  return { service, token, projectId: String(body.id) };
}

const accept = 'application/json, text/event-stream';
const calling = (name: string, given: object, more: object = { id: 1 }) => ({
  ...{ jsonrpc: '2.0', method: 'tools/call', params: { name, arguments: given } },
  ...more,
});

test.each([
  ['of a tool that does not exist', calling('dropDatabase', {}), {}],
  ['with wrong arguments', calling('getTask', { wrong: 1 }), {}],
  ['without an id', calling('getTask', { wrong: 1 }, {}), {}],
  ['by a client that takes no events', calling('getTask', { id: 'task_1' }), { Accept: 'application/json' }],
])('calls %s count', async (_name, body, headers) => {
  const { service, token } = await open({ RATE_LIMIT_REQUESTS: '5' });
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++)
    statuses.push(
      (await service.call('POST', '/mcp', { token, body, headers: { Accept: accept, ...headers } })).status,
    );
  expect(statuses.at(-1)).toBe(429);
});

test('a call counts once, and one that counts several times there does so here', async () => {
  const { service, token } = await open({ RATE_LIMIT_REQUESTS: '6' });
  const headers = { Accept: accept };
  const statusOf = async (body: object) => (await service.call('POST', '/mcp', { token, body, headers })).status;
  // One request was for the project.
  for (let i = 0; i < 5; i++) expect(await statusOf(calling('listInbox', {}))).toBe(200);
  expect(await statusOf(calling('listInbox', {}))).toBe(429);
});

test('an export is no result of a tool', async () => {
  const { service, token, projectId } = await open({});
  const result = await overMcp({ url: service.url, token, query: '?toolsets=projects' }, (client) =>
    call(client, 'listAuditRecords', { projectId, format: 'ndjson' }),
  );
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('format') }] });
});

test('a result that is too long for a model is refused', async () => {
  const { service, token, projectId } = await open({});
  const tasks = Array.from({ length: 15 }, (_, i) => ({ title: `t${i}`, description: 'x'.repeat(50_000) }));
  for (let i = 0; i < 3; i++)
    await service.call('POST', `/projects/${projectId}/tasks/bulk`, { token, body: { tasks } });
  const [all, some] = await overMcp({ url: service.url, token, query: '?toolsets=tasks' }, async (client) => [
    await call(client, 'listTasks', { projectId, limit: 45 }),
    await call(client, 'listTasks', { projectId, limit: 30 }),
  ]);
  expect(all).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('a smaller `limit`') }] });
  expect(some?.isError).toBeFalsy();
});

test('results that nobody reads count as unread replies', async () => {
  const { service, token, projectId } = await open({ RATE_LIMIT_REQUESTS: '0' });
  const tasks = Array.from({ length: 15 }, (_, i) => ({ title: `t${i}`, description: 'x'.repeat(50_000) }));
  for (let i = 0; i < 7; i++)
    await service.call('POST', `/projects/${projectId}/tasks/bulk`, { token, body: { tasks } });
  const body = JSON.stringify(calling('listTasks', { projectId, limit: 35 }));
  for (let i = 0; i < 4; i++) {
    const head = headOf('POST /api/v1/mcp', {
      Authorization: `Bearer ${token}`,
      Accept: accept,
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
    });
    // The system's buffers hold one reply or two.
    const raw = openRaw(new URL(service.url).port, `${head}${body}`.repeat(4));
    raw.socket.pause();
    connections.push(raw);
  }
  await until('the refusal', async () => (await service.call('GET', '/me', { token })).status === 429);
  const answer = await service.call('POST', '/mcp', {
    token,
    body: calling('listInbox', {}),
    headers: { Accept: accept },
  });
  expect([answer.status, answer.body.message]).toEqual([429, expect.stringContaining('unread')]);
});
