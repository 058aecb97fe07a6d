import { Repositories, type RepositoryRow } from '../../src/db/tables/project.ts';
import { setSecret } from '../../src/environment/secrets/secrets.ts';
import { syncInstallation } from '../../src/github/app/installation.ts';
import { handleCommands } from '../../src/github/commands/handle-commands.ts';
import { sayOnce } from '../../src/github/comments.ts';
import { type Credential, remoteFor } from '../../src/repositories/credentials.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { appSettings } from '../support/github-app.ts';
import type { FakeGitHub } from '../support/stand-ins/fake-github.ts';
import {
  around,
  asked,
  installations,
  looked,
  openNamedGitHub,
  people,
  repositories,
  resetNames,
  shown,
  writers,
} from '../support/stand-ins/named-github.ts';

let github: FakeGitHub;
let service: TestApp;
let url: string;
beforeAll(async () => {
  github = await openNamedGitHub();
  url = github.url;
  service = await openTestApp({ ...appSettings(url), OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'm' });
});
beforeEach(async () => {
  resetNames();
  service.app.github?.refused.clear();
  await syncInstallation(service.app, installations[0] as (typeof installations)[0], true);
});
afterAll(async () => {
  await service.close();
  github.close();
});

/**
 * Creates a project of mona's with a connected repository of acme's. `start` returns the HTTP status of starting a task
 * in it.
 */
async function connected(name = 'acme/secret') {
  writers.add('100 2');
  const token = await service.token('mona');
  const post = async (path: string, body?: object) => (await service.call('POST', path, { token, body })).body;
  const project = (await post('/projects', { name: 'Elsewhere' })).id;
  const { id } = await post('/repositories', { projectId: project, name: 'r', url: `${url}/${name}` });
  const agents = (await service.call('GET', `/agents?projectId=${project}`, { token })).body;
  const start = async () => {
    const task = await post(`/projects/${project}/tasks`, { title: 't', owner: agents[0].id });
    return (await service.call('POST', `/tasks/${task.id}/start`, { token })).status;
  };
  const members = async () => (await service.call('GET', `/projects/${project}/members`, { token })).body;
  const validate = () => post(`/repositories/${id}/validate`);
  const giveGitToken = () => post(`/projects/${project}/git-token`, { token: 'ghp_x' });
  return { start, members, validate, giveGitToken };
}

const say = (id: number, login: string, body: string, number = 1, fullName = 'acme/app') =>
  handleCommands(service.app, {
    installationId: 1,
    repository: { id: 1, private: true, full_name: fullName },
    issue: { number, title: 'An issue', body: '', url: `${url}/acme/app/issues/${number}`, isPull: false },
    sender: shown(id, login),
    body,
    commentId: number * 1000,
    writtenAt: new Date().toISOString(),
  });
const taskOf = async (number: number) =>
  (await service.app.db.manager.query('select id from tasks where issue_number = $1', [number])).length;

test('a repository is accessible to the person who connected it, not to the new owner of their login', async () => {
  const { start, members } = await connected();
  expect(await start()).toBe(200);
  people.set(100, 'lisa').set(200, 'mona');
  writers.clear();
  writers.add('200 2');
  looked.length = 0;
  expect(await start()).toBe(503);
  const asksAboutLisa = () => looked.filter((path) => path.includes('/collaborators/')).length;
  const before = asksAboutLisa();
  expect(before).toBeGreaterThan(0);
  // Within a minute, nothing more is asked with the installation of somebody else.
  expect(await start()).toBe(503);
  expect(asksAboutLisa()).toBe(before);
  writers.add('100 2');
  service.app.github?.refused.clear();
  expect(await start()).toBe(200);
  expect((await members()).map((m: { login: string }) => m.login)).toEqual(['lisa']);
});

test('a late command counts for the person who wrote it, whatever their login is now', async () => {
  people.set(100, 'lisa').set(200, 'mona');
  writers.add('200 1');
  await say(100, 'mona', '/agent create', 11);
  expect(await taskOf(11)).toBe(0);
  writers.add('100 1');
  await say(100, 'mona', '/agent create', 12);
  expect(await taskOf(12)).toBe(1);
  const rows = await service.app.db.manager.query('select login from users where github_id = 100');
  expect(rows).toEqual([{ login: 'lisa' }]);
});

test('another repository under the old name does not count as the one that was connected', async () => {
  const { start, validate, giveGitToken } = await connected();
  await validate();
  const [token] = asked.filter(({ body }) => Array.isArray(body.repository_ids));
  expect(token?.body).toMatchObject({ repository_ids: [2], permissions: { contents: 'read' } });
  expect(await start()).toBe(200);
  repositories.set('acme/secret', 3);
  writers.add('100 3');
  expect(await start()).toBe(503);
  await giveGitToken();
  expect(await start()).toBe(503);
});

/** Returns where to fetch acme/app from, as the repository with this number on GitHub. */
async function remoteAs(githubId: number | null, credential: Credential) {
  const [row] = await service.app.db.manager.find(Repositories, { where: { githubId: 1 } });
  return remoteFor(service.app, { ...(row as RepositoryRow), githubId }, credential, {});
}
const gitToken = { kind: 'git-token', token: 'ghp_x', owner: 'acme', repo: 'app' } as const;

test('another repository under the old name gets no objects that were kept of the connected one', async () => {
  const first = await remoteAs(1, gitToken);
  repositories.set('acme/app', 3);
  expect((await remoteAs(3, gitToken)).scope).not.toBe(first.scope);
});

