import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { parse } from 'yaml';
import { until } from '../../demo/real-service.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { appSettings } from '../support/github-app.ts';
import { isThorough } from '../support/thorough.ts';
import { noteExamples, readWebhooks, variantsOf } from '../truth/webhook-variants.ts';

const secret = 'a secret of this test';
// The package's types do not fit, so read its JSON file directly.
const examples: { name: string; examples: object[] }[] = createRequire(import.meta.url)(
  '@octokit/webhooks-examples/api.github.com/index.json',
);

/** The events of app.yml. */
const { default_events: events } = parse(readFileSync(new URL('../../app.yml', import.meta.url), 'utf8')) as {
  default_events: string[];
};

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
    if (req.url === '/users/mona') return json(200, { id: 1, login: 'mona', name: null, avatar_url: '' });
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

/** Connects a repository, so that handlers go beyond looking for it. */
async function connected(): Promise<{ installation: object; repository: object }> {
  const token = await service.token('mona');
  const { id: projectId } = (await service.call('POST', '/projects', { token, body: { name: 'P' } })).body;
  const url = `${service.app.config.GITHUB_SERVER_URL}/acme/app`;
  await service.call('POST', `/projects/${projectId}/git-token`, { token, body: { token: 'ghp_x' } });
  const { id } = (await service.call('POST', '/repositories', { token, body: { projectId, name: 'app', url } })).body;
  const { manager } = service.app.db;
  await manager.query('update repositories set is_installed = true, github_id = 4711 where id = $1', [id]);
  await manager.query(
    `insert into installations (installation_id, account_login, account_id, account_type, status, project_id)
     values (7, 'acme', 7, 'Organization', 'active', $1)`,
    [projectId],
  );
  return { installation: { id: 7 }, repository: { id: 4711, name: 'app', full_name: 'acme/app' } };
}

/** Makes an example one of the connected repository, with a command where people write. */
function moved(payload: object, place: { installation: object; repository: object }): object {
  const copy = structuredClone(payload) as Record<string, Record<string, unknown> | undefined>;
  if (copy.repository !== undefined) copy.repository = { ...copy.repository, ...place.repository };
  copy.installation = { ...copy.installation, ...place.installation };
  if (copy.comment !== undefined) copy.comment.body = '/agent status';
  return copy;
}

const handledEvents = new Set([...events, 'installation', 'installation_repositories']);

test('payloads without what GitHub may leave out or set to null are handled without a crash', async () => {
  const place = await connected();
  const webhooks = readWebhooks();
  const crashes: string[] = [];
  let tried = 0;
  const seen = new Set<string>();
  for (const [name, payload] of payloads.filter(([event]) => handledEvents.has(event)))
    for (const variant of variantsOf(webhooks, name, moved(payload, place), isThorough)) {
      const text = JSON.stringify(variant);
      if (seen.has(`${name} ${text}`)) continue;
      seen.add(`${name} ${text}`);
      tried++;
      const error = await service.app.github?.receive({ id: randomUUID(), name, payload: variant }).then(
        () => undefined,
        (reason) => reason,
      );
      // GitHub answers 404 to most that is asked here, which jobs try again; but nothing must crash.
      if (error !== undefined && error.status === undefined) crashes.push(`${name}: ${error}: ${text.slice(0, 1500)}`);
    }
  expect(crashes).toEqual([]);
  expect(tried).toBeGreaterThan(400);
  expect(rejections).toEqual([]);
  noteExamples(payloads.length, tried);
});

test.each([['sender'], ['repository'], ['installation']])('deliveries with %s: null end quietly', async (part) => {
  const example = payloads.find(
    ([event, p]) => event === 'issue_comment' && (p as { action: string }).action === 'created',
  );
  expect(await post('issue_comment', { ...example?.[1], [part]: null })).toBe(202);
  await handled();
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
    // Events have times as numbers, the API as text.
    const at = '2026-01-01T00:00:00Z';
    installed = now && { ...now, created_at: at, updated_at: at };
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
