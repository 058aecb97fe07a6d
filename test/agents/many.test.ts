import { listAgents } from '../../src/agents/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

// Descriptions and prompts may be long, and anybody can make agents.

let service: TestApp;
beforeAll(async () => {
  service = await openTestApp({});
});
afterAll(() => service.close());

test('a person has at most 200 agents, and lists of them do not read their texts', async () => {
  const token = await service.token('mona');
  const call = (method: string, path: string, body?: object) => service.call(method, path, { token, body });
  const { id } = (await call('GET', '/me')).body;
  const { manager } = service.app.db;
  await manager.query(
    `insert into agents (id, creator_id, name, team, description, system_prompt, line_id)
     select 'agent_many_' || n, $1, 'Agent ' || n, 'many', repeat('d', 50000), repeat('p', 50000), 'agent_many_' || n
     from generate_series(1, 200) n`,
    [id],
  );
  const refused = await call('POST', '/agents', { name: 'One more' });
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('You have 200 agents')]);
  expect((await call('GET', '/agents')).body).toHaveLength(200);
  expect((await call('GET', '/agents/teams/many')).body).toHaveLength(200);
  expect((await call('GET', '/agents/health/all')).body).toHaveLength(200);
  expect(JSON.stringify(await listAgents(manager, id)).length).toBeLessThan(200_000);
  expect((await call('DELETE', '/agents/agent_many_1')).status).toBeLessThan(300);
  expect((await call('POST', '/agents', { name: 'One more' })).status).toBe(201);
});
