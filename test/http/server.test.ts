import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { until } from '../../demo/real-service.ts';
import { writeProbe } from '../../src/db/database.ts';
import { readList } from '../../src/http/lists.ts';
import { openQuotas, serveMetrics } from '../../src/http/metrics.ts';
import { readiness } from '../../src/http/readiness.ts';
import type { Route } from '../../src/http/route.ts';
import { routes } from '../../src/routes.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { headOf, openRaw } from '../support/http/raw-http.ts';

let service: TestApp;
let token: string;
beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
});
afterAll(() => service.close());

test('health, readiness and the public documents', async () => {
  expect(await (await fetch(`${service.url}/healthz`)).json()).toEqual({ status: 'ok' });
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const document = (await service.call('GET', '/openapi.json')).body;
  expect(document.openapi).toMatch(/^3\.1/);
  expect(document.paths['/tasks/{id}'].get.responses['404']).toBeDefined();
  for (const path of ['/docs/', '/docs/swagger-ui-bundle.js', '/docs/start.js'])
    expect((await service.call('GET', path)).status).toBe(200);
  expect(await (await fetch(`${service.url}/api/v1/docs/`)).text()).toContain('<a href="/">Back to the dashboard</a>');
});

test('however many times readiness is checked, the database is written once in five seconds', async () => {
  const { db, log, draining } = service.app;
  let writes = 0;
  const counting = {
    ...db,
    tryWrite: () => {
      writes += 1;
      return db.tryWrite();
    },
  };
  const isReady = readiness({ db: counting, log, draining });
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
  try {
    for (const [ms, expected] of [
      [0, 1],
      [4999, 1],
      [2, 2],
    ] as const) {
      mock.timers.tick(ms);
      for (let i = 0; i < 3; i++)
        expect(new Set(await Promise.all(Array.from({ length: 50 }, isReady)))).toEqual(new Set(['ok']));
      expect(writes).toBe(expected);
    }
  } finally {
    mock.timers.reset();
  }
});

test('a read-only database is not ready', async () => {
  const { db, log, draining } = service.app;
  const refused = () =>
    db.transaction(async (em) => {
      await em.query('set transaction read only');
      await em.query(writeProbe);
    });
  expect(await readiness({ db: { ...db, tryWrite: refused }, log, draining })()).toBe('database cannot write');
});

test('a process that is about to stop is not ready', async () => {
  expect(await readiness({ ...service.app, draining: AbortSignal.abort() })()).toBe('stopping');
});

