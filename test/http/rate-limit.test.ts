import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
beforeAll(async () => {
  service = await openTestApp({ RATE_LIMIT_REQUESTS: '5', RATE_LIMIT_STARTS: '2' });
});
afterAll(() => service.close());

test('a token has its number of requests a minute, and is told', async () => {
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
});

test('starts have a limit of their own', async () => {
  const token = await service.token('starter');
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await service.call('POST', '/tasks/task_x/start', { token })).status);
  expect(statuses).toEqual([404, 404, 429]);
});
