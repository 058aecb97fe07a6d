import { createHmac, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { until } from '../../demo/real-service.ts';
import { claimOwnerships, syncInstallation } from '../../src/github/app/installation.ts';
import { findUserByLogin } from '../../src/projects/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { appSettings } from '../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../support/stand-ins/fake-github.ts';

/** An organization whose admins change. */
const people = ['mona', 'lisa', 'carl', 'nina'].map((login, i) => ({ id: 100 + i, login, name: null, avatar_url: '' }));
const installation = { id: 1, account: { id: 7, login: 'acme', type: 'Organization' }, suspended_at: null };
let admins: string[] = [];
let organization: { id: number; login: string } | undefined;
let isFailing = false;
/** The state of everybody's membership. */
let state = 'active';

let github: FakeGitHub;
let service: TestApp;
let projectId: string;
const tokens: Record<string, string> = {};
function unlessFailing(res: ServerResponse, answer: unknown): unknown {
  if (!isFailing) return answer;
  res.statusCode = 403;
  return { message: 'Resource not accessible by integration' };
}

beforeAll(async () => {
  const called = (login: string | undefined) => people.find((each) => each.login === login);
  github = await openFakeGitHub([
    [/^GET \/installation\/repositories/, () => ({ total_count: 0, repositories: [] })],
    [/^GET \/app\/installations\/1/, () => installation],
    [/^GET \/app\/installations/, () => [installation]],
    [/^GET \/users\/(\w+)$/, ([, login]) => called(login)],
    [/^GET \/orgs\/acme$/, () => organization],
    [/^GET \/orgs\/acme\/members\?/, (_match, res) => unlessFailing(res, admins.map(called))],
    [
      /^GET \/orgs\/acme\/memberships\/(\w+)$/,
      ([, login = ''], res) => {
        const role = admins.includes(login) ? 'admin' : 'member';
        return unlessFailing(res, organization && { state, user: called(login), organization, role });
      },
    ],
  ]);
  service = await openTestApp(appSettings(github.url));
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
  return claimOwnerships(service.app, user as NonNullable<typeof user>);
};
const memberOf = async (login: string) =>
  (await mona('GET', `/projects/${projectId}/members`)).body.find((m: { login: string }) => m.login === login)?.userId;

test('a former admin of the account loses the project; roles given by people remain', async () => {
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

test('no role is removed because of a response that may be wrong', async () => {
  const before = await roles();
  isFailing = true;
  await sync().catch(() => {});
  await signIn('lisa');
  isFailing = false;
  admins = [];
  await sync();
  // Another organization took over the name; its admins are not those of ours.
  [admins, organization] = [['carl'], { id: 8, login: 'acme' }];
  await sync();
  await signIn('lisa');
  expect(await roles()).toEqual(before);
});

test('an event about the organization updates the owners, and so does signing in', async () => {
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

test('roles granted by GitHub are changed on GitHub; an owner who leaves stays out until they sign in', async () => {
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

test('an owner appointed by both GitHub and a person remains owner', async () => {
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
  // The last owner is no longer an admin, and the only admin has left.
  admins = ['lisa'];
  await sync();
  const { body } = await as('lisa')('GET', '/projects');
  expect(body.map((p: { id: string; role: string }) => [p.id, p.role])).toEqual([[projectId, 'owner']]);
});

test('members of an account are told apart from invited people, and from those whom GitHub did not answer about', async () => {
  expect(await signIn('nina')).toEqual({ isMember: true, problem: undefined });
  state = 'pending';
  expect(await signIn('nina')).toEqual({ isMember: false, problem: undefined });
  state = 'active';
  organization = { id: 8, login: 'acme' };
  expect(await signIn('nina')).toEqual({ isMember: false, problem: undefined });
  organization = { id: 7, login: 'acme' };
  isFailing = true;
  expect(await signIn('nina')).toEqual({ isMember: false, problem: undefined });
  isFailing = false;
  // The webhook of the installation has not arrived.
  await service.app.db.manager.query('delete from installations');
  expect(await signIn('nina')).toEqual({ isMember: true, problem: undefined });
  service.app.github = {
    ...service.app.github,
    asApp: () => Promise.reject(new Error('hang up')),
  } as typeof service.app.github;
  expect(await signIn('nina')).toEqual({ isMember: false, problem: expect.any(Error) });
});
