import { openTestApp, type TestApp } from '../../support/app.ts';
import { appSettings } from '../../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../../support/stand-ins/fake-github.ts';

interface Issue {
  number: number;
  title: string;
  body: string | null;
  state: string;
  pull_request?: object;
}

/** The issues and pull requests of acme/app on GitHub. */
let issues: Issue[] = [];
const issue = (number: number, more: Partial<Issue> = {}): Issue => ({
  number,
  title: `Issue ${number}`,
  body: 'please',
  state: 'open',
  ...more,
});
const shown = (each: Issue) => ({
  ...each,
  html_url: `${github.url}/acme/app/issues/${each.number}`,
  repository_url: `${github.url}/repos/acme/app`,
  labels: ['bug', { name: 'help wanted' }, {}],
  user: each.number === 1 ? null : { login: 'mona' },
  created_at: '2026-01-05T10:00:00Z',
});
const repository = (name: string, more: object = {}) => ({
  id: name.length,
  name: name.split('/')[1],
  full_name: name,
  private: true,
  default_branch: 'trunk',
  ...more,
});

let github: FakeGitHub;
let service: TestApp;
let token: string;
let project: string;
let repositoryId: string;
const call = (method: string, path: string, body?: unknown, as = token) =>
  service.call(method, path, { token: as, ...(body === undefined ? {} : { body }) });
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const newProject = async (name: string, as = token): Promise<string> =>
  (await call('POST', '/projects', { name }, as)).body.id;
const connect = async (name: string): Promise<string> =>
  (await call('POST', '/repositories', { projectId: project, name, url: `${github.url}/acme/${name}` })).body.id;
const install = (on: string, number: number, login: string) =>
  sql(
    `insert into installations (installation_id, account_login, account_id, account_type, status, project_id)
     values ($1::int, $2, $1::int, 'Organization', 'active', $3)`,
    [number, login, on],
  );
const importing = (body: object, as = token) => call('POST', `/repositories/${repositoryId}/issues`, body, as);
const tasks = async () => (await call('GET', `/projects/${project}/tasks`)).body;

beforeAll(async () => {
  github = await openFakeGitHub([
    [/^GET \/app\/installations/, () => []],
    [/^GET \/users\/(.+)$/, ([, login = '']) => ({ id: Buffer.from(login).readUIntBE(0, 4), login, avatar_url: '' })],
    [
      /^GET \/installation\/repositories/,
      () => {
        const repositories = [
          repository('acme/zoo'),
          repository('acme/app'),
          repository('acme/old', { archived: true }),
        ];
        return { total_count: repositories.length, repositories };
      },
    ],
    [/^GET \/repos\/acme\/app$/, () => repository('acme/app')],
    [/^GET \/repos\/acme\/app\/issues\?/, () => issues.filter(({ state }) => state === 'open').map(shown)],
    [
      /^GET \/repos\/acme\/app\/issues\/(\d+)$/,
      ([, number]) => {
        const found = issues.find((each) => each.number === Number(number));
        return found && shown(found);
      },
    ],
  ]);
  service = await openTestApp({ ...appSettings(github.url), ALLOW_PRIVATE_HOSTS: 'true' });
  token = await service.token('octocat');
});
beforeEach(async () => {
  await sql('delete from installations');
  project = await newProject('P');
  repositoryId = await connect('app');
  await install(project, 7, 'acme');
  await sql('update repositories set is_installed = true where id = $1', [repositoryId]);
  issues = [issue(1), issue(2), issue(3, { pull_request: {} }), issue(4, { state: 'closed' })];
});
afterAll(async () => {
  await service.close();
  github.close();
});

test('open issues are listed without pull requests, with their tasks', async () => {
  const { imported } = (await importing({ numbers: [2] })).body;
  expect((await call('GET', `/repositories/${repositoryId}/issues`)).body).toEqual([
    {
      number: 1,
      title: 'Issue 1',
      url: `${github.url}/acme/app/issues/1`,
      author: null,
      labels: ['bug', 'help wanted', ''],
      createdAt: '2026-01-05T10:00:00Z',
      taskId: null,
    },
    expect.objectContaining({ number: 2, author: 'mona', taskId: imported[0].taskId }),
  ]);
});

