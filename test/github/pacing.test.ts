import nock from 'nock';
import { ProbotOctokit } from 'probot';
import type { Octokit } from '../../src/app.ts';
import { isDatabaseAway } from '../../src/db/database.ts';
import { keepPace, urgently } from '../../src/github/app/pacing.ts';
import { noProxies } from '../../src/host/proxies.ts';
import { fetchFromGitHub } from '../../src/outgoing/fetch-from.ts';
import { forPerson } from '../../src/threads/tenant.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { interceptRequests } from '../support/stand-ins/intercepted.ts';

let service: TestApp;
let installation = 100;
beforeAll(async () => {
  service = await openTestApp();
});
afterAll(() => service.close());
interceptRequests();

function octokit(intervalMs = 0, id = ++installation): Octokit {
  const Client = ProbotOctokit.defaults({
    retry: { enabled: false },
    throttle: { enabled: false },
    request: { fetch: fetchFromGitHub(noProxies) },
    log: { debug() {}, info() {}, warn() {}, error() {} } as never,
  });
  const { db, metrics } = service.app;
  return keepPace(new Client({ auth: { token: 'x' } }) as Octokit, id, { db, metrics, intervalMs });
}
const api = () => nock('https://api.github.com');
const read = (o: Octokit) => o.request('GET /repos/a/b');
const write = (o: Octokit) => o.request('POST /repos/a/b/issues/1/comments', { body: 'x' });
const parked = async (id: number) =>
  Number(
    (
      await service.app.db.manager.query(
        'select extract(epoch from parked_until - now()) as s from github_pace where installation_id = $1',
        [id],
      )
    )[0]?.s ?? 0,
  );

test('a read is retried when GitHub does not respond, a write never', async () => {
  const reads = api().get('/repos/a/b').reply(502).get('/repos/a/b').reply(200, { id: 1 });
  expect((await read(octokit())).status).toBe(200);
  expect(reads.isDone()).toBe(true);
  const second = api()
    .post('/repos/a/b/issues/1/comments')
    .reply(502)
    .post('/repos/a/b/issues/1/comments')
    .reply(201, {});
  await expect(write(octokit())).rejects.toMatchObject({ status: 502 });
  expect(second.pendingMocks()).toHaveLength(1);
});

test('what a write depends on is checked when it has its slot, and nothing is sent if that has changed', async () => {
  const sent = api().post('/repos/a/b/issues/1/comments').reply(201, {});
  const slow = octokit(300);
  await write(slow);
  let hasMoved = false;
  const rightBefore = async () => {
    if (hasMoved) throw new Error('moved');
  };
  const request = { rightBefore };
  const second = slow.request('POST /repos/a/b/issues/1/comments', { body: 'x', request });
  // It waits for its slot now.
  setImmediate(() => {
    hasMoved = true;
  });
  await expect(second).rejects.toThrow('moved');
  expect(sent.isDone()).toBe(true);
});

test('what takes back a merge does not wait behind other writes, only while the installation is parked', async () => {
  const id = ++installation;
  api().post('/repos/a/b/issues/1/comments').reply(201, {}).post('/graphql').reply(200, { data: {} });
  const slow = octokit(60_000, id);
  await write(slow);
  const takeBack = () => slow.graphql('mutation { x }', { request: { isAhead: true } });
  expect(await takeBack()).toEqual({});
  // The next one would wait for a minute.
  const enough = new AbortController();
  const request = { signal: enough.signal };
  const waiting = slow.request('POST /repos/a/b/issues/1/comments', { body: 'x', request });
  enough.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  await service.app.db.manager.query(
    `update github_pace set parked_until = now() + interval '2 minutes' where installation_id = $1`,
    [id],
  );
  await expect(takeBack()).rejects.toMatchObject({ status: 429 });
});

test('the quota that an installation has left is a metric; calls without an installation share none', async () => {
  const reset = Math.ceil(Date.now() / 1000) + 3600;
  const headers = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '1250', 'x-ratelimit-reset': String(reset) };
  api().get('/repos/a/b').reply(200, {}, headers);
  await read(octokit());
  api()
    .get('/repos/a/b')
    .reply(200, {}, { ...headers, 'x-ratelimit-remaining': '1' });
  await read(octokit(0, -1));
  expect(service.app.metrics.githubQuota.least()).toBe(0.25);
});

