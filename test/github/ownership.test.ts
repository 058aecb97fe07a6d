import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../src/demo/real-service.ts';
import { claimOwnerships, syncInstallation } from '../../src/github/app/installation.ts';
import { findUserByLogin } from '../../src/projects/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { privateKey } from '../support/keys.ts';

/** An organization whose admins come and go. */
const people = ['mona', 'lisa', 'carl', 'nina'].map((login, i) => ({ id: 100 + i, login, name: null, avatar_url: '' }));
const installation = { id: 1, account: { id: 7, login: 'acme', type: 'Organization' }, suspended_at: null };
let admins: string[] = [];
let organization: { id: number; login: string } | undefined;
let isFailing = false;

let github: Server;
let service: TestApp;
let projectId: string;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  github = createServer((req, res) => {
    const path = req.url ?? '';
    const json = (status: number, body: unknown) =>
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    const found = (value: unknown) => (value === undefined ? json(404, { message: 'Not Found' }) : json(200, value));
    const called = (login: string | undefined) => people.find((each) => each.login === login);
    if (path.endsWith('/access_tokens'))
      return json(201, { token: 'ghs_x', expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    if (path.startsWith('/installation/repositories')) return json(200, { total_count: 0, repositories: [] });
    if (path.startsWith('/app/installations/1')) return json(200, installation);
    if (path.startsWith('/app/installations')) return json(200, [installation]);
    if (path.startsWith('/users/')) return found(called(path.split('/').at(-1)));
    if (path === '/orgs/acme') return found(organization);
    if (isFailing) return json(403, { message: 'Resource not accessible by integration' });
    if (path.startsWith('/orgs/acme/members?')) return json(200, admins.map(called));
    const [, login] = /^\/orgs\/acme\/memberships\/(\w+)$/.exec(path) ?? [];
    const membership = { state: 'active', user: called(login), organization };
    if (login !== undefined && organization !== undefined)
      return json(200, { ...membership, role: admins.includes(login) ? 'admin' : 'member' });
    found(undefined);
  });
  await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(github.address() as AddressInfo).port}`;
  service = await openTestApp({
    APP_ID: '1',
    PRIVATE_KEY: privateKey,
    WEBHOOK_SECRET: 'x',
    GITHUB_API_URL: url,
    GITHUB_SERVER_URL: url,
  });
  for (const { login } of people) tokens[login] = await service.token(login);
});
beforeEach(async () => {
  await service.app.db.manager.query('truncate projects, installations cascade');
  [admins, organization, isFailing] = [['mona', 'lisa'], { id: 7, login: 'acme' }, false];
  await syncInstallation(service.app, installation, true);
  projectId = (await as('mona')('GET', '/projects')).body[0].id;
});
afterAll(async () => {
  await service.close();
  github.close();
  github.closeAllConnections();
});

const as = (login: string) => (method: string, path: string, body?: object) =>
  service.call(method, path, { token: tokens[login] as string, body });
const mona = as('mona');
const sync = () => syncInstallation(service.app, installation);
const roles = async () => {
  const { body } = await mona('GET', `/projects/${projectId}/members`);
  return Object.fromEntries(body.map((m: { login: string; role: string }) => [m.login, m.role]));
};
const signIn = async (login: string) => {
  const user = await findUserByLogin(service.app.db.manager, login);
  await claimOwnerships(service.app, user as NonNullable<typeof user>);
};
const memberOf = async (login: string) =>
  (await mona('GET', `/projects/${projectId}/members`)).body.find((m: { login: string }) => m.login === login)?.userId;

test('an admin of the account who is no longer one loses the project; roles that people gave stay', async () => {
  await mona('POST', `/projects/${projectId}/members`, { login: 'carl', role: 'owner' });
  await mona('POST', `/projects/${projectId}/members`, { login: 'nina', role: 'admin' });
  admins = ['mona', 'lisa', 'nina'];
  await sync();
  expect(await roles()).toEqual({ mona: 'owner', lisa: 'owner', carl: 'owner', nina: 'owner' });
  admins = ['mona'];
  await sync();
  expect(await roles()).toEqual({ mona: 'owner', carl: 'owner', nina: 'admin' });
  expect((await as('lisa')('GET', `/projects/${projectId}`)).status).toBe(403);
});

test('nothing is taken back on an answer that may be wrong', async () => {
  const before = await roles();
  isFailing = true;
  await sync().catch(() => {});
  await signIn('lisa');
  isFailing = false;
  admins = [];
  await sync();
  // Another organization took over the name; what it says of its admins is not about ours.
  [admins, organization] = [['carl'], { id: 8, login: 'acme' }];
  await sync();
  await signIn('lisa');
  expect(await roles()).toEqual(before);
});

test('GitHub telling of the organization is enough, and so is signing in', async () => {
  admins = ['mona'];
  await signIn('lisa');
  expect(await roles()).toEqual({ mona: 'owner' });
  admins = ['mona', 'lisa'];
  await signIn('lisa');
  expect(await roles()).toEqual({ mona: 'owner', lisa: 'owner' });
  admins = ['mona'];
  await service.work();
  const body = JSON.stringify({ action: 'member_removed', organization, installation: { id: 1 }, sender: people[0] });
  const headers = {
    'Content-Type': 'application/json',
    'X-GitHub-Event': 'organization',
    'X-GitHub-Delivery': randomUUID(),
    'X-Hub-Signature-256': `sha256=${createHmac('sha256', 'x').update(body).digest('hex')}`,
  };
  const answer = await fetch(`${service.url}/api/github/webhooks`, { method: 'POST', headers, body });
  expect(answer.status).toBe(202);
  await until('lisa to be gone', async () => !('lisa' in (await roles())));
});

test('what GitHub grants is changed there; who leaves stays away until they sign in', async () => {
  const lisa = await memberOf('lisa');
  const path = `/projects/${projectId}/members/${lisa}`;
  const refused = [await mona('PATCH', path, { role: 'member' }), await mona('DELETE', path)];
  expect(refused.map(({ status, body }) => [status, /GitHub/.test(body.message)])).toEqual([
    [409, true],
    [409, true],
  ]);
  expect((await as('lisa')('DELETE', `/projects/${projectId}/members/me`)).status).toBe(204);
  await sync();
  expect(await roles()).toEqual({ mona: 'owner' });
  await signIn('lisa');
  expect(await roles()).toEqual({ mona: 'owner', lisa: 'owner' });
});

test('an owner by GitHub whom an owner makes owner stays it', async () => {
  const path = `/projects/${projectId}/members/${await memberOf('lisa')}`;
  expect((await mona('PATCH', path, { role: 'owner' })).body.role).toBe('owner');
  admins = ['mona'];
  await sync();
  expect(await roles()).toEqual({ mona: 'owner', lisa: 'owner' });
});

test('a project is never left without an owner', async () => {
  expect((await as('lisa')('DELETE', `/projects/${projectId}/members/me`)).status).toBe(204);
  const alone = await mona('DELETE', `/projects/${projectId}/members/me`);
  expect([alone.status, alone.body.message]).toEqual([409, expect.stringContaining('only owner')]);
  // The last owner is no admin any more, and the only admin has left.
  admins = ['lisa'];
  await sync();
  const { body } = await as('lisa')('GET', '/projects');
  expect(body.map((p: { id: string; role: string }) => [p.id, p.role])).toEqual([[projectId, 'owner']]);
});