test('metrics and health checks are served beside the API, for workers and scrapers', async () => {
  const states: string[] = ['ok', 'the queue has stopped'];
  const isReady = async () => states.shift() ?? Promise.reject(new Error('the connection is lost'));
  const server = await serveMetrics(service.app.metrics, { METRICS_HOST: '127.0.0.2', METRICS_PORT: 0 }, isReady);
  try {
    const { address, port } = server.address() as AddressInfo;
    expect(address).toBe('127.0.0.2');
    const ask = async (path: string) => {
      const response = await fetch(`http://127.0.0.2:${port}${path}`);
      return [response.status, await response.text()];
    };
    const [, text] = await ask('/metrics');
    const most = service.app.config.DB_POOL_SIZE;
    for (const line of ['deckhand_live_runs 0', `deckhand_db_connections_max ${most}`, 'deckhand_db_waiting 0'])
      expect(text).toContain(`\n${line}\n`);
    // Nothing was asked of GitHub, so nothing is known.
    expect(text).not.toMatch(/^deckhand_github_quota_left_ratio/m);
    expect(await ask('/healthz')).toEqual([200, '{"status":"ok"}']);
    expect(await ask('/readyz')).toEqual([200, '{"status":"ok"}']);
    expect(await ask('/readyz?verbose')).toEqual([503, '{"status":"the queue has stopped"}']);
    expect(await ask('/readyz')).toEqual([503, '{"status":"the connection is lost"}']);
    expect(await ask('/constructor')).toEqual([404, '{"status":"no such address"}']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('the quota of GitHub is the smallest of all installations, until their hour ends', () => {
  let now = 0;
  const quotas = openQuotas(() => now);
  const headers = (remaining: number, reset: number, resource = 'core') => ({
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(reset),
    'x-ratelimit-resource': resource,
  });
  expect(quotas.least()).toBeUndefined();
  quotas.note(1, headers(500, 100));
  quotas.note(2, headers(4000, 200));
  quotas.note(1, headers(3000, 100, 'graphql'));
  quotas.note(3, {});
  // Calls without a token are nobody's.
  quotas.note(-1, headers(0, 100));
  expect(quotas.least()).toBe(0.1);
  quotas.note(1, headers(0, 100));
  expect(quotas.least()).toBe(0);
  now = 150_000;
  expect(quotas.least()).toBe(0.8);
  now = 250_000;
  expect(quotas.least()).toBeUndefined();
});

/** The headers of an answer of an installation that may send a hundred requests in an hour. */
const leftOf = (remaining: number, reset = 3600) => ({
  'x-ratelimit-limit': '100',
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(reset),
  'x-ratelimit-resource': 'core',
});

test('what strangers do may use a tenth of the hour for a repository, and three tenths in all', () => {
  const quotas = openQuotas(() => 0);
  const of = (n: number, isOfStranger?: boolean) => ({ repository: `acme/r${n}`, isOfStranger });
  const pauseOf = (n: number, isOfStranger?: boolean) => quotas.pauseOf(1, of(n, isOfStranger));
  for (let i = 0; i < 9; i++) quotas.note(1, leftOf(99), of(1, true));
  expect(pauseOf(1, true)).toBeUndefined();
  quotas.note(1, leftOf(99), of(1, true));
  expect([pauseOf(1, true), pauseOf(2, true), pauseOf(1)]).toEqual([3_600_000, undefined, undefined]);
  for (let i = 0; i < 20; i++) quotas.note(1, leftOf(99), of(2 + (i % 4), true));
  expect([pauseOf(9, true), pauseOf(9)]).toEqual([3_600_000, undefined]);
});

test('a person who has used a tenth of what an installation may ask waits once less than half is left', () => {
  let now = 0;
  const quotas = openQuotas(() => now);
  const note = (remaining: number, person?: string, reset?: number) =>
    quotas.note(1, leftOf(remaining, reset), { person });
  const pauseOf = (person: string, installation = 1) => quotas.pauseOf(installation, { person });
  for (let left = 99; left >= 50; left--) note(left, 'eager');
  expect(pauseOf('eager')).toBeUndefined();
  note(49);
  expect([pauseOf('eager'), pauseOf('other'), pauseOf('eager', 2)]).toEqual([3_600_000, undefined, undefined]);
  for (let i = 0; i < 9; i++) note(40 - i, 'other', 3601);
  expect(pauseOf('other')).toBeUndefined();
  note(31, 'other');
  expect(pauseOf('other')).toBe(3_600_000);
  now = 3_601_000;
  expect(pauseOf('eager')).toBeUndefined();
  note(10, undefined, 7200);
  expect(pauseOf('eager')).toBeUndefined();
});

test('work for a repository that uses much leaves the last fifth of the hour to the others, and a tenth if it is urgent', () => {
  const quotas = openQuotas(() => 0);
  const use = (from: number, to: number, repository: string) => {
    for (let left = from; left >= to; left--) quotas.note(1, leftOf(left), { repository });
  };
  const waits = (asker: object) => quotas.pauseOf(1, asker) !== undefined;
  use(99, 85, 'acme/quiet');
  use(84, 20, 'acme/busy');
  expect(waits({ repository: 'acme/busy' })).toBe(false);
  use(19, 19, 'acme/busy');
  const all = () =>
    [
      { repository: 'acme/busy' },
      { repository: 'acme/busy', isUrgent: true },
      // A person has a share of their own, so that people can still act in a busy repository.
      { repository: 'acme/busy', person: 'owner' },
      { repository: 'acme/quiet' },
      { repository: 'acme/new' },
      {},
    ].map(waits);
  expect(all()).toEqual([true, false, false, false, false, false]);
  expect(quotas.pauseOf(1, { repository: 'acme/busy' }, 'graphql')).toBeUndefined();
  use(18, 9, 'acme/busy');
  expect(all()).toEqual([true, true, false, false, false, false]);
});

test('replies name no server software, are not cached, and carry the id of the request', async () => {
  const answer = await service.call('GET', '/me', { token, headers: { 'X-Request-Id': 'req-1' } });
  expect(answer.headers.get('x-powered-by')).toBeNull();
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-request-id')).toBe('req-1');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

test('replies that are not pages may load nothing, and may not be framed', async () => {
  const nothing = "default-src 'none';frame-ancestors 'none'";
  for (const address of ['/api/v1/me', '/icon.svg', '/api/v1/no-such-route', '/healthz'])
    expect((await fetch(`${service.url}${address}`)).headers.get('content-security-policy')).toBe(nothing);
  const page = await fetch(`${service.url}/`, { headers: { Accept: 'text/html' } });
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
});

test.each([
  ['an unknown expectation', headOf('GET /healthz', { Expect: 'x', Connection: 'close' }), 417, 'Expect must be'],
  ['no Host header', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'Host header'],
  ['no Host header in HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', 200, 'ok'],
])('a request with %s', async (_name, head, status, text) => {
  const raw = openRaw(new URL(service.url).port, head);
  expect(await raw.status).toBe(status);
  expect(await raw.ended).toContain(text);
});

test('a revoked token is refused', async () => {
  const own = await service.token('leaver');
  expect((await service.call('GET', '/me', { token: own })).status).toBe(200);
  await service.app.db.manager.query(
    `update api_tokens t set revoked_at = now() from users u where u.id = t.user_id and u.login = 'leaver'`,
  );
  expect((await service.call('GET', '/me', { token: own })).status).toBe(401);
});

test('a list without a limit ends when reading it takes long, and says where it goes on', async () => {
  const declared = routes.find(({ operationId }) => operationId === 'listProjects') as Route;
  const slow = (count: number): Route => ({
    ...declared,
    reply: [200, z.array(z.object({ id: z.number() }))],
    handle: async (_app, { query }) => {
      const { offset, limit } = query as { offset: number; limit: number };
      return Array.from({ length: Math.min(limit + 1, count - offset) }, (_, i) => ({ id: offset + i }));
    },
  });
  const part = await readList(service.app, slow(250), { query: { offset: 0 } }, { maxMs: 0 });
  expect(part).toMatchObject({ count: 100, hasMore: true, isCut: true });
  expect(JSON.parse(part.text).at(-1)).toEqual({ id: 99 });
  expect(await readList(service.app, slow(250), { query: { offset: 0 } })).toMatchObject({
    count: 250,
    hasMore: false,
  });
});

test('lists come in pages with links', async () => {
  for (let i = 0; i < 5; i++) await service.call('POST', '/projects', { token, body: { name: `P${i}` } });
  const first = await service.call('GET', '/projects?limit=2', { token });
  expect(first.body.map((p: { name: string }) => p.name)).toEqual(['P4', 'P3']);
  expect(first.headers.get('link')).toBe('</api/v1/projects?limit=2&offset=2>; rel="next"');
  const second = await service.call('GET', '/projects?limit=2&offset=2', { token });
  expect(second.headers.get('link')).toContain('rel="prev"');
  const last = await service.call('GET', '/projects?limit=2&offset=4', { token });
  expect(last.body).toHaveLength(1);
  expect(last.headers.get('link')).not.toContain('next');
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'limit=1&limit=2', 'page=1'])
    expect([query, (await service.call('GET', `/projects?${query}`, { token })).status]).toEqual([query, 400]);
});

test('a body that is compressed, or in another encoding, is refused', async () => {
  const post = async (body: Buffer, headers: Record<string, string>) => {
    const response = await fetch(`${service.url}/api/v1/projects`, {
      method: 'POST',
      body: body as never,
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, ...headers },
    });
    return response.status;
  };
  const body = Buffer.from('{"name":"P"}');
  expect(await post(gzipSync(body), { 'Content-Encoding': 'gzip' })).toBe(415);
  expect(await post(body, { 'Content-Type': 'application/json; charset=utf-16le' })).toBe(415);
  expect(await post(body, { 'Content-Type': 'application/json; charset="UTF-8"' })).toBe(201);
  expect(await post(Buffer.concat([Buffer.from('\ufeff'), body]), {})).toBe(201);
});

test('each problem of a body is a sentence that names a field', async () => {
  const messages = async (body: unknown) =>
    (await service.call('POST', '/projects', { token, body })).body.errors.map((e: { message: string }) => e.message);
  expect(await messages({})).toEqual(['name is required']);
  expect(await messages({ name: 1, colour: 'red' })).toEqual(['name must be a string', 'colour is not a known field']);
  expect(await messages('[]')).toEqual(['The body must be an object']);
});

test('a body of too many values is refused with 400 before it is parsed', async () => {
  const nested = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
  for (const body of [nested, `[${'{},'.repeat(300_000)}{}]`]) {
    const answer = await service.call('POST', '/projects', { token, body });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('at most 15000 values')]);
  }
  const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`.repeat(20), 1]));
  const answer = await service.call('POST', '/projects', { token, body: keys });
  expect([answer.status, answer.body.errors.length]).toEqual([400, 100]);
});

test('a refusal does not wait for the body, and closes the connection', async () => {
  const head = headOf('POST /api/v1/projects', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' });
  const raw = openRaw(new URL(service.url).port, head);
  expect(await raw.status).toBe(401);
  // Keeps sending for as long as possible.
  const sending = setInterval(() => raw.socket.write('400\r\n'.concat('x'.repeat(1024), '\r\n')), 20);
  expect(await raw.ended).toMatch(/\r\nConnection: close\r\n/);
  clearInterval(sending);
});

describe('while requests wait for the database', () => {
  const large = { title: 'x'.repeat(990_000) };
  let tasks: string;
  let post: (path: string, body: object) => ReturnType<typeof openRaw>;
  let unlock: () => Promise<void>;
  const titles = async (title: string) => {
    const query = 'select count(*)::int as count from tasks where title = $1';
    return (await service.app.db.manager.query(query, [title]))[0].count;
  };

  beforeEach(async () => {
    const own = await service.token(`user-${Math.random()}`);
    const project = await service.call('POST', '/projects', { token: own, body: { name: 'P' } });
    tasks = `/api/v1/projects/${project.body.id}/tasks`;
    post = (path, body) => {
      const text = JSON.stringify(body);
      const headers = { Authorization: `Bearer ${own}`, 'Content-Type': 'application/json' };
      const head = headOf(`POST ${path}`, { ...headers, 'Content-Length': String(text.length) });
      return openRaw(new URL(service.url).port, head + text);
    };
    const held = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const lock = service.app.db.transaction(async (em) => {
      await em.query('lock table projects in access exclusive mode');
      locked.resolve();
      await held.promise;
    });
    unlock = () => {
      held.resolve();
      return lock;
    };
    await locked.promise;
  });
  afterEach(() => unlock());

  test("a user's bodies count against the memory for bodies until their requests are done", async () => {
    const statuses: number[] = [];
    const sent = Array.from({ length: 20 }, () => post(tasks, large));
    // Eight of these bodies fit into a user's 8 MB.
    for (const { status } of sent) status.then((code) => statuses.push(code));
    await until('refusals', async () => statuses.length >= 12);
    expect(statuses).toEqual(Array(12).fill(503));
    await unlock();
    await until('the other replies', async () => statuses.length === 20);
    expect(statuses.slice(12)).toEqual(Array(8).fill(400));
    sent.push(post(tasks, large));
    expect(await sent.at(-1)?.status).toBe(400);
    for (const { socket } of sent) socket.destroy();
  });

  test('a request whose client leaves is dropped while it waits for others of its user, but not later', async () => {
    const waiting = async (count: number) => {
      const query = `select count(*)::int as count from pg_locks where relation = 'projects'::regclass and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      return (await service.app.db.manager.query(query))[0].count === count;
    };
    const begun = Array.from({ length: 8 }, () => post(tasks, { title: 'begun' }));
    await until('the first requests', () => waiting(8));
    const later = Array.from({ length: 4 }, () => post(tasks, { title: 'dropped' }));
    const last = post(tasks, { title: 'last' });
    // These replies come after the service has read what was sent before.
    const settle = async () => {
      for (let i = 0; i < 3; i++) await fetch(`${service.url}/healthz`);
    };
    await settle();
    for (const { socket } of [...begun, ...later]) socket.destroy();
    await settle();
    await unlock();
    expect(await last.status).toBe(201);
    last.socket.destroy();
    await until('the requests that had begun', async () => (await titles('begun')) === 8);
    expect([await titles('dropped'), await titles('last')]).toEqual([0, 1]);
  });
});
