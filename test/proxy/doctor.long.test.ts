import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startModel } from '../../demo/model/model.ts';
import { createTestDatabase } from '../support/database.ts';
import { serveSampleRepository } from '../support/git.ts';
import {
  type Authority,
  type CompanyProxy,
  makeAuthority,
  startCompanyProxy,
} from '../support/stand-ins/company-proxy.ts';

const names = ['api.github.test', 'github.test', 'models.test', 'images.example.test', 'registry.example.org'];
const authority = makeAuthority(names) as Authority;
const given = authority === undefined ? test.skip : test;
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-behind-'));
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

let company: CompanyProxy;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let settings: Record<string, string>;
const closing: (() => unknown)[] = [];

/** Answers what the checks ask GitHub and a registry. */
const host = createServer((req, res) => {
  res.writeHead(200, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify(req.url === '/app' ? { id: 1, slug: 'our-app' } : {}));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const model = await startModel(() => 'ready');
  const git = await serveSampleRepository();
  company = await startCompanyProxy(authority, { user: 'me', password: 'hidden word' });
  const { port } = host.address() as AddressInfo;
  for (const name of names) company.hosts.set(name, port);
  company.hosts.set('github.test', Number(new URL(git.url).port));
  company.hosts.set('models.test', Number(new URL(model.url).port));
  database = await createTestDatabase();
  closing.push(() => model.close(), git.close, company.close, database.drop);
  settings = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    JWT_SECRET: 'a secret of the tests that is long enough',
    ENCRYPTION_KEY: '11'.repeat(32),
    SANDBOX: 'off',
    APP_ID: '1',
    PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    WEBHOOK_SECRET: 'a webhook secret of the tests',
    GITHUB_API_URL: 'https://api.github.test',
    GITHUB_SERVER_URL: 'https://github.test',
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODEL: 'm',
    OPENAI_BASE_URL: `https://models.test${new URL(model.url).pathname}`,
    IMAGE_REGISTRY: 'images.example.test/team',
    EGRESS_DEFAULT_HOSTS: 'registry.example.org',
    HTTPS_PROXY: company.withCredentials,
    HTTP_PROXY: '',
    NO_PROXY: 'a.example.test',
  };
});
afterAll(async () => {
  for (const close of closing) await close();
  host.close();
  host.closeAllConnections();
  authority?.remove();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Runs the command in a process of its own, which reads the certificates when it starts. Returns its lines. */
async function doctor(changed: Record<string, string>): Promise<{ code: number; lines: string[] }> {
  const env = { ...settings, ...changed };
  const { code, said } = await new Promise<{ code: number; said: string }>((resolve) => {
    execFile(process.execPath, [main, 'doctor'], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    );
  });
  expect(said).not.toMatch(/hidden|Basic /);
  return { code, lines: said.split('\n') };
}

given('every destination is tried through the proxy', async () => {
  const { lines } = await doctor({ NODE_EXTRA_CA_CERTS: authority.file });
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        /^ok +proxy +HTTPS_PROXY http:\/\/127\.0\.0\.1:\d+ \(with credentials\), NO_PROXY a\.example\.test; .*by name/,
      ),
      expect.stringMatching(/^ok +certs +1 further certificate of NODE_EXTRA_CA_CERTS is trusted$/),
      expect.stringMatching(/^ok +github +https:\/\/api\.github\.test knows the App our-app$/),
      expect.stringMatching(/^ok +git host +git reaches https:\/\/github\.test$/),
      expect.stringMatching(/^ok +registry +images\.example\.test answers$/),
      expect.stringMatching(/^todo +model +m answers through /),
    ]),
  );
  expect(lines.join('\n')).not.toMatch(/registry\.example\.org could not/);
  expect([...new Set(company.seen)]).toEqual(expect.arrayContaining(names.map((name) => `CONNECT ${name}:443`)));
});

given.each([
  ['the password is wrong', () => ({ HTTPS_PROXY: company.withCredentials.replace('hidden', 'bad') }), '(HTTP 407)'],
  ['the proxy is down', () => ({ HTTPS_PROXY: 'http://127.0.0.1:9' }), 'could not be reached (ECONNREFUSED)'],
])('when %s, each destination says so', async (_what, changed, why) => {
  const { code, lines } = await doctor({ NODE_EXTRA_CA_CERTS: authority.file, ...changed() });
  expect(code).toBe(1);
  for (const what of ['github', 'git host', 'registry', 'model'])
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^FAIL +${what} .*\\(HTTPS_PROXY\\)`)));
  expect(lines.filter((line) => line.includes(why)).length).toBeGreaterThanOrEqual(4);
});

given('without the certificates, the setting for them is named', async () => {
  const { code, lines } = await doctor({});
  expect(code).toBe(1);
  for (const what of ['github', 'git host', 'registry', 'model'])
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^FAIL +${what} .*NODE_EXTRA_CA_CERTS`)));
});

given('settings that cannot work are refused by name', async () => {
  const { code, lines } = await doctor({
    HTTPS_PROXY: 'hidden',
    http_proxy: 'socks5://me:hidden@p.test:1080',
    NODE_EXTRA_CA_CERTS: '/no/such/file',
  });
  expect(code).toBe(1);
  expect(lines.map((line) => line.replace(/^FAIL +settings +/, ''))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^HTTPS_PROXY: must be the address of an HTTP proxy such as http:\/\/proxy/),
      expect.stringMatching(/^http_proxy: must be the address/),
      expect.stringMatching(/^NODE_EXTRA_CA_CERTS: the file cannot be read/),
    ]),
  );
});
