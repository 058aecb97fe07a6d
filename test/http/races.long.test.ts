import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true' });
  token = await service.token('owner');
});
afterAll(() => service.close());

const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const made = async (path: string, body: object) => (await call('POST', path, body)).body;
const statuses = async (calls: Promise<{ status: number }>[]) => (await Promise.all(calls)).map((a) => a.status);

test.each([1, 2, 3])('a project deleted under writes: 404 or done, never 500 (%i)', async () => {
  const { id } = await made('/projects', { name: 'P' });
  const found = await statuses([
    call('DELETE', `/projects/${id}`),
    ...Array.from({ length: 4 }, () => call('POST', `/projects/${id}/tasks`, { title: 't' })),
    ...['a', 'b', 'c'].map((login) => call('POST', `/projects/${id}/members`, { login })),
    ...Array.from({ length: 3 }, () => call('PATCH', `/projects/${id}`, { name: 'Q' })),
    call('POST', `/projects/${id}/git-token`, { token: 'x' }),
    call('POST', '/repositories', { projectId: id, name: 'r', url: 'https://127.0.0.1:1/a/r' }),
  ]);
  expect(found.filter((status) => ![200, 201, 204, 404].includes(status))).toEqual([]);
});

test.each([1, 2, 3])('deleting tasks and agents while other requests name them never causes a 500 (%i)', async () => {
  const project = await made('/projects', { name: 'P' });
  const path = `/projects/${project.id}/tasks`;
  const [task, parent, agent] = [
    await made(path, { title: 'x' }),
    await made(path, { title: 'p' }),
    await made('/agents', { name: `a${Math.random()}` }),
  ];
  const subtasks = [];
  for (let i = 0; i < 3; i++) subtasks.push(await made(`/tasks/${parent.id}/subtasks`, { title: 's' }));
  const found = await statuses([
    call('DELETE', `/tasks/${task.id}`),
    call('POST', path, { title: 't', dependsOn: [task.id] }),
    call('POST', `${path}/bulk`, { tasks: [{ title: 't', dependsOn: [task.id] }] }),
    call('DELETE', `/tasks/${parent.id}`),
    ...subtasks.map((s) => call('DELETE', `/tasks/${s.id}`)),
    ...subtasks.map((s) => call('PATCH', `/tasks/${s.id}`, { status: 'done' })),
    call('DELETE', `/agents/${agent.id}`),
    call('POST', `/agents/${agent.id}/evolve`, { improvements: ['x'] }),
    call('PATCH', `/agents/${agent.id}`, { description: 'x' }),
    call('POST', `/agents/${agent.id}/health/reset`),
    call('POST', path, { title: 't', owner: agent.id }),
  ]);
  expect(found.filter((status) => status >= 500)).toEqual([]);
});

test('of many repositories that are connected first at the same time, one is primary', async () => {
  const { id } = await made('/projects', { name: 'P' });
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      call('POST', '/repositories', { projectId: id, name: `r${i}`, url: `https://127.0.0.1:1/a/r${i}` }),
    ),
  );
  expect(answers.map((a) => a.status)).toEqual(Array(8).fill(201));
  expect(answers.filter((a) => a.body.isPrimary)).toHaveLength(1);
});

test('cancelling a waiting parent stops the runs of its subtasks; an evolved agent with a live run cannot be deleted', async () => {
  const project = await made('/projects', { name: 'P' });
  const agent = await made('/agents', { name: 'mine' });
  const parent = await made(`/projects/${project.id}/tasks`, { title: 'p', owner: agent.id });
  const subtask = await made(`/tasks/${parent.id}/subtasks`, { title: 's' });
  expect((await call('POST', `/tasks/${parent.id}/cancel`)).status).toBe(409);
  await service.app.db.manager.query(
    `insert into runs (id, task_id, project_id, agent_id, kind, status) values ('run_x', $1, $2, $3, 'start', 'queued')`,
    [subtask.id, project.id, agent.id],
  );
  await service.app.db.manager.query(`update tasks set status = 'in_progress' where id = $1`, [subtask.id]);
  const evolved = await made(`/agents/${agent.id}/evolve`, { improvements: ['x'] });
  await service.app.db.manager.query(`update runs set agent_id = $1 where id = 'run_x'`, [agent.id]);
  expect((await call('DELETE', `/agents/${evolved.id}`)).status).toBe(409);
  const answer = await call('POST', `/tasks/${parent.id}/cancel`);
  expect([answer.status, answer.body.status]).toEqual([200, 'waiting_on_subtasks']);
  expect((await call('GET', `/tasks/${subtask.id}`)).body.status).toBe('ready');
  expect((await call('DELETE', `/agents/${evolved.id}`)).status).toBe(204);
});

test('improvements that are too long are refused, not truncated', async () => {
  const agent = await made('/agents', { name: 'long', systemPrompt: 'x'.repeat(49_990) });
  const answer = await call('POST', `/agents/${agent.id}/evolve`, { improvements: ['something that matters'] });
  expect([answer.status, answer.body.errors[0].path]).toEqual([400, 'improvements']);
});

test('if GitHub never responds or sends nonsense, the reply is a 502, not a 500, and the request does not hang', async () => {
  const broken = createServer((_req, res) => res.writeHead(500).end('{}'));
  await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
  const other = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true', GITHUB_API_URL: url, GITHUB_SERVER_URL: url });
  try {
    const own = await other.token('owner');
    const post = (path: string, body: object) => other.call('POST', path, { token: own, body });
    const project = (await post('/projects', { name: 'P' })).body;
    await post(`/projects/${project.id}/git-token`, { token: 'ghp_x' });
    const answer = await post('/repositories', { projectId: project.id, name: 'r', url: `${url}/a/r` });
    expect([201, 502]).toContain(answer.status);
    expect((await post('/repositories', { projectId: project.id, name: 'q', url: `${url}//r` })).status).toBe(400);
  } finally {
    await other.close();
    broken.close();
    broken.closeAllConnections();
  }
});

test('known addresses reply 405 to other methods, and a cookie is not accepted as Bearer token', async () => {
  for (const path of ['/openapi.json', '/docs']) {
    const answer = await service.call('POST', path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET']);
  }
  const headers = { Cookie: `deckhand_session=${token}`, Origin: 'http://evil', Authorization: 'Basic x' };
  expect((await service.call('POST', '/projects', { body: { name: 'x' }, headers })).status).toBe(403);
});

test('many reconcile requests of one user do not delay others', async () => {
  const other = await service.token('other');
  let asked: Promise<{ status: number }>[] = [];
  await service.app.db.transaction(async (em) => {
    await em.query('select pg_advisory_xact_lock(hashtextextended($1, 6))', ['reconcile']);
    asked = Array.from({ length: 40 }, () => call('POST', '/agents/pool/reconcile'));
    for (let i = 0; i < 20; i++) expect((await service.call('GET', '/me', { token: other })).status).toBe(200);
  });
  expect(new Set(await statuses(asked))).toEqual(new Set([200]));
});

test('many requests of one user for a locked row do not delay others', async () => {
  const project = await made('/projects', { name: 'P' });
  const other = await service.token('other');
  let asked: Promise<{ status: number }>[] = [];
  await service.app.db.transaction(async (em) => {
    await em.query('select 1 from projects where id = $1 for update', [project.id]);
    asked = Array.from({ length: 40 }, () => call('PATCH', `/projects/${project.id}`, { description: 'd' }));
    for (let i = 0; i < 20; i++) expect((await service.call('GET', '/me', { token: other })).status).toBe(200);
  });
  expect(new Set(await statuses(asked))).toEqual(new Set([200]));
});
