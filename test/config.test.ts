import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConfigError, readConfig, secretSettings } from '../src/config.ts';
import { privateKey } from './support/github-app.ts';

const app = { APP_ID: '1', PRIVATE_KEY: privateKey, WEBHOOK_SECRET: 'a-real-one-7f3a' };

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    return (error as ConfigError).problems;
  }
}

test('without settings the service uses an embedded database and no App', () => {
  const config = readConfig({});
  expect(config.githubApp).toBeUndefined();
  expect(config.BASE_URL).toBe('http://localhost:3000');
  expect(config.DATABASE_URL).toBeUndefined();
});

test('an App requires its key and a separate webhook secret', () => {
  expect(problemsOf(app)).toEqual([]);
  expect(problemsOf({ ...app, PRIVATE_KEY: privateKey.replaceAll('\n', '\\n') })).toEqual([]);
  expect(problemsOf({ APP_ID: '1' }).map((p) => p.split(':')[0])).toEqual(['WEBHOOK_SECRET', 'PRIVATE_KEY']);
  expect(problemsOf({ ...app, WEBHOOK_SECRET: 'development' })[0]).toMatch(/^WEBHOOK_SECRET: is a well-known default/);
  expect(problemsOf({ ...app, WEBHOOK_SECRET: '' })[0]).toMatch(/^WEBHOOK_SECRET: required/);
  expect(problemsOf({ ...app, PRIVATE_KEY: 'nonsense' })[0]).toMatch(/^PRIVATE_KEY: must be a PEM/);
});

test('all problems are reported together, and no report contains a value', () => {
  const secret = 'hunter2hunter2hunter2';
  const problems = problemsOf({
    PORT: 'many',
    ROLE: 'captain',
    DATABASE_URL: `mysql://root:${secret}@db`,
    JWT_SECRET: secret,
    ENCRYPTION_KEY: secret,
    MODEL_PRICES: secret,
    GITHUB_API_URL: 'ftp://x',
  });
  const names = problems.map((p) => p.split(':')[0]);
  for (const name of ['PORT', 'ROLE', 'DATABASE_URL', 'JWT_SECRET', 'ENCRYPTION_KEY', 'MODEL_PRICES', 'GITHUB_API_URL'])
    expect(names).toContain(name);
  expect(problems.join('\n')).not.toContain(secret);
});

test('lists of hosts and addresses are checked', () => {
  const given = {
    EGRESS_DEFAULT_HOSTS: 'Registry.example.org, *.example.com',
    EGRESS_OPEN_ADDRESSES: '10.0.0.0/8,fd00::/8',
  };
  expect(readConfig(given)).toMatchObject({
    EGRESS: 'on',
    EGRESS_DEFAULT_HOSTS: ['registry.example.org', '*.example.com'],
    EGRESS_OPEN_ADDRESSES: ['10.0.0.0/8', 'fd00::/8'],
  });
  for (const host of ['https://example.org', 'example.org:443', '10.0.0.1', '*', 'a,,b'])
    expect(problemsOf({ EGRESS_DEFAULT_HOSTS: host })[0]).toMatch(/^EGRESS_DEFAULT_HOSTS: must be host names such as/);
  for (const range of ['10.0.0.1', '10.0.0.0/33', 'example.org'])
    expect(problemsOf({ EGRESS_OPEN_ADDRESSES: range })[0]).toMatch(/^EGRESS_OPEN_ADDRESSES: must be ranges of/);
  expect(problemsOf({ EGRESS: 'yes' })).toEqual(['EGRESS: must be on or off']);
});

test('the labels of a worker are a list, in which case does not matter', () => {
  expect(readConfig({ RUNS_ON: 'Linux, gpu' }).RUNS_ON).toEqual(['linux', 'gpu']);
  expect(readConfig({}).RUNS_ON).toEqual([]);
  expect(problemsOf({ RUNS_ON: 'linux gpu' })[0]).toMatch(/^RUNS_ON: must be labels of/);
});

test.each(['sk-…', 'sk-a\nsk-b', 'ключ'])('a model key that cannot be sent is refused: %s', (OPENAI_API_KEY) => {
  expect(problemsOf({ OPENAI_API_KEY })).toEqual([
    'OPENAI_API_KEY: must consist of printable ASCII characters without spaces',
  ]);
});

