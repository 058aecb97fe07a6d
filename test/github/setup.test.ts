import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../demo/real-service.ts';
import { webhookProblem } from '../../src/github/app/manifest.ts';
import { resealApp, setupAddress } from '../../src/github/app/stored-app.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { rowsOf } from '../support/everything.ts';
import { privateKey } from '../support/github-app.ts';

const secret = 'canary-webhook-secret-from-github';
let github: Server;
let service: TestApp;
const asked: string[] = [];

beforeAll(async () => {
  github = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    const json = (status: number, body: object) =>
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (req.url === '/app-manifests/good/conversions')
      return json(201, {
        id: 99,
        slug: 'deckhand-new',
        html_url: 'https://github.com/apps/deckhand-new',
        client_id: 'Iv1.x',
        client_secret: 'canary-client-secret',
        webhook_secret: secret,
        pem: privateKey,
      });
    if (req.url === '/app') return json(200, { slug: 'deckhand-new' });
    json(404, { message: 'Not Found' });
  });
  await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(github.address() as AddressInfo).port}`;
  service = await openTestApp({ GITHUB_API_URL: url, GITHUB_SERVER_URL: url });
});
afterAll(async () => {
  await service.close();
  github.close();
  github.closeAllConnections();
});

const open = (path: string, cookie = '') =>
  fetch(`${service.url}${path}`, { redirect: 'manual', headers: cookie === '' ? {} : { Cookie: cookie } });
const pathOf = (address: string | undefined) => {
  const url = new URL(address ?? '');
  return url.pathname + url.search;
};
const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? '';
const stateOf = (html: string) => /[?&]state=([\w-]+)/.exec(html)?.[1] ?? '';

const nextCodeOf = (html: string) => /name="code" value="([\w-]+)"/.exec(html)?.[1] ?? '';
const actionOf = (html: string) => /<form action="([^"]+)" method="post"/.exec(html)?.[1] ?? '';
const plainText = (html: string) =>
  html
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

test('for a missing or wrong code, a page with an explanation is shown', async () => {
  for (const path of ['/setup', '/setup?code=', '/setup?code=wrong', '/setup?code[]=a', '/setup/callback']) {
    const answer = await open(path);
    const html = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      path === '/setup/callback' ? 400 : 404,
      expect.stringContaining('text/html'),
    ]);
    expect(plainText(html)).toMatch(/npm run doctor/);
    expect(html).not.toMatch(/name="manifest"/);
  }
});

test('a code opens the page once; the form sends GitHub the manifest of app.yml with our addresses', async () => {
  const path = pathOf(await setupAddress(service.app));
  const page = await open(path);
  const html = await page.text();
  expect(page.status).toBe(200);
  expect(page.headers.get('cache-control')).toBe('no-store');
  const manifest = JSON.parse(
    (/name="manifest" value="([^"]*)"/.exec(html)?.[1] ?? '').replace(/&#(\d+);/g, (_all, code) =>
      String.fromCharCode(code),
    ),
  );
  expect(manifest).toMatchObject({
    hook_attributes: { url: 'http://localhost:3000/api/github/webhooks' },
    redirect_url: 'http://localhost:3000/setup/callback',
    callback_urls: ['http://localhost:3000/login/callback'],
    default_permissions: { contents: 'write', metadata: 'read' },
  });
  expect(manifest.default_events).toContain('pull_request_review');
  const again = await open(path);
  expect([again.status, plainText(await again.text())]).toEqual([404, expect.stringContaining('one day')]);
});

test('the page has light and dark colours and runs no script', async () => {
  const page = await open(pathOf(await setupAddress(service.app)));
  const html = await page.text();
  expect(html).toMatch(/prefers-color-scheme: dark/);
  expect(html).not.toMatch(/<script/);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain(`form-action 'self' ${service.app.config.GITHUB_SERVER_URL}`);
});

test('the field for an organization leads to the form for an App of that organization', async () => {
  const first = await open(pathOf(await setupAddress(service.app)));
  const html = await first.text();
  expect(actionOf(html)).toMatch(/\/settings\/apps\/new\?state=/);
  expect(actionOf(html)).not.toContain('/organizations/');
  expect(html).toMatch(/<input[^>]* name="organization"/);
  const second = await open(`/setup?code=${nextCodeOf(html)}&organization=Acme-1`, cookieOf(first));
  expect(second.status).toBe(200);
  const withOrganization = await second.text();
  expect(new URL(actionOf(withOrganization)).pathname).toBe('/organizations/Acme-1/settings/apps/new');
  expect(plainText(withOrganization)).toContain('Acme-1');
  // Both forms belong to the same browser, so the form of the first page still works.
  expect(cookieOf(second)).toBe(cookieOf(first));
});

test("an empty field means the person's own account; an invalid name is refused beside the field", async () => {
  const html = await (await open(pathOf(await setupAddress(service.app)))).text();
  const own = await open(`/setup?code=${nextCodeOf(html)}&organization=+`);
  const ownHtml = await own.text();
  expect([own.status, new URL(actionOf(ownHtml)).pathname]).toEqual([200, '/settings/apps/new']);
  let code = nextCodeOf(ownHtml);
  for (const name of ['a/../b', '-acme', 'x'.repeat(40), '"><b>', 'a b']) {
    const refused = await open(`/setup?code=${code}&organization=${encodeURIComponent(name)}`);
    const page = await refused.text();
    expect([refused.status, plainText(page)]).toEqual([400, expect.stringContaining('at most 39 characters')]);
    expect(page).not.toContain('<b>');
    expect(page).not.toMatch(/name="manifest"/);
    code = nextCodeOf(page);
  }
  expect((await open(`/setup?code=${code}&organization=acme`)).status).toBe(200);
});

test('the page warns when GitHub could not reach the webhook address', async () => {
  const text = plainText(await (await open(pathOf(await setupAddress(service.app)))).text());
  expect(text).toContain('http://localhost:3000/api/github/webhooks');
  expect(text).toContain('Set BASE_URL');
});

const server = 'https://github.com';
test.each([
  ['http://localhost:3000', server],
  ['http://deckhand.localhost', server],
  ['http://127.0.0.1:3000', server],
  ['http://[::1]:3000', server],
  ['http://192.168.1.7', server],
  ['https://10.1.2.3', server],
  ['https://deckhand.internal', server],
  ['https://deckhand.internal', 'https://acme.ghe.com'],
  ['http://localhost:3000', 'https://github.corp.example'],
])('a webhook at %s is not reachable from %s', (baseUrl, serverUrl) => {
  expect(webhookProblem({ BASE_URL: baseUrl, GITHUB_SERVER_URL: serverUrl })).toContain('BASE_URL');
});
test.each([
  ['https://deckhand.example.com', server],
  ['https://8.8.8.8', server],
  ['https://deckhand.internal', 'https://github.corp.example'],
  ['https://10.1.2.3', 'https://github.corp.example'],
])('a webhook at %s may be reachable from %s', (baseUrl, serverUrl) => {
  expect(webhookProblem({ BASE_URL: baseUrl, GITHUB_SERVER_URL: serverUrl })).toBeUndefined();
});

test('the callback works only in the browser that began the setup, and only once', async () => {
  const page = await open(pathOf(await setupAddress(service.app)));
  const [cookie, state] = [cookieOf(page), stateOf(await page.text())];
  expect((await open(`/setup/callback?code=good&state=${state}`)).status).toBe(400);
  const other = cookie.replace(/=.*/, '=of-another-browser');
  expect((await open(`/setup/callback?code=good&state=${state}`, other)).status).toBe(400);
  expect((await open(`/setup/callback?code=good&state=${state}`, cookie)).status).toBe(400);
  expect(asked).toEqual([]);
});

test('a code that GitHub does not know is a 502 and stores nothing', async () => {
  const page = await open(pathOf(await setupAddress(service.app)));
  const answer = await open(`/setup/callback?code=bad&state=${stateOf(await page.text())}`, cookieOf(page));
  expect([answer.status, plainText(await answer.text())]).toEqual([502, expect.stringContaining('GitHub')]);
  expect(service.app.github).toBeUndefined();
});

test('the App is stored encrypted and works immediately, without a restart', async () => {
  const body = '{"zen":"x"}';
  const post = (guid: string) =>
    fetch(`${service.url}/api/github/webhooks`, {
      method: 'POST',
      body,
      headers: {
        'X-GitHub-Event': 'ping',
        'X-GitHub-Delivery': guid,
        'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      },
    });
  expect((await post('before')).status).toBe(404);
  const page = await open(pathOf(await setupAddress(service.app)));
  const answer = await open(`/setup/callback?code=good&state=${stateOf(await page.text())}`, cookieOf(page));
  expect([answer.status, answer.headers.get('location')]).toEqual([
    303,
    expect.stringContaining('/apps/deckhand-new/installations/new'),
  ]);
  expect(await service.app.github?.slug()).toBe('deckhand-new');
  expect((await post('after')).status).toBe(202);
  expect((await open('/login')).status).toBe(200);
  const done = await open('/setup?code=x');
  expect([done.status, plainText(await done.text())]).toEqual([404, expect.stringContaining('Sign in')]);
  expect(await setupAddress(service.app)).toBeUndefined();
  const dump = (await rowsOf(service)).join('\n');
  for (const canary of [secret, 'canary-client-secret', 'PRIVATE KEY', Buffer.from(secret).toString('hex')])
    expect(dump).not.toContain(canary);
  expect(await resealApp(service.app)).toBe(1);
  await until('the page', async () =>
    (await (await open('/installed?installation_id=5')).text()).includes('installed'),
  );
});
