import { examine, storage } from '../src/cli/doctor.ts';
import { egressDoor } from '../src/egress/egress.ts';
import { modelsAt } from './llm/models.ts';
import { openaiChat } from './llm/servers/openai-chat.ts';
import { openaiResponses } from './llm/servers/openai-responses.ts';
import { Refused, serve } from './llm/servers/serve.ts';
import { openTestApp, type TestApp } from './support/app.ts';

let service: TestApp;
beforeAll(async () => {
  service = await openTestApp({ SANDBOX: 'auto' });
});
afterAll(() => service.close());

const lookUp = async (host: string) => {
  if (host.startsWith('unknown')) throw Object.assign(new Error(), { code: 'ENOTFOUND' });
  return [{ address: host.startsWith('closed') ? '10.0.0.1' : '1.1.1.1', family: 4 }];
};

const examined = async (changed: Partial<TestApp['app']['config']> = {}, models = service.app.models) => {
  const config = { ...service.app.config, EGRESS: 'off' as const, ...changed };
  // Without the tools of this machine, but with apt's sources.
  const egress = egressDoor(config, { PATH: '/nowhere' }, { lookUp });
  const findings = await examine({ ...service.app, models, config, egress });
  return Object.fromEntries(findings.map(({ what, ...found }) => [what, found]));
};

test('what is not configured is reported as todo, with the next step', async () => {
  const found = await examined();
  expect(found.database).toEqual({ state: 'ok', says: 'reachable, up to date' });
  // With or without umoci, and with or without the sandbox that images need.
  expect(found.images).toMatchObject({
    state: expect.stringMatching(/^(ok|todo)$/),
    says: expect.stringMatching(/umoci|sandbox/),
  });
  expect(found.github).toMatchObject({ state: 'todo', says: expect.stringContaining('open this address') });
  expect(found.github?.address).toMatch(/^http:\/\/localhost:3000\/setup\?code=\S+$/);
  expect(found.model).toMatchObject({
    state: 'todo',
    says: expect.stringContaining('set OPENAI_API_KEY and OPENAI_MODEL'),
  });
});