test.each([
  ['an installation', 77],
  ['the App itself', 0],
])('%s that has little left answers agents, and no person who has used much of it', async (_whose, id) => {
  const reset = Math.ceil(Date.now() / 1000) + 3600;
  const headers = (left: number) => ({
    'x-ratelimit-limit': '20',
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': String(reset),
    'x-ratelimit-resource': 'core',
  });
  const answers = api();
  // What GitHub does not find counts, too.
  answers.get('/repos/a/b').reply(404, {}, headers(9));
  for (const left of [8, 7, 6]) answers.get('/repos/a/b').reply(200, {}, headers(left));
  const asPerson = (user: string) => forPerson(user, () => read(octokit(0, id)));
  await expect(asPerson('user_1')).rejects.toMatchObject({ status: 404 });
  await asPerson('user_1');
  await expect(asPerson('user_1')).rejects.toMatchObject({ status: 429 });
  expect((await asPerson('user_2')).status).toBe(200);
  expect((await read(octokit(0, id))).status).toBe(200);
});

test('a busy repository leaves the last fifth of the hour to the others, except for writes and for taking back check runs', async () => {
  const reset = Math.ceil(Date.now() / 1000) + 3600;
  const headers = (left: number, resource = 'core') => ({
    'x-ratelimit-limit': '20',
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': String(reset),
    'x-ratelimit-resource': resource,
  });
  const at = (repo: string) => ({ owner: 'A', repo });
  const head = (repo: string) =>
    octokit(0, 78).request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...at(repo), ref: 'x' });
  const answers = api();
  for (const left of [5, 4, 3]) answers.get('/repos/A/busy/git/ref/x').reply(200, {}, headers(left));
  for (let i = 0; i < 2; i++) await head('busy');
  await expect(urgently(() => head('busy'))).resolves.toMatchObject({ status: 200 });
  await expect(head('busy')).rejects.toMatchObject({ status: 429 });
  answers.get('/repos/A/busy/git/ref/x').reply(200, {}, headers(2));
  expect((await urgently(() => head('busy'))).status).toBe(200);
  answers.get('/repos/A/quiet/git/ref/x').reply(200, {}, headers(1));
  expect((await head('quiet')).status).toBe(200);
  await expect(urgently(() => head('busy'))).rejects.toMatchObject({ status: 429 });
  answers.patch('/repos/A/busy/check-runs/1').reply(200, {}, headers(1));
  const path = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';
  expect((await octokit(0, 78).request(path, { ...at('busy'), check_run_id: 1 })).status).toBe(200);
  // GraphQL has an hour of its own, and names the repository in its variables.
  const query = (name: string) =>
    octokit(0, 78).graphql('query ($owner: String!, $name: String!) { x }', { owner: 'a', name });
  for (const left of [5, 3]) answers.post('/graphql').reply(200, { data: {} }, headers(left, 'graphql'));
  await query('busy');
  await query('busy');
  await expect(query('busy')).rejects.toMatchObject({ status: 429 });
});

test('the pages of a list count for the repository, whether GitHub links to them by its name or its number', async () => {
  const reset = Math.ceil(Date.now() / 1000) + 3600;
  const answers = api();
  let left = 21;
  const page = (path: string, next?: string) => {
    left -= 1;
    const link = next === undefined ? {} : { link: `<https://api.github.com${next}>; rel="next"` };
    const headers = {
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': String(left),
      'x-ratelimit-reset': String(reset),
    };
    answers.get(path).reply(200, [{ id: left }], { ...headers, 'x-ratelimit-resource': 'core', ...link });
  };
  const list = () =>
    octokit(0, 79).paginate('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      owner: 'a',
      repo: 'b',
      issue_number: 1,
    });
  const [first, further] = ['/repos/a/b/issues/1/comments', '/repositories/9/issues/1/comments?page=2'];
  for (let i = 0; i < 9; i++) {
    page(first, further);
    page(further);
    await list();
  }
  await expect(list()).rejects.toMatchObject({ status: 429 });
});

test('a read whose response was too large is not retried', async () => {
  const large = 'x'.repeat(33_000_000);
  const reads = api().get('/repos/a/b').reply(200, large).get('/repos/a/b').reply(200, { id: 1 });
  await expect(read(octokit())).rejects.toMatchObject({ status: 500, message: 'the answer is larger than 32 MB' });
  expect(reads.pendingMocks()).toHaveLength(1);
});

