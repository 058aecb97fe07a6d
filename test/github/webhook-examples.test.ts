import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { until } from '../../src/demo/real-service.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { appSettings } from '../support/github-app.ts';
import { isThorough } from '../support/thorough.ts';

const secret = 'a secret of this test';
// The package's types do not fit, so read its JSON file directly.
const examples: { name: string; examples: object[] }[] = createRequire(import.meta.url)(
  '@octokit/webhooks-examples/api.github.com/index.json',
);

/** The current state of the installation on GitHub. */
let installed: object | undefined;
let github: Server;
let service: TestApp;
const rejections: unknown[] = [];
const note = (reason: unknown) => rejections.push(reason);

beforeAll(async () => {
  // This GitHub knows only the App and an installation without repositories.
  github = createServer((req, res) => {
    const json = (status: number, body: unknown) =>
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (/access_tokens$/.test(req.url ?? ''))
      return json(201, { token: 'ghs_x', expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    if (req.url?.startsWith('/installation/repositories')) return json(200, { total_count: 0, repositories: [] });
    if (/^\/app\/installations\/\d+$/.test(req.url ?? ''))
      return installed === undefined ? json(404, {}) : json(200, installed);
    if (req.url?.startsWith('/app/installations')) return json(200, []);
    json(404, { message: 'Not Found' });
  });
  await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(github.address() as AddressInfo).port}`;
  process.on('unhandledRejection', note);
  service = await openTestApp(appSettings(url, secret));
  await service.work();
});
afterAll(async () => {
  await service.close();
  process.off('unhandledRejection', note);
  github.close();
  github.closeAllConnections();
});

async function post(event: string, payload: object): Promise<number> {
  const body = JSON.stringify(payload);
  const response = await fetch(`${service.url}/api/github/webhooks`, {
    method: 'POST',
    body,
    headers: {
      'X-GitHub-Event': event,
      'X-GitHub-Delivery': randomUUID(),
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  });
  await response.arrayBuffer();
  return response.status;
}
const handled = () =>
  until('all of them handled', async () => {
    const rows = await service.app.db.manager.query(
      `select event, payload::jsonb->>'action' as action from deliveries where handled_at is null`,
    );
    return rows.length === 0;
  });

const all = examples.flatMap(({ name, examples: list }) => list.map((payload) => [name, payload] as const));
/** The first example of each event and action, and in thorough runs all of them. */
const payloads = all.filter(([name, payload], i) => isThorough || all.findIndex(isLike(name, payload)) === i);

function isLike(name: string, payload: { action?: string }) {
  return ([other, like]: readonly [string, { action?: string }]) => other === name && like.action === payload.action;
}

test("each of GitHub's example payloads is accepted and handled without a crash", async () => {
  expect(payloads.length).toBeGreaterThan(150);
  for (const [event, payload] of payloads) expect([event, await post(event, payload)]).toEqual([event, 202]);
  await handled();
  expect(rejections).toEqual([]);
});

test('installing creates a project, uninstalling keeps it, and installing again finds it', async () => {
  type Event = { action: string; installation: { account: { login: string } } };
  const created = payloads.find(([event, p]) => event === 'installation' && (p as Event).action === 'created');
  const payload = created?.[1] as Event;
  const row = async () => {
    const [found] = await service.app.db.manager.query(
      'select status, project_id as project from installations where account_login = $1',
      [payload.installation.account.login],
    );
    return found;
  };
  const tell = async (action: string, now: object | undefined) => {
    installed = now;
    await post('installation', { ...payload, action });
    await handled();
    return row();
  };
  const made = await tell('created', payload.installation);
  expect(made).toEqual({ status: 'active', project: expect.stringMatching(/^proj_/) });
  expect(await tell('deleted', undefined)).toEqual({ ...made, status: 'deleted' });
  expect(await tell('created', payload.installation)).toEqual(made);
  expect(await tell('suspend', { ...payload.installation, suspended_at: '2026-01-01T00:00:00Z' })).toEqual({
    ...made,
    status: 'suspended',
  });
  // The late event's content is no longer true.
  expect(await tell('suspend', { ...payload.installation, suspended_at: null })).toEqual(made);
});
