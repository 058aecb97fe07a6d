import { examine } from '../src/cli/doctor.ts';
import { openTestApp, type TestApp } from './support/app.ts';

let service: TestApp;
beforeAll(async () => {
  service = await openTestApp();
});
afterAll(() => service.close());

const examined = async (changed: Partial<TestApp['app']['config']> = {}) => {
  const { app } = service;
  const findings = await examine({ ...app, config: { ...app.config, ...changed } });
  return Object.fromEntries(findings.map(({ what, ...found }) => [what, found]));
};

test('what is not configured is reported as todo, with the next step', async () => {
  const found = await examined();
  expect(found.database).toEqual({ state: 'ok', says: 'reachable, up to date' });
  expect(found.github).toMatchObject({ state: 'todo', says: expect.stringContaining('open this address') });
  expect(found.github?.address).toMatch(/^http:\/\/localhost:3000\/setup\?code=\S+$/);
  expect(found.model).toMatchObject({
    state: 'todo',
    says: expect.stringContaining('set OPENAI_API_KEY and OPENAI_MODEL'),
  });
});

test.each([
  'http://localhost:3000',
  'http://127.0.0.1:3000',
  'https://10.0.0.7',
  'https://[::1]',
  'https://deckhand.internal',
])('GitHub could not deliver to %s, so BASE_URL is reported as todo', async (BASE_URL) => {
  const { webhooks } = await examined({ BASE_URL });
  expect(webhooks).toMatchObject({ state: 'todo', says: expect.stringContaining('Set BASE_URL') });
});

test('a public address is not reported', async () => {
  expect((await examined({ BASE_URL: 'https://deckhand.example.com' })).webhooks).toBeUndefined();
});

test('a model server that cannot be reached is an error', async () => {
  const broken = { OPENAI_API_KEY: 'key', OPENAI_MODEL: 'm', OPENAI_BASE_URL: 'http://127.0.0.1:1' };
  expect((await examined(broken)).model).toMatchObject({
    state: 'FAIL',
    says: expect.stringContaining('OPENAI_BASE_URL'),
  });
});
