import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { syncInstallation } from '../../src/github/app/installation.ts';
import { handleCommands } from '../../src/github/commands/handle-commands.ts';
import { sayOnce } from '../../src/github/commands/replies.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { privateKey } from '../support/keys.ts';

/** A GitHub in which people and repositories change their names: who and what they are is their number. */
const people = new Map<number, string>();
const repositories = new Map<string, number>();
/** Who may write in which repository, by numbers. */
const writers = new Set<string>();
const installations = [{ id: 1, account: { id: 7, login: 'acme', type: 'User' }, suspended_at: null }];
let comments: { id: number; body: string; user: { id: number; login: string } }[] = [];
/** What tokens were asked for, and what was written. */
const asked: { path: string; body: Record<string, unknown> }[] = [];

const shown = (id: number, login: string) => ({ id, login, name: null, avatar_url: '', type: 'User' });
const idOf = (login: string) => [...people].find(([, name]) => name === login)?.[0];
const repository = (name: string) => ({
  id: repositories.get(name),
  name: name.split('/')[1],
  full_name: name,
  private: true,
  default_branch: 'main',
});

/** What GitHub answers to a GET; undefined is 404. */
function read(path: string): object | undefined {
  const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
  if (name !== '' && !repositories.has(name)) return undefined;
  const [, collaborator] = /^\/collaborators\/([^/]+)\/permission$/.exec(rest) ?? [];
  if (collaborator !== undefined) {
    const id = idOf(collaborator);
    const may = writers.has(`${id} ${repositories.get(name)}`);
    return id === undefined
      ? undefined
      : { permission: may ? 'write' : 'read', role_name: '', user: shown(id, collaborator) };
  }
  if (rest.startsWith('/issues/1/comments')) return comments;
  if (rest.startsWith('/issues/comments/')) return {};
  if (rest.startsWith('/labels')) return [];
  if (rest !== '') return undefined;
  if (name !== '') return repository(name);
  const byId = Number(/^\/user\/(\d+)$/.exec(path)?.[1]);
  const id = byId || idOf(decodeURIComponent(/^\/users\/(.+)$/.exec(path)?.[1] ?? ''));
  const login = id && people.get(id);
  if (login) return shown(id, login);
  if (path === '/app') return { slug: 'deckhand' };
  if (path.startsWith('/app/installations/')) return installations[0];
  return path.startsWith('/app/installations') ? installations : undefined;
}

let github: Server;
let service: TestApp;
let url: string;
beforeAll(async () => {
  github = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    const path = req.url ?? '';
    const json = (status: number, body: unknown) =>
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (req.method !== 'GET') {
      asked.push({ path, body: text === '' ? {} : JSON.parse(text) });
      const ends = { token: 'ghs_x', expires_at: new Date(Date.now() + 3_600_000).toISOString() };
      return json(201, { id: 1, ...(path.endsWith('/access_tokens') ? ends : {}) });
    }
    if (path.startsWith('/installation/repositories')) {
      const found = [...repositories.keys()].filter((name) => name.startsWith('acme/')).map(repository);
      return json(200, { total_count: found.length, repositories: found });
    }
    const found = read(path);
    json(found === undefined ? 404 : 200, found ?? { message: 'Not Found' });
  });
  await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(github.address() as AddressInfo).port}`;
  service = await openTestApp({
    APP_ID: '1',
    PRIVATE_KEY: privateKey,
    WEBHOOK_SECRET: 'x',
    GITHUB_API_URL: url,
    GITHUB_SERVER_URL: url,
    OPENAI_API_KEY: 'sk-x',
    OPENAI_MODEL: 'm',
  });
});
beforeEach(async () => {
  for (const each of [people, repositories, writers]) each.clear();
  for (const [id, login] of [
    [7, 'acme'],
    [100, 'mona'],
    [41, 'deckhand[bot]'],
  ] as const)
    people.set(id, login);
  repositories.set('acme/app', 1);
  repositories.set('acme/secret', 2);
  comments = [];
  asked.length = 0;
  await syncInstallation(service.app, installations[0] as (typeof installations)[0], true);
});
afterAll(async () => {
  await service.close();
  github.close();
  github.closeAllConnections();
});

/** A project of mona's, who connects acme's repository to it; answers how a start of a task there ends. */
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
  return { start, members, validate };
}

const say = (id: number, login: string, body: string, number = 1, fullName = 'acme/app') =>
  handleCommands(service.app, {
    installationId: 1,
    repository: { id: 1, private: true, full_name: fullName },
    issue: { number, title: 'An issue', body: '', url: `${url}/acme/app/issues/${number}`, isPull: false },
    sender: shown(id, login),
    body,
    commentId: number * 1000,
  });
const taskOf = async (number: number) =>
  (await service.app.db.manager.query('select id from tasks where issue_number = $1', [number])).length;

test('a repository opens for the person who connected it, not for whoever has their login now', async () => {
  const { start, members } = await connected();
  expect(await start()).toBe(200);
  people.set(100, 'lisa').set(200, 'mona');
  writers.clear();
  writers.add('200 2');
  expect(await start()).toBe(503);
  writers.add('100 2');
  expect(await start()).toBe(200);
  expect((await members()).map((m: { login: string }) => m.login)).toEqual(['lisa']);
});

test('a command that comes late counts for whom it was of, under whatever login', async () => {
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

test('another repository under the old name is not the one that was connected', async () => {
  const { start, validate } = await connected();
  await validate();
  const [token] = asked.filter(({ body }) => Array.isArray(body.repository_ids));
  expect(token?.body).toMatchObject({ repository_ids: [2], permissions: { contents: 'read' } });
  expect(await start()).toBe(200);
  repositories.set('acme/secret', 3);
  writers.add('100 3');
  expect(await start()).toBe(503);
});

test('a repository that was renamed is followed before anybody is obeyed in it', async () => {
  repositories.delete('acme/app');
  repositories.set('acme/renamed', 1).set('acme/app', 3);
  // Of mona's right on the new repository under the old name nothing follows for this one.
  writers.add('100 3');
  await say(100, 'mona', '/agent create', 21, 'acme/renamed');
  expect(await taskOf(21)).toBe(0);
  writers.clear();
  writers.add('100 1');
  await say(100, 'mona', '/agent create', 22, 'acme/renamed');
  // Said before the renaming, told after it.
  await say(100, 'mona', '/agent create', 23, 'acme/app');
  expect([await taskOf(22), await taskOf(23)]).toEqual([1, 1]);
});

test('an account that took over the name of another one gets its own installation only', async () => {
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

test('our comment is known by the number of its author', async () => {
  const octokit = await service.app.github?.asInstallation(1);
  const place = { owner: 'acme', repo: 'app', issue_number: 1 };
  const speak = () =>
    sayOnce(service.app, octokit as NonNullable<typeof octokit>, place, '<!-- m -->', '<!-- m -->\nx');
  // Posted when the App had another name, and by somebody who calls themselves like it.
  comments = [{ id: 5, body: '<!-- m -->\nx', user: { id: 41, login: 'old-name[bot]' } }];
  await speak();
  expect(asked.filter(({ path }) => path.includes('/comments'))).toEqual([]);
  comments = [{ id: 6, body: '<!-- m -->\nx', user: { id: 999, login: 'deckhand[bot]' } }];
  await speak();
  expect(asked.filter(({ path }) => path.includes('/comments'))).toHaveLength(1);
});
