import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult, Progress } from '@modelcontextprotocol/sdk/types.js';
import { openapiDocument } from '../../../src/http/documents/openapi.ts';
import { toolsOf, usualToolsets } from '../../../src/http/mcp/tools.ts';
import { routes } from '../../../src/routes.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { type Everything, makeEverything } from '../../support/everything.ts';
import { call, overMcp } from '../../support/http/mcp-client.ts';

type Schema = { $ref?: string; type?: string; properties?: object };
interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
interface Operation {
  parameters?: { in: string; name: string }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}

let service: TestApp;
let world: Everything;

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true' });
  world = await makeEverything(service);
});
afterAll(() => service.close());

const connected = <T>(act: (client: Client) => Promise<T>, query = '', token = world.owner) =>
  overMcp({ url: service.url, token, query }, act);
const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text;

test('a model makes a task, finds it and changes it', async () => {
  await connected(async (client) => {
    await client.listTools();
    const { projectId } = world.ids;
    const made = await call(client, 'createTask', { projectId, title: 'Made by a model' });
    const { id } = made.structuredContent as { id: string };
    expect(JSON.parse(textOf(made))).toEqual(made.structuredContent);
    const found = await call(client, 'listTasks', { projectId, search: 'Made by', limit: 1 });
    expect(found.structuredContent).toMatchObject({ items: [{ id, title: 'Made by a model' }] });
    const changed = await call(client, 'updateTask', { id, title: 'Changed by a model' });
    expect(changed.structuredContent).toMatchObject({ id, title: 'Changed by a model' });
    const deleted = await call(client, 'deleteTask', { id });
    expect([textOf(deleted), deleted.structuredContent]).toEqual(['Done', undefined]);
  });
});

test('a page of a list says where the next one begins', async () => {
  await connected(async (client) => {
    const page = await call(client, 'listTasks', { projectId: world.ids.projectId, limit: 1 });
    expect(page.structuredContent).toMatchObject({ items: [{}], nextOffset: 1 });
    const last = await call(client, 'listTasks', { projectId: world.ids.projectId, limit: 1, offset: 1 });
    expect(last.structuredContent).not.toHaveProperty('nextOffset');
  });
});

test.each([
  ['a missing argument', 'getTask', {}, /^Missing: id\. getTask takes id\. Call it again/],
  ['an unknown argument', 'getTask', { id: 'task_1', taskId: 1 }, /^Unknown: taskId\. getTask takes id\./],
  ['a value of the wrong type', 'createTask', { projectId: '$', title: 7 }, /^title must be a string\.$/],
  ['an id that leaves the path', 'getTask', { id: '..' }, /^id must be an id, not “\.\.”$/],
  ['an id with a slash', 'getTask', { id: '../me' }, /^Task \.\.\/me not found\.$/],
  ['an object as an id', 'getTask', { id: {} }, /^id must be a text$/],
  ['an object in the query', 'listTasks', { projectId: '$', search: {} }, /^search must be a text, a number/],
])('%s is an error that a model can mend', async (_name, tool, given, expected) => {
  const args = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, value === '$' ? world.ids.projectId : value]),
  );
  const result = await connected((client) => call(client, tool, args));
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(expected);
});

test('an unknown tool is an error of the protocol, which names the tools there are', async () => {
  await expect(connected((client) => call(client, 'dropDatabase'))).rejects.toThrow(/no tool dropDatabase.*getTask/);
});

test('a call has the rights of its token', async () => {
  const stranger = await service.token('stranger');
  const { projectId, task } = world.ids;
  await connected(
    async (client) => {
      expect(textOf(await call(client, 'listTasks', { projectId }))).toContain('User is not a member of project');
      expect(textOf(await call(client, 'getTask', { id: task }))).toBe(`Task ${task} not found.`);
    },
    '',
    stranger,
  );
});

test('the audit log says that a change was made by a tool', async () => {
  const { projectId } = world.ids;
  await connected((client) => call(client, 'createTask', { projectId, title: 'Recorded' }));
  const { body } = await service.call('GET', `/projects/${projectId}/audit?limit=1`, { token: world.owner });
  expect(body[0]).toMatchObject({ action: 'task.create', via: 'mcp' });
});

test('each tool takes what its operation takes, and answers what it answers', () => {
  const { paths, components } = openapiDocument(routes, '') as OpenApi;
  const tools = [...toolsOf(routes).values()].flat();
  expect(tools.length).toBeGreaterThan(90);
  for (const { definition, declared, places } of tools) {
    const operation = paths[declared.path.replace(/:(\w+)/g, '{$1}')]?.[declared.method];
    const parameters = (operation?.parameters ?? []).filter((each) => each.in !== 'header').map((each) => each.name);
    const ref = operation?.requestBody?.content['application/json'].schema ?? {};
    const body = components.schemas[ref.$ref?.split('/').at(-1) ?? ''] ?? ref;
    const fields = body.type === 'array' ? [''] : Object.keys(body.properties ?? {});
    expect([definition.name, [...places.values()].map(({ name }) => name)]).toEqual([
      declared.operationId,
      [...parameters, ...fields],
    ]);
    expect([definition.name, definition.outputSchema !== undefined]).toEqual([
      declared.operationId,
      declared.reply[1] !== undefined,
    ]);
  }
});