test('each open issue becomes one task, linked to it; the others are skipped with the reason', async () => {
  const [agent] = (await call('GET', `/agents?projectId=${project}`)).body;
  const first = await importing({ numbers: [4, 2, 3, 2, 99], status: 'ready', owner: agent.name.toUpperCase() });
  expect(first.status).toBe(200);
  expect(first.body).toEqual({
    imported: [{ number: 2, taskId: expect.stringMatching(/^task_/) }],
    skipped: [
      { number: 3, reason: 'Number 3 is a pull request.', taskId: null },
      { number: 4, reason: 'Issue 4 is closed.', taskId: null },
      { number: 99, reason: 'GitHub shows no issue 99: it does not exist, or the App may not read it.', taskId: null },
    ],
  });
  const [{ taskId }] = first.body.imported;
  expect(await tasks()).toMatchObject([
    { id: taskId, title: 'Issue 2', description: 'please', status: 'ready', owner: agent.id, issueNumber: 2 },
  ]);
  expect((await importing({ numbers: [2] })).body).toEqual({
    imported: [],
    skipped: [{ number: 2, reason: 'Issue 2 has a task already.', taskId }],
  });
  expect(await tasks()).toHaveLength(1);
});

test('imports at the same time create one task for each issue', async () => {
  issues = Array.from({ length: 12 }, (_, i) => issue(i + 1));
  const numbers = issues.map(({ number }) => number);
  const replies = await Promise.all(
    [numbers, numbers.toReversed(), numbers].map((each) => importing({ numbers: each })),
  );
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(replies.flatMap(({ body }) => body.imported)).toHaveLength(12);
  expect((await tasks()).map(({ issueNumber }: { issueNumber: number }) => issueNumber).sort()).toEqual(
    [...numbers].sort(),
  );
});

test('an import needs the App, an agent of the project, and membership', async () => {
  const stranger = await service.token('stranger');
  expect((await importing({ numbers: [1] }, stranger)).status).toBe(404);
  expect((await importing({ numbers: [] })).status).toBe(400);
  const wrong = await importing({ numbers: [1], owner: 'agent_unknown' });
  expect([wrong.status, wrong.body.errors?.[0].path]).toEqual([400, 'owner']);
  await sql('update repositories set is_installed = false where id = $1', [repositoryId]);
  const without = await importing({ numbers: [1] });
  expect([without.status, without.body.message]).toEqual([
    503,
    expect.stringMatching(
      /^The GitHub App is not installed on this repository, or its installation belongs to another project/,
    ),
  ]);
  expect(await tasks()).toEqual([]);
});

test('admins pick from the repositories of the account, by name, without archived ones', async () => {
  const path = `/projects/${project}/installed-repositories`;
  expect((await call('GET', path)).body).toEqual([
    {
      fullName: 'acme/app',
      name: 'app',
      url: `${github.url}/acme/app`,
      defaultBranch: 'trunk',
      isPrivate: true,
      isConnected: true,
    },
    expect.objectContaining({ fullName: 'acme/zoo', isConnected: false }),
  ]);
  const member = await service.token('member');
  await call('POST', `/projects/${project}/members`, { login: 'member' });
  expect((await call('GET', path, undefined, member)).status).toBe(403);
});

test("in another project, only admins of the installation's project see its repositories", async () => {
  const another = await newProject('Another');
  const names = async (on: string, as = token) =>
    (await call('GET', `/projects/${on}/installed-repositories`, undefined, as)).body.map(
      (each: { fullName: string }) => each.fullName,
    );
  expect(await names(another)).toEqual(['acme/app', 'acme/zoo']);
  const mate = await service.token('mate');
  const theirs = await newProject('Theirs', mate);
  expect(await names(theirs, mate)).toEqual([]);
  const { body } = await call('POST', `/projects/${project}/members`, { login: 'mate' });
  expect(await names(theirs, mate)).toEqual([]);
  await call('PATCH', `/projects/${project}/members/${body.userId}`, { role: 'admin' });
  expect(await names(theirs, mate)).toEqual(['acme/app', 'acme/zoo']);
});
