import { createHmac, randomUUID } from 'node:crypto';
import type { App } from '../../../src/app.ts';
import { handleDelivery, parsePayload } from '../../../src/github/inbox/receive.ts';
import { forTenant } from '../../../src/threads/tenant.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { createTestDatabase } from '../../support/database.ts';
import { privateKey } from '../../support/github-app.ts';
import { headOf, openRaw } from '../../support/http/raw-http.ts';
import { startPostgresProxy } from '../../support/stand-ins/postgres-proxy.ts';

const [secret, previous] = ['a secret of this test', 'the secret before'];
let service: TestApp;
const settings = { APP_ID: '1', PRIVATE_KEY: privateKey, WEBHOOK_SECRET: secret, WEBHOOK_SECRET_PREVIOUS: previous };
beforeAll(async () => {
  service = await openTestApp(settings);
});
afterAll(() => service.close());

const sign = (body: Buffer | string, by = secret) => `sha256=${createHmac('sha256', by).update(body).digest('hex')}`;

async function post(body: Buffer | string, headers: Record<string, string> = {}, to = service) {
  const response = await fetch(`${to.url}/api/github/webhooks`, {
    method: 'POST',
    body: body as never,
    headers: {
      'Content-Type': 'application/json',
      'X-GitHub-Event': 'ping',
      'X-GitHub-Delivery': randomUUID(),
      'X-Hub-Signature-256': sign(body),
      ...headers,
    },
  });
  return { status: response.status, body: (await response.json()) as { status?: string; statusCode?: number } };
}
const count = async (what: string, where = '') =>
  Number((await service.app.db.manager.query(`select count(*) from ${what} ${where}`))[0].count);

test('a delivery signed with either secret is stored and queued', async () => {
  expect(await post('{"zen":1}')).toEqual({ status: 202, body: { status: 'accepted' } });
  expect((await post('{"zen":2}', { 'X-Hub-Signature-256': sign('{"zen":2}', previous) })).status).toBe(202);
  expect(await count('deliveries')).toBe(2);
  expect(await count('pgboss.job', `where name = 'delivery'`)).toBe(2);
});

test.each([
  ['no signature', { 'X-Hub-Signature-256': '' }],
  ['a wrong one', { 'X-Hub-Signature-256': sign('{"a":2}') }],
  ['another secret', { 'X-Hub-Signature-256': sign('{"a":1}', 'development') }],
  [
    'the old algorithm',
    {
      'X-Hub-Signature-256': '',
      'X-Hub-Signature': `sha1=${createHmac('sha1', secret).update('{"a":1}').digest('hex')}`,
    },
  ],
])('%s is refused with 401 and not stored', async (_name, headers) => {
  const before = await count('deliveries');
  expect(await post('{"a":1}', headers)).toEqual({
    status: 401,
    body: { statusCode: 401, message: expect.stringContaining('signature') },
  });
  expect(await count('deliveries')).toBe(before);
});

test('a signed delivery that is not a JSON object or lacks headers is refused with 400', async () => {
  for (const body of ['not json', '[]', 'null', Buffer.from([0xff, 0xfe])]) expect((await post(body)).status).toBe(400);
  expect((await post('{}', { 'X-GitHub-Event': 'Nonsense!' })).status).toBe(400);
  expect((await post('{}', { 'X-GitHub-Delivery': '' })).status).toBe(400);
});

test('a signed body with a NUL character is stored', async () => {
  expect((await post('{"title":"a\\u0000b"}')).status).toBe(202);
});

test('a pull request that GitHub merges when it is ready is looked at before all deliveries that wait', async () => {
  const { manager: em } = service.app.db;
  await em.query(`insert into projects (id, name, slug) values ('proj_1', 'P', 'p')`);
  await em.query(
    `insert into repositories (id, project_id, name, url, github_id) values ('repo_1', 'proj_1', 'r', 'https://x/r', 7)`,
  );
  await em.query(`insert into tasks (id, project_id, title, status) values ('task_1', 'proj_1', 'T', 'in_review')`);
  const insert = (number: number) =>
    em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ('task_1', 'repo_1', $1, $2, 'open', $2, 'h')`,
      [number, `https://x/r/pull/${number}`],
    );
  for (const number of [1, 2, 3]) await insert(number);
  await em.query(`insert into merges (repository_id, number, state, since, reason, dropped) values
    ('repo_1', 1, 'waiting', now(), 'r', null), ('repo_1', 2, null, null, null, 'dropped')`);
  const event = (name: string, payload: object) => post(JSON.stringify(payload), { 'X-GitHub-Event': name });
  for (const number of [1, 2, 3, '1', 1e12, null])
    expect((await event('pull_request', { number, repository: { id: 7 } })).status).toBe(202);
  await event('pull_request', { number: 1, repository: { id: 8 } });
  await event('pull_request', { number: 1 });
  await event('issues', { number: 1, repository: { id: 7 } });
  const jobs = await em.query(`select data from pgboss.job where name = 'pull'`);
  expect(jobs).toEqual([{ data: { repositoryId: 'repo_1', number: 1 } }]);
});

test('twenty simultaneous copies of a delivery have one effect', async () => {
  const guid = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => post('{"same":true}', { 'X-GitHub-Delivery': guid })),
  );
  expect(answers.map((a) => a.status)).toEqual(Array(20).fill(202));
  expect(answers.filter((a) => a.body.status === 'accepted')).toHaveLength(1);
  expect(await count('deliveries', `where guid = '${guid}'`)).toBe(1);
  expect(await count('pgboss.job', `where name = 'delivery' and data->>'guid' = '${guid}'`)).toBe(1);
});

