import type { ServerResponse } from 'node:http';
import { followRepository, syncInstallation } from '../../src/github/app/installation.ts';
import { redeliverFailed } from '../../src/github/inbox/redeliver.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { appSettings } from '../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../support/stand-ins/fake-github.ts';

const account = { id: 7, login: 'acme', type: 'User' };
const installation = { id: 1, account, suspended_at: null };
let repositories: {
  id: number;
  name: string;
  full_name: string;
  private: boolean;
  archived?: boolean;
  default_branch: string;
}[];
let hookDeliveries: { id: string; guid: string; status_code: number }[] = [];
const deliveriesOfAPage = 100;
const asked: string[] = [];
let github: FakeGitHub;
let service: TestApp;
let token: string;

const repository = (id: number, name: string, more: object = {}) => ({
  id,
  name,
  full_name: `acme/${name}`,
  private: true,
  default_branch: 'main',
  ...more,
});

function pageOfDeliveries(from: number, res: ServerResponse) {
  const next = from + deliveriesOfAPage;
  const address = `${github.url}/app/hook/deliveries?cursor=${next}`;
  if (next < hookDeliveries.length) res.setHeader('Link', `<${address}>; rel="next"`);
  return hookDeliveries.slice(from, next).map((delivery) => ({ ...delivery, id: exact(delivery.id) }));
}

/** GitHub's ids of deliveries exceed 2^53 since 2026 (https://github.com/octokit/request.js/issues/797). */
const idOf = (n: number) => String(3804004623172230000n + BigInt(n));
const { rawJSON: exact } = JSON as unknown as { rawJSON(text: string): unknown };
const asksAgain = (n: number) => `POST /app/hook/deliveries/${idOf(n)}/attempts`;
let refusedAttempt = '';

beforeAll(async () => {
  github = await openFakeGitHub(
    [
      [/^GET \/installation\/repositories/, () => ({ total_count: repositories.length, repositories })],
      [/^GET \/app\/installations\/1/, () => installation],
      [/^GET \/app\/installations/, () => [installation]],
      [/^GET \/users\/acme/, () => ({ ...account, name: 'Acme', avatar_url: '' })],
      [
        /^POST \/app\/hook\/deliveries/,
        ({ input }, res) => {
          if (input === refusedAttempt) res.statusCode = 400;
          return {};
        },
      ],
      [/^GET \/app\/hook\/deliveries(?:.*cursor=(\d+))?/, ([, from], res) => pageOfDeliveries(Number(from ?? 0), res)],
      [/^POST .*\/labels/, () => ({})],
      [/^GET .*\/labels/, () => []],
    ],
    (req) => asked.push(`${req.method} ${req.url}`),
  );
  service = await openTestApp({ ...appSettings(github.url), OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'm' });
  repositories = [repository(1, 'one'), repository(2, 'two')];
  await syncInstallation(service.app, installation, true);
  const owner = await service.app.db.manager.query('select login from users');
  token = await service.token(owner[0].login);
});
afterAll(async () => {
  await service.close();
  github.close();
});

const list = async () =>
  (await service.call('GET', '/repositories', { token })).body as { id: string; url: string; name: string }[];
const tell = (id: number, branchBefore?: string) => {
  const { default_branch = 'main' } = repositories.find((r) => r.id === id) ?? {};
  return followRepository(service.app, { installation: { id: 1 }, repository: { id, default_branch } }, branchBefore);
};
const nameOf = (url: string) => url.split('/').slice(-2).join('/');

test('our labels are created when the App is installed', () => {
  expect(asked.filter((a) => a === 'POST /repos/acme/one/labels')).toHaveLength(9);
});

test('two repositories that swap their names keep their ids', async () => {
  const before = await list();
  repositories = [repository(1, 'two'), repository(2, 'one')];
  await tell(1);
  const after = await list();
  expect(after.map((r) => [r.id, nameOf(r.url)])).toEqual([
    [before[0]?.id, 'acme/two'],
    [before[1]?.id, 'acme/one'],
  ]);
});

test("the default branch follows GitHub's, unless it was changed here", async () => {
  const [one, two] = await list();
  await service.call('PATCH', `/repositories/${two?.id}`, { token, body: { defaultBranch: 'mine' } });
  repositories = repositories.map((r) => ({ ...r, default_branch: 'trunk' }));
  for (const id of [1, 2]) await tell(id, 'main');
  const branch = async (id = '') => (await service.call('GET', `/repositories/${id}`, { token })).body.defaultBranch;
  expect([await branch(one?.id), await branch(two?.id)]).toEqual(['trunk', 'mine']);
});

test('nothing is started in an archived repository', async () => {
  repositories = repositories.map((r) => ({ ...r, archived: true }));
  await tell(1);
  const [{ id: projectId }] = (await service.call('GET', '/projects', { token })).body;
  const agents = (await service.call('GET', '/agents', { token })).body;
  const body = { title: 't', owner: agents[0].id };
  const task = (await service.call('POST', `/projects/${projectId}/tasks`, { token, body })).body;
  const answer = await service.call('POST', `/tasks/${task.id}/start`, { token });
  expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining('archived')]);
});

