import { until } from '../../demo/real-service.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
});
afterAll(() => service.close());

test('a token is shown once, listed without its value, and revoked with immediate effect', async () => {
  const made = await service.call('POST', '/me/tokens', { token, body: { name: 'ci', expiresInDays: 1 } });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    id: expect.stringMatching(/^tok_/),
    name: 'ci',
    token: expect.stringMatching(/^ey/),
    prefix: expect.any(String),
    createdAt: expect.any(String),
    expiresAt: expect.any(String),
  });
  const days = (Date.parse(made.body.expiresAt) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(1);
  const own = made.body.token;
  const claims = JSON.parse(Buffer.from(own.split('.')[1], 'base64url').toString());
  expect(claims.exp).toBe(Math.floor(Date.parse(made.body.expiresAt) / 1000));
  expect((await service.call('GET', '/me', { token: own })).body.login).toBe('octocat');
  const list = (await service.call('GET', '/me/tokens', { token })).body;
  expect(list.map((t: { name: string }) => t.name)).toEqual(['ci', 'test']);
  expect(JSON.stringify(list)).not.toContain(own);
  await until(
    'the use to be noted',
    async () => (await service.call('GET', '/me/tokens', { token })).body[0].lastUsedAt,
  );
  const stranger = await service.token('stranger');
  expect((await service.call('DELETE', `/me/tokens/${made.body.id}`, { token: stranger })).status).toBe(404);
  expect((await service.call('DELETE', `/me/tokens/${made.body.id}`, { token })).status).toBe(204);
  expect((await service.call('GET', '/me', { token: own })).status).toBe(401);
  expect((await service.call('DELETE', `/me/tokens/${made.body.id}`, { token })).status).toBe(404);
});

test.each([
  {},
  { name: '' },
  { name: 'x', expiresInDays: 0 },
  { name: 'x', expiresInDays: 367 },
  { name: 'x', expiresInDays: 1.5 },
])('a token cannot be created with %j', async (body) => {
  expect((await service.call('POST', '/me/tokens', { token, body })).status).toBe(400);
});