test('every usual tool says when to use it, and none gives out a secret or has no end', () => {
  const sets = toolsOf(routes);
  for (const name of usualToolsets)
    for (const { declared } of sets.get(name) ?? [])
      expect([declared.operationId, declared.guide]).not.toContain(undefined);
  const offered = [...sets.values()].flat().map(({ declared }) => declared);
  expect(offered.filter(({ isSecret, isStream }) => isSecret || isStream)).toEqual([]);
  const aboutSecrets = offered.map(({ operationId }) => operationId).filter((name) => /Token|Secret/.test(name));
  expect(aboutSecrets).toEqual(['getGitToken', 'getModelToken', 'listEnvironmentSecrets', 'removeEnvironmentSecret']);
  // They take the values of headers.
  const names = offered.map(({ operationId }) => operationId);
  for (const taking of ['setMcpServers', 'tryMcpServer']) expect(names).not.toContain(taking);
});

test('servers of models take the names of all parameters', () => {
  const offered = [...toolsOf(routes).values()].flat();
  const names = offered.flatMap(({ definition: { name, inputSchema } }) =>
    Object.keys(inputSchema.properties ?? {}).map((parameter) => `${name} ${parameter}`),
  );
  expect(names.filter((each) => !/ [\w.-]{1,64}$/.test(each))).toEqual([]);
});

test('toolsets choose the tools', async () => {
  const namesOf = (query: string) =>
    connected(async (client) => (await client.listTools()).tools.map(({ name }) => name), query);
  const usual = await namesOf('');
  expect(usual).toEqual(expect.arrayContaining(['getTask', 'startTask', 'getRun', 'listInbox']));
  expect(usual).not.toEqual(expect.arrayContaining(['createSprint']));
  expect(await namesOf('?toolsets=inbox')).toEqual(['listInbox']);
  expect(await namesOf('?toolsets=sprints,inbox')).toEqual(expect.arrayContaining(['createSprint', 'listInbox']));
  await expect(namesOf('?toolsets=everything')).rejects.toThrow(/toolsets must be of projects, repositories/);
});

test('resources show changes and runs, and hide those of others', async () => {
  const { runId, task } = world.ids;
  await connected(async (client) => {
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'deckhand://runs/{runId}',
      'deckhand://tasks/{id}/change',
    ]);
    const { contents } = await client.readResource({ uri: `deckhand://runs/${runId}` });
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ run: { id: runId }, events: [] });
    await expect(client.readResource({ uri: 'deckhand://runs/run_unknown' })).rejects.toMatchObject({ code: -32002 });
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toMatchObject({ code: -32002 });
  });
  const stranger = await service.token('stranger');
  for (const uri of [`deckhand://runs/${runId}`, `deckhand://tasks/${task}/change`])
    await expect(connected((client) => client.readResource({ uri }), '', stranger)).rejects.toMatchObject({
      code: -32002,
    });
});

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const post = (more: { headers?: Record<string, string>; token?: string; body?: unknown } = {}) =>
  service.call('POST', '/mcp', {
    body: initialize,
    ...more,
    headers: { Accept: 'application/json, text/event-stream', ...more.headers },
  });

test('without a good token the reply says how the server is protected', async () => {
  for (const token of [undefined, 'forged']) {
    const answer = await post(token === undefined ? {} : { token });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer resource_metadata="http://localhost:3000/.well-known/oauth-protected-resource"',
    );
  }
  for (const path of ['', '/api/v1/mcp']) {
    const answer = await fetch(`${service.url}/.well-known/oauth-protected-resource${path}`);
    expect(await answer.json()).toMatchObject({ resource: 'http://localhost:3000/api/v1/mcp' });
  }
});

test('a revoked token lists nothing, although it was good a moment ago', async () => {
  const owner = { token: world.owner };
  const { body } = await service.call('POST', '/me/tokens', { ...owner, body: { name: 'short' } });
  expect((await post({ token: body.token })).status).toBe(200);
  await service.call('DELETE', `/me/tokens/${body.id}`, owner);
  expect((await post({ token: body.token })).status).toBe(401);
});

test.each([
  ['a page of another site', { headers: { Origin: 'https://evil.example' } }, 403],
  ['the page of the service', { headers: { Origin: 'http://localhost:3000' } }, 200],
  ['a list of messages', { body: [initialize, initialize] }, 400],
  ['a body that is not JSON', { body: '{' }, 400],
  ['a client that takes no events', { headers: { Accept: 'text/html' } }, 406],
])('a request of %s', async (_name, more, status) => {
  expect((await post({ token: world.owner, ...more })).status).toBe(status);
});

test('there are no sessions', async () => {
  for (const method of ['GET', 'DELETE']) {
    const answer = await service.call(method, '/mcp', { token: world.owner });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  }
});

test('a long call tells how long it lasts', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const lock = service.app.db.manager.connection.createQueryRunner();
  await lock.startTransaction();
  await lock.query('select 1 from tasks where id = $1 for update', [world.ids.task]);
  const told: Progress[] = [];
  const changed = connected((client) =>
    client.callTool({ name: 'updateTask', arguments: { id: world.ids.task, title: 'Late' } }, undefined, {
      onprogress: (progress) => {
        told.push(progress);
        resolve();
      },
    }),
  );
  await Promise.race([promise, changed]);
  await lock.rollbackTransaction();
  await lock.release();
  expect(await changed).toMatchObject({ structuredContent: { title: 'Late' } });
  expect(told[0]).toMatchObject({ progress: 2, message: 'Waiting for updateTask, 2 s' });
});
