import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrations } from '../migrations/list.ts';
import { restoredCommand } from '../src/cli/backup.ts';
import { examine, storage } from '../src/cli/doctor.ts';
import { openToLook } from '../src/cli/open-to-look.ts';
import { readConfig } from '../src/config.ts';
import { openDatabase } from '../src/db/database.ts';
import { egressDoor } from '../src/egress/egress.ts';
import { modelsAt } from './llm/models.ts';
import { openaiChat } from './llm/servers/openai-chat.ts';
import { openaiResponses } from './llm/servers/openai-responses.ts';
import { Refused, serve } from './llm/servers/serve.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { createTestDatabase } from './support/database.ts';

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
  await service.token('octocat');
  const [about, ...tables] = await storage(service.app);
  expect(about?.says).toMatch(/^the largest tables; growth is the average of a day$/);
  expect(tables).toHaveLength(15);
  for (const { says } of tables) expect(says).toMatch(/^[\w.]+: \d+ MB, \d+ rows \([+-]?\d+ a day\)$/);
});

describe('a database that is not of this version', () => {
  /** Everything that a database has: its tables with their columns, and which migrations it has run. */
  const schemaOf = async (client: pg.Client) => {
    const { rows: columns } = await client.query(
      `select table_schema, table_name, column_name from information_schema.columns
       where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2, 3`,
    );
    const { rows: done } = await client
      .query('select name from migrations order by id')
      .catch(() => ({ rows: 'none' }));
    return { columns, done };
  };
  /** Runs some work with a database that has the first `count` migrations, and returns how its schema has changed. */
  const unchangedBy = async (count: number, work: (config: ReturnType<typeof readConfig>) => Promise<void>) => {
    const database = await createTestDatabase('template1');
    const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-look-'));
    if (count > 0) await (await openDatabase(database.url, migrations.slice(0, count))).close();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const before = await schemaOf(client);
    const secrets = { JWT_SECRET: 'a secret of the tests that is long enough', ENCRYPTION_KEY: '11'.repeat(32) };
    await work(readConfig({ DATABASE_URL: database.url, DATA_DIR: dataDir, SANDBOX: 'off', ...secrets }));
    expect(await schemaOf(client)).toEqual(before);
    await client.end();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  };
  const latest = migrations.slice(-2).map((each) => new each().name);

  test('fails the check with the names of what is missing, and is not changed', async () => {
    await unchangedBy(migrations.length - 2, async (config) => {
      const says = expect.stringContaining(
        `it lacks migrations of this version: ${latest.join(', ')}. "npm run migrate"`,
      );
      expect(await openToLook(config)).toEqual({ what: 'database', state: 'FAIL', says });
    });
  });

  test('is not migrated by `restored` either, which says what to run', async () => {
    await unchangedBy(migrations.length - 2, async (config) => {
      await expect(restoredCommand(config, [])).rejects.toThrow(
        /lacks 2 migrations .*"npm run restored" of that version/,
      );
    });
  });

  test('is left empty if it is new, and so is the data folder', async () => {
    const says = expect.stringContaining('"npm start" or "npm run migrate" makes its tables');
    await unchangedBy(0, async (config) => {
      expect(await openToLook(config)).toEqual({ what: 'database', state: 'todo', says });
      const embedded = { ...config, DATABASE_URL: undefined };
      expect(await openToLook(embedded)).toEqual({ what: 'database', state: 'todo', says });
    });
  });
});