test('a repository that the installation no longer covers keeps its history and gets no token', async () => {
  repositories = [repository(1, 'two')];
  await tell(2);
  expect(await list()).toHaveLength(2);
  const rows = await service.app.db.manager.query(
    'select github_id::int as id, is_installed as ours from repositories order by 1',
  );
  expect(rows).toEqual([
    { id: 1, ours: true },
    { id: 2, ours: false },
  ]);
});

test('a new repository under the name of a deleted one is a different repository', async () => {
  const before = await list();
  repositories = [repository(1, 'two'), repository(3, 'one')];
  await tell(1);
  const after = await list();
  expect(after).toHaveLength(3);
  const gone = after.find((r) => r.id === before.find((each) => nameOf(each.url) === 'acme/one')?.id);
  const rows = await service.app.db.manager.query(
    'select github_id::int as id, url, is_installed as ours from repositories order by 1',
  );
  expect(gone?.url).toContain('/acme/one/replaced/');
  expect(
    rows.map((r: { id: number; url: string; ours: boolean }) => [r.id, r.url.endsWith('/acme/one'), r.ours]),
  ).toEqual([
    [1, false, true],
    [2, false, false],
    [3, true, true],
  ]);
  expect((await service.call('POST', `/repositories/${gone?.id}/validate`, { token })).body.valid).toBe(false);
});

test('GitHub is asked once to redeliver failed deliveries, except those that arrived', async () => {
  await service.app.db.manager.query(
    `insert into deliveries (guid, event, signature, payload) values ('have', 'ping', '', '{}')`,
  );
  hookDeliveries = [
    { id: idOf(14), guid: 'failed', status_code: 502 },
    { id: idOf(13), guid: 'have', status_code: 500 },
    { id: idOf(12), guid: 'fine', status_code: 202 },
    { id: idOf(11), guid: 'never', status_code: 0 },
  ];
  const again = () => asked.filter((a) => a.startsWith('POST /app/hook/deliveries/'));
  await Promise.all([redeliverFailed(service.app), redeliverFailed(service.app)]);
  expect(again()).toEqual([asksAgain(11), asksAgain(14)]);
  hookDeliveries = [{ id: idOf(15), guid: 'later', status_code: 503 }, ...hookDeliveries];
  await redeliverFailed(service.app);
  expect(again()).toHaveLength(3);
});

test('after a long outage every page of deliveries is read', async () => {
  asked.length = 0;
  const failed = { id: idOf(16), guid: 'first of the outage', status_code: 0 };
  const arrived = Array.from({ length: 1500 }, (_, i) => ({ id: idOf(2000 - i), guid: `g${i}`, status_code: 202 }));
  hookDeliveries = [...arrived, failed, ...hookDeliveries];
  await redeliverFailed(service.app);
  expect(asked.filter((a) => a.startsWith('POST /app/hook'))).toEqual([asksAgain(16)]);
});

test('a redelivery that GitHub refuses does not hold up the newer ones', async () => {
  asked.length = 0;
  refusedAttempt = asksAgain(2100);
  const failed = (n: number) => ({ id: idOf(n), guid: `refused ${n}`, status_code: 500 });
  hookDeliveries = [failed(2101), failed(2100)];
  await redeliverFailed(service.app);
  expect(asked.filter((a) => a.startsWith('POST /app/hook'))).toEqual([asksAgain(2100), asksAgain(2101)]);
});

test('redelivery of a delivery that always fails is requested ten times', async () => {
  const before = asked.length;
  for (let id = 3000; id < 3012; id++) {
    hookDeliveries = [{ id: idOf(id), guid: 'too large', status_code: 413 }];
    await redeliverFailed(service.app);
  }
  expect(asked.slice(before).filter((a) => a.startsWith('POST /app/hook/deliveries/'))).toHaveLength(10);
});

test('a repository that takes over the name of one that GitHub was never asked about gets none of its secrets', async () => {
  const em = service.app.db.manager;
  const [{ id: projectId }] = (await service.call('GET', '/projects', { token })).body;
  const url = (await list())[0]?.url.replace(/[^/]+$/, 'unknown');
  const { id } = (await service.call('POST', '/repositories', { token, body: { projectId, name: 'unknown', url } }))
    .body;
  const secrets = `/projects/${projectId}/environment-secrets`;
  await service.call('PUT', `${secrets}/TOKEN`, { token, body: { value: 'k'.repeat(30), repositories: [id] } });
  const belongsTo = async () => (await service.call('GET', secrets, { token })).body[0].repositories;
  expect(await belongsTo()).toEqual([id]);
  repositories = [...repositories, repository(9, 'unknown')];
  await tell(9);
  expect((await em.query('select github_id::int as number from repositories where id = $1', [id]))[0]?.number).toBe(9);
  expect(await belongsTo()).toEqual([]);
});
