import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
let web: Server;
const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const connect = (name: string, more: object = {}) =>
  call('POST', '/repositories', { projectId: project, name, url: `https://github.com/octocat/${name}`, ...more });

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true' });
  token = await service.token('octocat');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
  web = createServer((req, res) => {
    if (req.url?.startsWith('/private')) return res.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end();
    if (req.url?.startsWith('/moved')) return res.writeHead(301, { Location: 'https://github.com/a/b' }).end();
    if (req.url?.startsWith('/page')) return res.end('<html>hello</html>');
    res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  web.close();
  await service.close();
});

test('connecting: the first repository is primary, a flag moves to another, names and URLs are unique', async () => {
  const first = await connect('one');
  expect(first.status).toBe(201);
  expect(first.body).toEqual({
    id: expect.stringMatching(/^repo_/),
    projectId: project,
    name: 'one',
    url: 'https://github.com/octocat/one',
    defaultBranch: 'main',
    isPrimary: true,
    isDocsRepo: false,
    createdAt: expect.any(String),
  });
  expect((await connect('two')).body.isPrimary).toBe(false);
  expect((await connect('three', { isPrimary: true, isDocsRepo: true })).body).toMatchObject({
    isPrimary: true,
    isDocsRepo: true,
  });
  const list = (await call('GET', `/repositories?projectId=${project}`)).body;
  expect(list.map((r: { name: string; isPrimary: boolean }) => [r.name, r.isPrimary])).toEqual([
    ['one', false],
    ['two', false],
    ['three', true],
  ]);
  expect(Object.keys(list[0]).sort()).toEqual(['id', 'isDocsRepo', 'isPrimary', 'name', 'projectId', 'url']);
  expect((await connect('ONE', { url: 'https://github.com/octocat/new' })).status).toBe(409);
  expect((await connect('new', { url: 'https://github.com/octocat/One.git' })).status).toBe(409);
  expect((await call('GET', '/repositories')).body).toHaveLength(3);
});

test.each([
  [{ name: '.hidden' }, 'name'],
  [{ name: 'a b' }, 'name'],
  [{ url: 'ssh://git@github.com/a/b' }, 'url'],
  [{ defaultBranch: 'a..b' }, 'defaultBranch'],
  [{ defaultBranch: '-x' }, 'defaultBranch'],
])('%j is refused', async (more, path) => {
  const answer = await connect('fine', more);
  expect([answer.status, answer.body.errors?.[0].path]).toEqual([400, path]);
});

test('only admins of the project can connect a repository', async () => {
  const other = await service.token('other');
  const body = { projectId: project, name: 'x', url: 'https://github.com/a/x' };
  expect((await service.call('POST', '/repositories', { token: other, body })).status).toBe(403);
  expect(
    (await service.call('POST', '/repositories', { token: other, body: { ...body, projectId: 'proj_unknown' } }))
      .status,
  ).toBe(404);
});