test('limits that would end every run immediately are refused', () => {
  expect(problemsOf({ MAX_RUN_MINUTES: '40000' })[0]).toMatch(/^MAX_RUN_MINUTES: must be at most/);
  expect(problemsOf({ RUN_HEARTBEAT_SECONDS: '30' })[0]).toMatch(/^RUN_HEARTBEAT_SECONDS: must be less/);
  expect(
    problemsOf({
      DATABASE_URL: 'postgres://u:100%@h/d',
      JWT_SECRET: 'x'.repeat(32),
      ENCRYPTION_KEY: '0'.repeat(64),
    })[0],
  ).toMatch(/^DATABASE_URL/);
});

test('DATABASE_URL requires explicit keys', () => {
  expect(problemsOf({ DATABASE_URL: 'postgres://x/y' }).map((p) => p.split(':')[0])).toEqual([
    'JWT_SECRET',
    'ENCRYPTION_KEY',
  ]);
});

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test('NAME_FILE gives the setting NAME, without the line ending that editors add', () => {
    const config = readConfig({
      ...app,
      PRIVATE_KEY: '',
      PRIVATE_KEY_FILE: file('app.pem', `${privateKey}\n`),
      OPENAI_API_KEY_FILE: file('model', 'sk-from-a-file\r\n'),
      JWT_SECRET_FILE: file('jwt', `${'x'.repeat(32)}\n\n`),
    });
    expect(config.githubApp?.privateKey).toBe(privateKey.trim());
    expect(config).toMatchObject({ OPENAI_API_KEY: 'sk-from-a-file', JWT_SECRET: `${'x'.repeat(32)}\n` });
  });

  test.each(secretSettings)('%s can be given as a file', (name) => {
    expect(problemsOf({ [`${name}_FILE`]: join(folder, 'missing') })).toContain(
      `${name}_FILE: the file ${join(folder, 'missing')} cannot be read (ENOENT); check its path and its permissions`,
    );
  });

  test('every setting whose name says that it is secret is one of them', () => {
    const names = readFileSync(new URL('../src/config.ts', import.meta.url), 'utf8').matchAll(/^ {2}([A-Z_]+):/gm);
    const secret = [...names].map(([, name = '']) => name).filter((name) => /_KEY|SECRET|PASSWORD/.test(name));
    expect(secretSettings).toEqual(expect.arrayContaining(secret.filter((name) => !name.endsWith('_PATH'))));
  });

  test('a file beside its setting and an empty file are refused, without the value', () => {
    const given = { JWT_SECRET: 'hunter2'.repeat(5), JWT_SECRET_FILE: file('other', 'hunter2'.repeat(5)) };
    const problems = problemsOf({ ...given, OPENAI_API_KEY_FILE: file('empty', '\n') });
    expect(problems).toEqual([
      'JWT_SECRET_FILE: JWT_SECRET is set too; set only one of them',
      `OPENAI_API_KEY_FILE: the file ${join(folder, 'empty')} is empty`,
    ]);
  });

  test('a file of a required setting counts as the setting', () => {
    const DATABASE_URL_FILE = file('url', 'postgres://x/y');
    expect(problemsOf({ DATABASE_URL_FILE }).map((p) => p.split(':')[0])).toEqual(['JWT_SECRET', 'ENCRYPTION_KEY']);
  });
});

test('invalid settings end the start with a line per problem and exit code 1', async () => {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const env = {
    ...app,
    PATH: process.env.PATH ?? '',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    WEBHOOK_SECRET: 'development',
    PORT: 'x',
    PRIVATE_KEY: 'secret-pem-text',
  };
  const ended = await new Promise<{ code: number | string | null | undefined; stderr: string; stdout: string }>(
    (resolve) =>
      execFile(process.execPath, [main], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code, stdout, stderr }),
      ),
  );
  expect(ended.code).toBe(1);
  expect(
    ended.stderr
      .trim()
      .split('\n')
      .map((l) => l.split(':')[0])
      .sort(),
  ).toEqual(['PORT', 'PRIVATE_KEY', 'WEBHOOK_SECRET']);
  expect(ended.stderr + ended.stdout).not.toContain('secret-pem-text');
});