test.each<[string, Credential]>([
  ['a git token', gitToken],
  ['an installation', { kind: 'installation', installationId: 1, owner: 'acme', repo: 'app', githubId: 1 }],
])('nothing is fetched with %s from another repository under the old name, or from none', async (_, credential) => {
  expect((await remoteAs(1, credential)).url).toBe(`${url}/acme/app`);
  repositories.set('acme/app', 3);
  await expect(remoteAs(1, credential)).rejects.toThrow('that address belongs to another repository now');
  repositories.delete('acme/app');
  await expect(remoteAs(1, credential)).rejects.toThrow('GitHub shows no repository there');
});

test('without an installation, a repository that became private counts as private from its next fetch on', async () => {
  const { manager } = service.app.db;
  await manager.update(Repositories, { githubId: 1 }, { isPrivate: false, isInstalled: false });
  const row = await manager.findOneByOrFail(Repositories, { githubId: 1 });
  const stored = async () => (await manager.findOneByOrFail(Repositories, { githubId: 1 })).isPrivate;
  // What GitHub shows at the address of another repository says nothing about this one.
  repositories.set('acme/app', 3);
  await expect(remoteFor(service.app, row, gitToken, {})).rejects.toThrow('another repository now');
  expect([row.isPrivate, await stored()]).toEqual([false, false]);
  repositories.set('acme/app', 1);
  await remoteFor(service.app, row, gitToken, {});
  expect([row.isPrivate, await stored()]).toEqual([true, true]);
});

test('a repository whose number is known is not fetched without a credential, because nobody can compare it', async () => {
  await expect(remoteAs(1, { kind: 'none' })).rejects.toThrow('No git credential for the repository');
  expect((await remoteAs(null, { kind: 'none' })).url).toBe(`${url}/acme/app`);
});

describe('a repository that was connected while nobody could ask for its number', () => {
  const em = () => service.app.db.manager;
  let row: RepositoryRow;
  beforeEach(async () => {
    const id = await em().query(`update repositories set github_id = null where github_id = 1 returning id`);
    row = await em().findOneByOrFail(Repositories, { id: id[0][0].id });
  });
  afterEach(() => em().update(Repositories, { id: row.id }, { githubId: 1 }));
  const stored = async () => (await em().findOneByOrFail(Repositories, { id: row.id })).githubId;

  test('is the one that GitHub shows at the first fetch with a credential', async () => {
    const { scope } = await remoteFor(service.app, row, gitToken, {});
    expect([scope, await stored()]).toEqual([`${row.projectId} 1`, 1]);
    repositories.set('acme/app', 3);
    await expect(remoteFor(service.app, { ...row, githubId: 1 }, gitToken, {})).rejects.toThrow(
      'another repository now',
    );
    // A run that began before the number was stored still has no number.
    await expect(remoteFor(service.app, row, gitToken, {})).rejects.toThrow('another repository now');
    expect(await stored()).toBe(1);
  });

  test('is fetched without a credential only while it has no secrets', async () => {
    expect((await remoteFor(service.app, row, { kind: 'none' }, {})).url).toBe(row.url);
    const secret = { value: 'a-token-of-npm', repositories: [row.id], hosts: [] };
    await setSecret(service.app, row.projectId, 'NPM_TOKEN', secret);
    await expect(remoteFor(service.app, row, { kind: 'none' }, {})).rejects.toThrow('No git credential');
  });
});

test('the current name of a renamed repository is looked up before a command in it is handled', async () => {
  repositories.delete('acme/app');
  repositories.set('acme/renamed', 1).set('acme/app', 3);
  // Mona may write in the new repository that has the old name. That gives her no permission in this one.
  writers.add('100 3');
  await say(100, 'mona', '/agent create', 21, 'acme/renamed');
  expect(await taskOf(21)).toBe(0);
  writers.clear();
  writers.add('100 1');
  await say(100, 'mona', '/agent create', 22, 'acme/renamed');
  // The comment was written before the repository was renamed and delivered afterwards.
  await say(100, 'mona', '/agent create', 23, 'acme/app');
  expect([await taskOf(22), await taskOf(23)]).toEqual([1, 1]);
});

test('an account that took over the name of another one gets only its own installation', async () => {
  const { start } = await connected();
  const other = { id: 2, account: { id: 8, login: 'acme', type: 'User' }, suspended_at: null };
  people.delete(7);
  people.set(8, 'acme');
  await syncInstallation(service.app, other, true);
  asked.length = 0;
  await start();
  expect(asked.map(({ path }) => path).filter((path) => path.includes('/1/'))).toEqual([]);
  const rows = await service.app.db.manager.query(
    `select account_id::int as id from installations where account_login = 'acme'`,
  );
  expect(rows).toEqual([{ id: 8 }]);
  await service.app.db.manager.query('delete from installations where account_id = 8');
});

test('our comment is recognized by the id of its author', async () => {
  const octokit = await service.app.github?.asInstallation(1);
  const place = { owner: 'acme', repo: 'app', issue_number: 1 };
  const comment = () =>
    sayOnce(service.app, octokit as NonNullable<typeof octokit>, place, '<!-- m -->', '<!-- m -->\nx');
  // The first was posted when the App had another name, the second by somebody who took the App's name.
  around.comments = [{ id: 5, body: '<!-- m -->\nx', user: { id: 41, login: 'old-name[bot]' } }];
  await comment();
  expect(asked.filter(({ path }) => path.includes('/comments'))).toEqual([]);
  around.comments = [{ id: 6, body: '<!-- m -->\nx', user: { id: 999, login: 'deckhand[bot]' } }];
  await comment();
  expect(asked.filter(({ path }) => path.includes('/comments'))).toHaveLength(1);
});
