import { boundedStore } from '../../src/http/limits/rate-limit.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
beforeAll(async () => {
  service = await openTestApp({
    RATE_LIMIT_REQUESTS: '5',
    RATE_LIMIT_STARTS: '2',
    RATE_LIMIT_ANONYMOUS: '4',
    TRUST_PROXY: '1',
    GITHUB_CLIENT_ID: 'Iv1.test',
    GITHUB_CLIENT_SECRET: 'secret',
  });
});
afterAll(() => service.close());

test("the number of a user's requests per minute is limited, and replies show the limit", async () => {
  const [one, other] = [await service.token('one'), await service.token('other')];
  const first = await service.call('GET', '/me', { token: one });
  expect([first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-remaining')]).toEqual(['5', '4']);
  for (let i = 0; i < 4; i++) expect((await service.call('GET', '/me', { token: one })).status).toBe(200);
  const over = await service.call('GET', '/me', { token: one });
  expect([over.status, over.body]).toEqual([
    429,
    { statusCode: 429, message: expect.stringMatching(/^At most 5 requests a minute/) },
  ]);
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await service.call('GET', '/me', { token: other })).status).toBe(200);
  expect((await service.call('POST', '/projects', { token: one, body: '{"broken' })).status).toBe(429);
  expect((await service.call('GET', '/nothing', { token: one })).status).toBe(404);
  // Another token of the same user counts against the same limit.
  expect((await service.call('GET', '/me', { token: await service.token('one') })).status).toBe(429);
});

test('starting runs has a separate limit', async () => {
  const token = await service.token('starter');
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await service.call('POST', '/tasks/task_x/start', { token })).status);
  expect(statuses).toEqual([404, 404, 429]);
});

test.each([
  ['validating a repository', '/repositories/repo_x/validate', {}],
  ['importing issues', '/repositories/repo_x/issues', { numbers: [1] }],
])('%s counts as a start', async (what, path, body) => {
  const token = await service.token(what.replaceAll(' ', '-'));
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await service.call('POST', path, { token, body })).status);
  expect(statuses).toEqual([404, 404, 429]);
});

test('a badge, which anybody may read, counts as a request without a token', async () => {
  const from = { 'X-Forwarded-For': '10.4.0.1' };
  const statuses = [];
  for (let i = 0; i < 5; i++)
    statuses.push((await fetch(`${service.url}/badge/repo_x/key.json`, { headers: from })).status);
  expect(statuses).toEqual([404, 404, 404, 404, 429]);
});

test("a revoked token does not use up its user's limit", async () => {
  const [revoked, good] = [await service.token('robbed'), await service.token('robbed')];
  const [, claims = ''] = revoked.split('.');
  const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  await service.app.db.manager.query('update api_tokens set revoked_at = now() where id = $1', [jti]);
  const from = { 'X-Forwarded-For': '10.1.0.1' };
  for (let i = 0; i < 4; i++)
    expect((await service.call('GET', '/me', { token: revoked, headers: from })).status).toBe(401);
  expect((await service.call('GET', '/me', { token: revoked, headers: from })).status).toBe(429);
  for (let i = 0; i < 5; i++)
    expect((await service.call('GET', '/me', { token: good, headers: from })).status).toBe(200);
  // Over the user's limit, a revoked token still gets 401.
  const elsewhere = { 'X-Forwarded-For': '10.1.0.2' };
  expect((await service.call('GET', '/me', { token: good, headers: from })).status).toBe(429);
  expect((await service.call('GET', '/me', { token: revoked, headers: elsewhere })).status).toBe(401);
});

