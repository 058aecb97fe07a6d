import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
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

test('connecting: the first is primary, a flag moves, names and addresses are unique', async () => {
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

test('whoever is no admin of the project connects nothing', async () => {
  const other = await service.token('other');
  const body = { projectId: project, name: 'x', url: 'https://github.com/a/x' };
  expect((await service.call('POST', '/repositories', { token: other, body })).status).toBe(403);
  expect(
    (await service.call('POST', '/repositories', { token: other, body: { ...body, projectId: 'proj_unknown' } }))
      .status,
  ).toBe(404);
});

test('every way to fail a validation is a result that helps', async () => {
  const port = (web.address() as AddressInfo).port;
  const silent = createTcpServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const cases: [string, string, RegExp][] = [
    ['v-private', `http://127.0.0.1:${port}/private/r`, /credentials/],
    ['v-missing', `http://127.0.0.1:${port}/none/r`, /no such repository/],
    ['v-page', `http://127.0.0.1:${port}/page/r`, /git/],
    ['v-moved', `http://127.0.0.1:${port}/moved/r`, /./],
    ['v-closed', 'https://127.0.0.1:1/a/r', /could not be reached/],
    ['v-unknown', 'https://nowhere.invalid/a/r', /could not be reached|unknown/],
  ];
  for (const [name, url, error] of cases) {
    const { id } = (await connect(name, { url })).body;
    const answer = await call('POST', `/repositories/${id}/validate`);
    expect([name, answer.status, answer.body.valid]).toEqual([name, 200, false]);
    expect(answer.body.error).toMatch(error);
    expect(answer.body.branches).toBeUndefined();
  }
  silent.close();
});