test('the mail server is tried, and what is wrong with it is said without the password', async () => {
  const mail = {
    send: async () => {},
    verify: async () => {
      throw Object.assign(new Error('Invalid login for s3cret'), { code: 'EAUTH' });
    },
  };
  const config = { ...service.app.config, EGRESS: 'off' as const, SMTP_URL: 'smtps://user:s3cret@mail.example.com' };
  const findings = await examine({ ...service.app, config, mail });
  expect(findings.filter(({ what }) => what === 'mail')).toEqual([
    { what: 'mail', state: 'FAIL', says: 'mail.example.com cannot be used (EAUTH); check SMTP_URL' },
  ]);
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

test('an account that GitHub refuses, or that has not accepted all permissions, is named with the reason', async () => {
  const reason = 'acme has not accepted these permissions yet: checks: write.';
  const { app } = service;
  await app.db.manager.query(
    `insert into installations (account_id, installation_id, account_login, account_type, status, problem, problem_reason,
       problem_since) values (7, 1, 'acme', 'User', 'active', 'missing_permissions', $1, now())`,
    [reason],
  );
  const { account } = await examined();
  await app.db.manager.query('delete from installations');
  expect(account).toEqual({ state: 'todo', says: expect.stringContaining(reason) });
  expect((await examined()).account).toBeUndefined();
});

test('a public address is not reported', async () => {
  expect((await examined({ BASE_URL: 'https://deckhand.example.com' })).webhooks).toBeUndefined();
});

test('what prevents set-up from reaching its hosts is reported', async () => {
  const on = { EGRESS: 'on' as const, EGRESS_DEFAULT_HOSTS: ['closed.example.org', '*.example.org'] };
  expect((await examined()).network).toEqual({ state: 'ok', says: 'EGRESS=off: commands reach no host' });
  expect((await examined(on)).network).toMatchObject({
    state: 'todo',
    says: expect.stringMatching(/^host closed.example.org is not allowed; .*EGRESS_OPEN_ADDRESSES/),
  });
  expect((await examined({ ...on, EGRESS_OPEN_ADDRESSES: ['10.0.0.0/8'] })).network).toMatchObject({
    state: 'ok',
    says: expect.stringMatching(/^by default, set-up reaches .*closed.example.org, \*.example.org$/),
  });
  expect((await examined({ ...on, EGRESS_DEFAULT_HOSTS: ['unknown.example.org'] })).network).toMatchObject({
    state: 'todo',
    says: 'host unknown.example.org could not be resolved (ENOTFOUND)',
  });
});

test('a model server that cannot be reached is an error', async () => {
  const broken = { OPENAI_API_KEY: 'key', OPENAI_MODEL: 'm', OPENAI_BASE_URL: 'http://127.0.0.1:1' };
  expect((await examined(broken)).model).toMatchObject({
    state: 'FAIL',
    says: expect.stringContaining('OPENAI_BASE_URL'),
  });
});

test.each([
  [403, { state: 'FAIL', says: expect.stringContaining('HTTP 403; check OPENAI_API_KEY') }],
  [404, { state: 'ok', says: expect.stringContaining('through the Chat Completions API') }],
])('a model server that answers HTTP %i for its list of models', async (status, finding) => {
  const { url, close } = await serve(({ path, body }) => {
    if (path === '/models') throw new Refused(status, { error: { message: 'no list' } });
    return openaiChat(body);
  });
  const MODEL_PRICES = { o3: { input: 1, output: 1 } };
  const set = { OPENAI_API_KEY: 'sk-of-doctor', OPENAI_BASE_URL: url, OPENAI_MODEL: 'o3', MODEL_PRICES };
  expect((await examined(set, modelsAt(url))).model).toMatchObject(finding);
  await close();
});

test('the model is asked a question, and the API that answered is named', async () => {
  let isRefused = false;
  const { url, received, close } = await serve(({ path, body }) => {
    if (path === '/models') return { json: { data: [] } };
    if (isRefused) throw new Refused(401, { error: { message: 'This key may not use the model.' } });
    return path === '/responses' ? openaiResponses(body) : openaiChat(body);
  });
  const asked = (OPENAI_MODEL: string) => {
    const price = { input: 1, output: 1 };
    const MODEL_PRICES = { 'gpt-5.6-pro': price, o3: price };
    return examined(
      { OPENAI_API_KEY: 'sk-of-doctor', OPENAI_BASE_URL: url, OPENAI_MODEL, MODEL_PRICES },
      modelsAt(url),
    );
  };
  expect((await asked('gpt-5.6-pro')).model).toEqual({
    state: 'ok',
    says: `gpt-5.6-pro at ${url}, through the Responses API`,
  });
  expect((await asked('o3')).model).toEqual({ state: 'ok', says: `o3 at ${url}, through the Chat Completions API` });
  expect((await asked('gpt-4o')).model).toMatchObject({ state: 'todo', says: expect.stringContaining('MODEL_PRICES') });
  expect(received.some(({ path }) => path === '/responses')).toBe(true);
  isRefused = true;
  expect((await asked('o3')).model).toMatchObject({
    state: 'FAIL',
    says: expect.stringMatching(
      /refused the key .*OPENAI_API_KEY.* The server said: This key may not use the model\.$/,
    ),
  });
  await close();
});

test('storage lists the largest tables with their growth', async () => {
  const [about, ...tables] = await storage(service.app);
  expect(about?.says).toMatch(/^the largest tables; growth is the average of (a day|\d+ days)$/);
  expect(tables).toHaveLength(15);
  for (const { says } of tables) expect(says).toMatch(/^[\w.]+: \d+ MB, \d+ rows \([+-]?\d+ a day\)$/);
});