describe('without a valid token', () => {
  const visit = async (path: string, from: string, init: RequestInit = {}) => {
    const headers = { 'X-Forwarded-For': from, ...init.headers };
    const response = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init, headers });
    await response.arrayBuffer();
    return response;
  };
  const statuses = async (paths: string[], from: string) => {
    const all = [];
    for (const path of paths) all.push((await visit(path, from)).status);
    return all;
  };
  const times = (count: number, path: string) => Array<string>(count).fill(path);

  test('API calls per minute of an address are limited; then 429 with Retry-After', async () => {
    expect(await statuses(times(6, '/api/v1/me'), '10.0.0.1')).toEqual([401, 401, 401, 401, 429, 429]);
    const over = await visit('/api/v1/projects', '10.0.0.1', {
      method: 'POST',
      headers: { Authorization: 'Bearer made.up.token' },
    });
    expect([over.status, Number(over.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await statuses(['/api/v1/me', '/api/v1/nothing'], '10.0.0.2')).toEqual([401, 404]);
    // The limit per address does not apply to a caller with a valid token.
    const token = await service.token('neighbour');
    const headers = { Authorization: `Bearer ${token}` };
    expect((await visit('/api/v1/me', '10.0.0.1', { headers })).status).toBe(200);
  });

  test('sign-in, setup and the public documents count as well', async () => {
    expect(await statuses(times(5, '/login/github'), '10.0.1.1')).toEqual([302, 302, 302, 302, 429]);
    expect(await statuses(times(5, '/LOGIN/callback'), '10.0.1.2')).toEqual([400, 400, 400, 400, 429]);
    expect(await statuses(times(5, '/setup?code=x'), '10.0.1.3')).toEqual([404, 404, 404, 404, 429]);
    expect(await statuses(times(5, '/api/v1/openapi.json'), '10.0.1.4')).toEqual([200, 200, 200, 200, 429]);
    expect(
      await statuses(['/setup/callback', '/login/github', '/api/v1/docs/', '/api/v1/me', '/setup'], '10.0.1.5'),
    ).toEqual([400, 302, 200, 401, 429]);
  });

  test('health checks, files and webhooks never count', async () => {
    const from = '10.0.2.1';
    await statuses(times(5, '/api/v1/me'), from);
    for (const path of ['/healthz', '/readyz', '/api/v1/docs/swagger-ui.css', '/login', '/icon.svg'])
      expect([path, (await visit(path, from)).status]).toEqual([path, 200]);
    expect((await visit('/api/github/webhooks', from, { method: 'POST' })).status).toBe(404);
  });

  test('an IPv6 network of 64 bits counts as one address, and addresses not added by a proxy are ignored', async () => {
    const network = (end: string) => `2001:db8:1:2:${end}`;
    for (const end of [':1', ':2', 'ffff::3', '1:2:3:4'])
      expect(await statuses(['/api/v1/me'], network(end))).toEqual([401]);
    expect(await statuses(['/api/v1/me'], network(':5'))).toEqual([429]);
    expect(await statuses(['/api/v1/me'], '2001:db8:1:3::1')).toEqual([401]);
    // Only the last entry was added by the proxy. The earlier ones may be forged by the caller.
    for (let i = 0; i < 4; i++) await visit('/api/v1/me', `198.51.100.${i}, 10.0.3.1`);
    expect((await visit('/api/v1/me', '198.51.100.9, 10.0.3.1')).status).toBe(429);
    // For an invalid entry, the address of the connection counts.
    for (let i = 0; i < 4; i++) await visit('/api/v1/me', `nonsense-${i}`);
    expect((await visit('/api/v1/me', 'nonsense')).status).toBe(429);
  });
});

test('the memory of a limit is bounded: beyond 10,000 addresses the oldest is evicted', async () => {
  const store = boundedStore();
  const hits = async (key: string) => (await store.increment(key)).totalHits;
  expect([await hits('first'), await hits('first')]).toEqual([1, 2]);
  for (let i = 0; i < 9_999; i++) await hits(`address ${i}`);
  expect([await hits('first'), await hits('address 0')]).toEqual([3, 2]);
  await hits('one more');
  expect([await hits('address 0'), await hits('first')]).toEqual([3, 1]);
});

test('a window ends after its time', async () => {
  const store = boundedStore();
  store.init?.({ windowMs: 0 } as never);
  expect([(await store.increment('a')).totalHits, (await store.increment('a')).totalHits]).toEqual([1, 1]);
});