test('a worker that lost its lock writes nothing more, and its error counts as a database outage', async () => {
  const posted = api().post('/repos/a/b/issues/1/comments').reply(201, {});
  const { db } = service.app;
  const working = db.withLock('a comment', async () => {
    await db.manager.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'deckhand-locks' and datname = current_database()",
    );
    return write(octokit());
  });
  const error = await working.catch((e) => e);
  expect(error.message).toMatch(/the lock "a comment" was lost/);
  expect(isDatabaseAway(error)).toBe(true);
  expect(posted.isDone()).toBe(false);
  expect((await db.withLock('a comment', () => write(octokit()))).status).toBe(201);
});

test('a query of GraphQL is a read: it waits for no slot and is retried; a mutation is a write', async () => {
  const slow = octokit(3_600_000);
  const answers = api().post('/graphql').reply(502).post('/graphql').times(3).reply(200, { data: {} });
  for (let i = 0; i < 2; i++) await slow.graphql('query { viewer { login } }');
  await slow.graphql('mutation { clientMutationId }');
  await expect(slow.graphql('mutation { clientMutationId }')).rejects.toMatchObject({ status: 429 });
  expect(answers.isDone()).toBe(true);
});

test('writes of one installation are spaced out, across clients', async () => {
  api().post('/repos/a/b/issues/1/comments').times(4).reply(201, {});
  const id = ++installation;
  const began = performance.now();
  await Promise.all([
    write(octokit(100, id)),
    write(octokit(100, id)),
    write(octokit(100, id)),
    write(octokit(100, id)),
  ]);
  expect(performance.now() - began).toBeGreaterThan(290);
});

test.each([
  [403, { 'retry-after': '30' }, {}, 30],
  [429, { 'retry-after': '5' }, {}, 5],
  [403, {}, { message: 'You have exceeded a secondary rate limit' }, 60],
  [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'in 40 s' }, {}, 40],
  // By our clock, the limit was reset long ago. GitHub says what time it is there.
  [
    403,
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1767225640', date: 'Thu, 01 Jan 2026 00:00:00 GMT' },
    {},
    40,
  ],
])('%i %j %j parks the installation', async (status, headers, body, seconds) => {
  const id = ++installation;
  const began = Date.now();
  const reset = String(Math.floor(began / 1000) + 40);
  const sent = Object.entries(headers).map(([name, value]) => [name, value === 'in 40 s' ? reset : value]);
  api().get('/repos/a/b').reply(status, body, Object.fromEntries(sent));
  await expect(read(octokit(0, id))).rejects.toMatchObject({ status });
  const [{ until }] = await service.app.db.manager.query(
    'select parked_until as until from github_pace where installation_id = $1',
    [id],
  );
  // Whole seconds, counted from when the answer arrived.
  expect(until.getTime()).toBeGreaterThan(began + (seconds - 2) * 1000);
  expect(until.getTime()).toBeLessThan(Date.now() + (seconds + 2) * 1000);
});

test('a token that must pause keeps no other token, and nobody without one, from its calls', async () => {
  const reset = String(Math.floor(Date.now() / 1000) + 3000);
  const limited = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
  const withToken = (token: string) => read(service.app.githubWithToken(token));
  api().get('/repos/a/b').matchHeader('authorization', /eve/).reply(403, {}, limited);
  await expect(withToken('ghp_eve')).rejects.toMatchObject({ status: 403 });
  await expect(withToken('ghp_eve')).rejects.toMatchObject({ status: 429 });
  api().get('/repos/a/b').matchHeader('authorization', /bob/).reply(200, { id: 1 });
  expect((await withToken('ghp_bob')).status).toBe(200);
  expect(await parked(-1)).toBe(0);
});

test('during a short retry-after reads and writes wait', async () => {
  const id = ++installation;
  const began = performance.now();
  api().get('/repos/a/b').reply(429, {}, { 'retry-after': '1' });
  await expect(read(octokit(0, id))).rejects.toMatchObject({ status: 429 });
  api().get('/repos/a/b').reply(200, {}).post('/repos/a/b/issues/1/comments').reply(201, {});
  await Promise.all([read(octokit(0, id)), write(octokit(0, id))].map((asked) => asked.then(waited)));
  function waited() {
    expect(performance.now() - began).toBeGreaterThan(950);
  }
});

