import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../src/demo/real-service.ts';
import { resealApp, setupAddress } from '../../src/github/app/stored-app.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { rowsOf } from '../support/everything.ts';
import { privateKey } from '../support/keys.ts';

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

test('without the code there is no setup', async () => {
  for (const path of ['/setup', '/setup?code=', '/setup?code=wrong', '/setup?code[]=a'])
    expect((await open(path)).status).toBe(404);
});

test('a code opens the page once; the form gives GitHub the manifest of app.yml with our addresses', async () => {
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
  expect((await open(path)).status).toBe(404);
});

test('the callback belongs to the browser that began, and to one try', async () => {
  const page = await open(pathOf(await setupAddress(service.app)));
  const [cookie, state] = [cookieOf(page), stateOf(await page.text())];
  expect((await open(`/setup/callback?code=good&state=${state}`)).status).toBe(400);
  const other = cookie.replace(/=.*/, '=of-another-browser');
  expect((await open(`/setup/callback?code=good&state=${state}`, other)).status).toBe(400);
  expect((await open(`/setup/callback?code=good&state=${state}`, cookie)).status).toBe(400);
  expect(asked).toEqual([]);
});

test('a code that GitHub does not know is 502 and stores nothing', async () => {
  const page = await open(pathOf(await setupAddress(service.app)));
  const answer = await open(`/setup/callback?code=bad&state=${stateOf(await page.text())}`, cookieOf(page));
  expect(answer.status).toBe(502);
  expect(service.app.github).toBeUndefined();
});

test('the App is stored encrypted and works at once, without a restart', async () => {
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
  expect((await open('/setup?code=x')).status).toBe(404);
  expect(await setupAddress(service.app)).toBeUndefined();
  const dump = (await rowsOf(service)).join('\n');
  for (const canary of [secret, 'canary-client-secret', 'PRIVATE KEY', Buffer.from(secret).toString('hex')])
    expect(dump).not.toContain(canary);
  expect(await resealApp(service.app)).toBe(1);
  await until('the page', async () =>
    (await (await open('/installed?installation_id=5')).text()).includes('installed'),
  );
});