test('a body over 25 MB is refused with 413 and our JSON error', async () => {
  const body = Buffer.alloc(26_300_000, 'x');
  expect(await post(body, { 'X-Hub-Signature-256': 'sha256=none' })).toEqual({
    status: 413,
    body: { statusCode: 413, message: expect.stringContaining('25 MB') },
  });
});

test.each([
  ['no signature', 401, { 'X-Hub-Signature-256': '' }],
  ['a short signature', 401, { 'X-Hub-Signature-256': 'sha256=00' }],
  ['a compressed body', 415, { 'Content-Encoding': 'gzip' }],
  ['twice compressed', 415, { 'Content-Encoding': 'identity, br' }],
  ['an unknown coding', 415, { 'Content-Encoding': 'x' }],
  ['a nameless event', 400, { 'X-GitHub-Event': '' }],
  ['a strange id', 400, { 'X-GitHub-Delivery': 'a b' }],
  ['too much', 413, { 'Content-Length': '26300000' }],
])('%s: %i before the body is sent, and the connection is closed', async (_name, status, headers) => {
  const head = headOf('POST /api/github/webhooks', {
    'Content-Length': '1000',
    'X-GitHub-Event': 'ping',
    'X-GitHub-Delivery': randomUUID(),
    'X-Hub-Signature-256': sign(''),
    ...headers,
  });
  const raw = openRaw(new URL(service.url).port, head);
  expect(await raw.status).toBe(status);
  raw.socket.end();
  expect(await raw.ended).toMatch(/\r\nConnection: close\r\n/);
});

test('a large delivery is parsed outside of the main thread; one that is not JSON is refused with 400', async () => {
  const commit = { id: 'a', message: 'x'.repeat(50), added: ['a file'] };
  const large = JSON.stringify({
    ref: 'refs/heads/x',
    commits: Array(20_000).fill(commit),
    labels: Array(200).fill('x'),
  });
  expect((await post(large)).status).toBe(202);
  expect((await post(`${large.slice(0, -1)},`)).status).toBe(400);
  const parsed = (await parsePayload(large)) as { ref: string; commits: object[]; labels: unknown[] };
  expect([parsed.ref, parsed.commits.length, parsed.labels.length]).toEqual(['refs/heads/x', 3000, 100]);
  expect(parsed.commits[0]).toEqual({ id: 'a', message: commit.message });
});

test('large deliveries of one installation do not hold up those of others', async () => {
  const large = JSON.stringify({ commits: Array(30_000).fill({ message: 'x'.repeat(20) }) });
  const stored = async () => {
    const guid = randomUUID();
    expect((await post(large, { 'X-GitHub-Delivery': guid })).status).toBe(202);
    return guid;
  };
  const noisy: string[] = [];
  for (let i = 0; i < 10; i++) noisy.push(await stored());
  const others = [await stored(), await stored()];
  const { manager } = service.app.db;
  const read = new Map<unknown, unknown>();
  for (const guid of [...noisy, ...others])
    read.set(guid, await manager.query('select event, payload from deliveries where guid = $1', [guid]));
  // The database might answer the other installation only after the noisy one is done. So all are answered at once.
  const handleTogether = async (of: [tenant: string, guid: string][]) => {
    const parsed: string[] = [];
    const asked = Promise.withResolvers<void>();
    let left = of.length;
    const query = async (text: string, values: unknown[]) => {
      if (!text.startsWith('select')) return manager.query(text, values);
      if (--left === 0) asked.resolve();
      await asked.promise;
      return read.get(values[0]);
    };
    const handle = ([tenant, guid]: [string, string]) => {
      const github = { ...service.app.github, receive: async () => void parsed.push(tenant) };
      const app = { ...service.app, github, db: { manager: { query } } } as unknown as App;
      return forTenant(tenant, () => handleDelivery(app, guid));
    };
    await Promise.all(of.map(handle));
    return parsed;
  };
  // Both threads have started.
  await handleTogether([
    ['noisy', noisy[0] ?? ''],
    ['other', others[0] ?? ''],
  ]);
  const rest = noisy.slice(1).map((guid): [string, string] => ['noisy', guid]);
  const ends = await handleTogether([...rest, ['other', others[1] ?? '']]);
  expect([ends.length, ends.at(-1)]).toEqual([10, 'noisy']);
});

test.each([
  ['a small', 0],
  ['a large', 1_100_000],
])('%s delivery may have 100 levels; one with more is refused with 400', async (_name, padding) => {
  const nested = (levels: number) =>
    `{"text":"${'x'.repeat(padding)}","list":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  expect([(await post(nested(100))).status, (await post(nested(101))).status]).toEqual([202, 400]);
});

test('while the database does not answer, the reply is 503', async () => {
  await service.app.db.transaction(async (em) => {
    await em.query('lock table deliveries in access exclusive mode');
    expect((await post('{"late":true}')).status).toBe(503);
  });
});

test('while the database is down, the reply is 503', async () => {
  const database = await createTestDatabase();
  const proxy = await startPostgresProxy(database.url, () => undefined);
  const own = await openTestApp({ ...settings, DATABASE_URL: proxy.url });
  expect((await post('{}', {}, own)).status).toBe(202);
  proxy.close();
  for (let i = 0; i < 3; i++) {
    const answer = await post('{}', {}, own);
    expect(answer).toEqual({ status: 503, body: { statusCode: 503, message: 'The database is unavailable' } });
  }
  expect((await fetch(`${own.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${own.url}/healthz`)).status).toBe(200);
  await own.close().catch(() => {});
  await database.drop();
});