test('during a long retry-after nothing is sent, and the caller gets an error', async () => {
  const id = ++installation;
  api().get('/repos/a/b').reply(403, {}, { 'retry-after': '600' });
  await expect(read(octokit(0, id))).rejects.toMatchObject({ status: 403 });
  const next = api().get('/repos/a/b').reply(200).post('/repos/a/b/issues/1/comments').reply(201);
  await expect(read(octokit(0, id))).rejects.toMatchObject({
    status: 429,
    message: expect.stringMatching(/next try in \d+ s/),
  });
  await expect(write(octokit(0, id))).rejects.toMatchObject({ status: 429 });
  expect(next.pendingMocks()).toHaveLength(2);
});

test('a caller that aborts stops waiting for its write', async () => {
  const id = ++installation;
  api().get('/repos/a/b').reply(403, {}, { 'retry-after': '30' });
  await expect(read(octokit(0, id))).rejects.toMatchObject({ status: 403 });
  const next = api().post('/repos/a/b/issues/1/comments').reply(201);
  const enough = new AbortController();
  const request = { signal: enough.signal };
  const waiting = octokit(0, id).request('POST /repos/a/b/issues/1/comments', { body: 'x', request });
  enough.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  expect(next.pendingMocks()).toHaveLength(1);
});

test('a web page instead of an API response counts as an outage of GitHub', async () => {
  api().get('/repos/a/b').times(3).reply(200, '<html>', { 'content-type': 'text/html' });
  await expect(read(octokit())).rejects.toMatchObject({ name: 'HttpError', status: 502 });
});

test('rendered Markdown is HTML, and a web page in its place an outage', async () => {
  const html = { 'content-type': 'text/html;charset=utf-8' };
  api().post('/markdown').reply(200, '<p>hi</p>', html).post('/markdown').reply(200, '<!DOCTYPE html><p>away', html);
  const rendered = () => octokit().request('POST /markdown', { text: 'hi' });
  expect((await rendered()).data).toBe('<p>hi</p>');
  await expect(rendered()).rejects.toMatchObject({ status: 502 });
});

test('a redirect to another host is returned to callers that ask for it, and refused otherwise', async () => {
  const path = 'GET /repos/a/b/actions/jobs/1/logs';
  const away = { location: 'https://storage.example/log?sig=x', 'content-type': 'text/html;charset=utf-8' };
  api().get('/repos/a/b/actions/jobs/1/logs').twice().reply(302, '<html>', away);
  const { headers } = await octokit().request(path, { request: { redirect: 'manual' } });
  expect(headers.location).toBe('https://storage.example/log?sig=x');
  await expect(octokit().request(path)).rejects.toThrow('redirects to another host');
});

test('a plain 403 parks nothing', async () => {
  const id = ++installation;
  api().get('/repos/a/b').reply(403, { message: 'Resource not accessible by integration' });
  await expect(read(octokit(0, id))).rejects.toMatchObject({ status: 403 });
  expect(await parked(id)).toBeLessThanOrEqual(0);
});

const graphqlErrors: [string, object, Record<string, string>, object, boolean][] = [
  [
    'its own limit',
    { type: 'RATE_LIMITED', message: 'API rate limit exceeded' },
    { 'x-ratelimit-remaining': '0' },
    { status: 429 },
    false,
  ],
  [
    'a secondary limit',
    { message: 'You have exceeded a secondary rate limit.' },
    { 'retry-after': '30' },
    { status: 429 },
    true,
  ],
  ['a fault of GitHub', { message: 'Something went wrong while executing your query.' }, {}, { status: 502 }, false],
  [
    'a fault of the query',
    { type: 'NOT_FOUND', message: 'Could not resolve to a node' },
    {},
    { data: { a: 1 } },
    false,
  ],
];

test.each(graphqlErrors)('GraphQL reports %s with status 200', async (_what, error, headers, expected, parks) => {
  const id = ++installation;
  api()
    .post('/graphql')
    .times(3)
    .reply(200, { data: { a: 1 }, errors: [error] }, headers);
  await expect(octokit(0, id).graphql('{ viewer { login } }')).rejects.toMatchObject(expected);
  expect((await parked(id)) > 0).toBe(parks);
});