test('every failed validation is reported as a result that says what to check', async () => {
  const port = (web.address() as AddressInfo).port;
  const silent = createTcpServer((socket) => socket.resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const cases: [string, string, RegExp][] = [
    ['v-private', `http://127.0.0.1:${port}/private/r`, /credentials/],
    ['v-missing', `http://127.0.0.1:${port}/none/r`, /does not exist/],
    ['v-page', `http://127.0.0.1:${port}/page/r`, /git/],
    ['v-moved', `http://127.0.0.1:${port}/moved/r`, /./],
    ['v-closed', 'https://127.0.0.1:1/a/r', /could not be reached/],
    ['v-unknown', 'https://nowhere.invalid/a/r', /could not be reached|unknown/],
    ['v-silent', `http://127.0.0.1:${(silent.address() as AddressInfo).port}/a/r`, /No response within 10 s/],
  ];
  const validate = async ([name, url, error]: (typeof cases)[number]) => {
    const { id } = (await connect(name, { url })).body;
    const answer = await call('POST', `/repositories/${id}/validate`);
    expect([name, answer.status, answer.body.valid]).toEqual([name, 200, false]);
    expect(answer.body.error).toMatch(error);
    expect(answer.body.branches).toBeUndefined();
  };
  await Promise.all(cases.map(validate));
  silent.close();
});

test('name, flags and URL each follow their rules when changed', async () => {
  const own = (await call('POST', '/projects', { name: 'Own' })).body.id;
  const make = async (name: string) =>
    (await call('POST', '/repositories', { projectId: own, name, url: `https://github.com/own/${name}` })).body;
  const [a, b] = [await make('a'), await make('b')];
  const patch = (id: string, body: object) => call('PATCH', `/repositories/${id}`, body);
  expect((await patch(a.id, {})).body).toEqual(a);
  expect((await patch(b.id, { isPrimary: true, defaultBranch: 'trunk' })).body).toMatchObject({
    isPrimary: true,
    defaultBranch: 'trunk',
  });
  expect((await call('GET', `/repositories/${a.id}`)).body.isPrimary).toBe(false);
  expect((await call('GET', `/repositories/primary/${own}`)).body.id).toBe(b.id);
  expect((await call('GET', `/repositories/docs/${own}`)).body).toEqual({
    statusCode: 404,
    message: `Documentation repository of project ${own} not found`,
  });
  await patch(a.id, { isDocsRepo: true });
  expect((await call('GET', `/repositories/docs/${own}`)).body.id).toBe(a.id);
  expect((await patch(a.id, { name: 'B' })).status).toBe(409);
  expect((await patch(a.id, { url: 'https://github.com/own/B.git' })).status).toBe(409);
  expect((await patch(a.id, { url: 'https://user@github.com/own/c' })).body.errors[0].path).toBe('url');
  expect((await patch(a.id, { projectId: project })).status).toBe(400);
  expect((await patch(a.id, { url: 'https://github.com/own/c' })).body.url).toBe('https://github.com/own/c');
  const task = (await call('POST', `/projects/${own}/tasks`, { title: 't', repositoryId: a.id })).body;
  const sql = (text: string) => service.app.db.manager.query(text);
  await sql(`update tasks set branch_name = 'agent/x' where id = '${task.id}'`);
  expect((await patch(a.id, { url: 'https://github.com/own/d' })).body.message).toMatch(/agent\/x/);
  await sql(
    `insert into runs (id, task_id, project_id, kind, status) values ('run_x', '${task.id}', '${own}', 'start', 'running')`,
  );
  expect((await call('DELETE', `/repositories/${a.id}`)).body.message).toMatch(/unfinished run/);
  await sql(`update runs set status = 'failed'`);
  await sql(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha) values ('${task.id}', '${a.id}', 1, 'u', 'open', 'agent/x', 's')`,
  );
  expect((await call('DELETE', `/repositories/${a.id}`)).body.message).toMatch(/open pull request/);
  await sql(`update pull_requests set status = 'merged'`);
  expect((await call('DELETE', `/repositories/${a.id}`)).status).toBe(204);
  expect((await call('GET', `/tasks/${task.id}`)).body.repositoryId).toBeNull();
  expect((await call('DELETE', `/repositories/${b.id}`)).status).toBe(204);
  expect((await call('GET', `/repositories/primary/${own}`)).status).toBe(404);
});

test('of many repositories connected as primary at the same time, one is primary', async () => {
  const own = (await call('POST', '/projects', { name: 'Race' })).body.id;
  const made = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((name) =>
      call('POST', '/repositories', { projectId: own, name, url: `https://github.com/race/${name}`, isPrimary: true }),
    ),
  );
  expect(made.map((m) => m.status)).toEqual([201, 201, 201, 201, 201]);
  const list = (await call('GET', `/repositories?projectId=${own}`)).body;
  expect(list.filter((r: { isPrimary: boolean }) => r.isPrimary)).toHaveLength(1);
});
