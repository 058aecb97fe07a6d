import { createHmac, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { until } from '../../../demo/real-service.ts';
import { syncInstallations } from '../../../src/github/app/installation.ts';
import { placeOfRepository } from '../../../src/github/app/place.ts';
import { heardUntil, setMark } from '../../../src/github/delivery-store.ts';
import { catchUp } from '../../../src/github/inbox/catch-up.ts';
import { reconcileAll } from '../../../src/github/inbox/compare-with-github.ts';
import { ownLabels } from '../../../src/github/labels.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { appSettings } from '../../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../../support/stand-ins/fake-github.ts';

const broken = ['suspended', 'walled', 'blocked', 'garbled', 'silent'];
const healthy = Array.from({ length: 15 }, (_, i) => `healthy${i}`);
/** The broken ones come first. */
const accounts = [...broken, ...healthy].map((login, i) => ({ id: 10 + i, login, type: 'User' }));
const refusals: Record<string, [status: number, message: string]> = {
  walled: [403, 'Although you appear to have the correct authorization credentials, an IP allow list is enabled'],
  blocked: [451, 'Repository access blocked'],
};
let areBroken = false;
/** Comments of every repository, as GitHub lists them. */
let comments: object[] = [];
const held: ServerResponse[] = [];
/** When a task was shown, by the login of the account. */
const shownAt = new Map<string, number>();
let github: FakeGitHub;
let service: TestApp;

/** Answers for an account that is broken now; returns whether it did. */
function brokenAnswer(login: string, res: ServerResponse): boolean {
  if (!areBroken || !broken.includes(login)) return false;
  const refusal = refusals[login];
  if (login === 'silent') held.push(res);
  else if (refusal !== undefined)
    res.writeHead(refusal[0], { 'content-type': 'application/json' }).end(JSON.stringify({ message: refusal[1] }));
  else res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Down for maintenance</html>');
  if (login === 'silent') res.flushHeaders();
  return true;
}

function answerAbout([request, login = '', rest = '']: RegExpExecArray, res: ServerResponse): unknown {
  if (brokenAnswer(login, res)) return {};
  if (request.startsWith('POST') && rest.endsWith('/comments')) shownAt.set(login, performance.now());
  if (request.startsWith('POST')) return rest.endsWith('/labels') ? [] : { id: 1 };
  if (rest === '/labels') return [...ownLabels, 'agent:run'].map((name) => ({ name }));
  if (rest === '/issues/1') {
    const repository_url = `${github.url}/repos/${login}/shop`;
    return { number: 1, title: 'Do it', body: 'please', state: 'open', labels: [], repository_url };
  }
  if (rest === '/issues/comments') return comments;
  return rest.startsWith('/issues/comments/') ? undefined : [];
}

beforeAll(async () => {
  const installations = accounts.map((account) => ({ id: account.id, account, suspended_at: null }));
  github = await openFakeGitHub([
    [
      /^POST \/app\/installations\/(\d+)\/access_tokens/,
      ([, id], res) => {
        const isSuspended = areBroken && accounts.find((a) => a.id === Number(id))?.login === 'suspended';
        if (isSuspended) res.statusCode = 403;
        const expires_at = new Date(Date.now() + 3_600_000).toISOString();
        return isSuspended ? { message: 'This installation has been suspended' } : { token: `ghs_${id}`, expires_at };
      },
    ],
    [/^GET \/app\/installations\?/, () => installations],
    [/^GET \/app$/, () => ({ slug: 'deckhand' })],
    [/^GET \/users\//, () => ({ id: 1, login: 'deckhand[bot]' })],
    [
      /^GET \/installation\/repositories/,
      (_, res) => {
        const { id, login } = accounts.find((a) => res.req.headers.authorization?.endsWith(`ghs_${a.id}`)) ?? {};
        const repository = { id: 100 + (id ?? 0), name: 'shop', full_name: `${login}/shop`, private: true };
        return { total_count: 1, repositories: [repository] };
      },
    ],
    [/^(?:GET|POST) \/repos\/(\w+)\/shop([^?]*)/, answerAbout],
  ]);
  service = await openTestApp(appSettings(github.url));
  await syncInstallations(service.app);
  await service.app.db.manager.query(
    `insert into tasks (id, project_id, title, status, repository_id, issue_repository_id, issue_number)
     select 'task_' || id, project_id, 'Do it', 'ready', id, id, 1 from repositories`,
  );
  await service.work();
});
afterAll(async () => {
  for (const res of held) res.destroy();
  await service.close();
  github.close();
});

/** Tells the service that the issue of an account was closed, after which it looks at what it shows there. */
async function deliver(login: string): Promise<void> {
  const id = accounts.find((account) => account.login === login)?.id ?? 0;
  const repository = { id: 100 + id, full_name: `${login}/shop` };
  const body = JSON.stringify({ action: 'closed', installation: { id }, repository, issue: { number: 1 } });
  const headers = {
    'X-GitHub-Event': 'issues',
    'X-GitHub-Delivery': randomUUID(),
    'X-Hub-Signature-256': `sha256=${createHmac('sha256', 'x').update(body).digest('hex')}`,
  };
  const { status } = await fetch(`${service.url}/api/github/webhooks`, { method: 'POST', body, headers });
  expect(status).toBe(202);
}

/** Returns after how many milliseconds the last of the healthy ones shows its task, counted from its webhook. */
async function slowest(): Promise<number> {
  shownAt.clear();
  const sentAt = new Map<string, number>();
  for (const login of healthy) {
    sentAt.set(login, performance.now());
    await deliver(login);
  }
  await until('the tasks of the healthy ones', async () => healthy.every((login) => shownAt.has(login)));
  return Math.max(...healthy.map((login) => (shownAt.get(login) ?? 0) - (sentAt.get(login) ?? 0)));
}

test('webhooks of healthy installations are mirrored as fast beside five broken ones', async () => {
  await slowest();
  const before = await slowest();
  areBroken = true;
  for (let i = 0; i < 8; i++) for (const login of broken) await deliver(login);
  await until('a silent request', async () => held.length > 0);
  // Without a limit, the silent one holds the others up for the 20 seconds that a request may take. A busy machine needs room.
  expect(await slowest()).toBeLessThan(3 * before + 5000);
});

test('a catch-up that has no time left continues at the comment that came next', async () => {
  const em = service.app.db.manager;
  const [{ id }] = await em.query(`select id from repositories where url like '%healthy0/%'`);
  const place = await placeOfRepository(service.app, id);
  if (place === undefined) throw new Error('healthy0 is not installed');
  const minutesAgo = (n: number) => new Date(Date.now() - n * 60_000).toISOString();
  const [first, second] = [minutesAgo(20), minutesAgo(10)];
  comments = [first, second].map((created_at) => ({ user: { login: 'mona' }, body: 'Hello', created_at }));
  await setMark(em, `heard ${id}`, minutesAgo(30));
  let asked = 0;
  await catchUp(service.app, place, () => ++asked > 1);
  // Each catch-up also reads the minute before its mark.
  expect(await heardUntil(em, id)).toBe(new Date(Date.parse(second) - 60_000).toISOString());
  await catchUp(service.app, place, () => false);
  expect(Date.parse((await heardUntil(em, id)) ?? '')).toBeGreaterThan(Date.parse(second));
});

/** Returns how many tasks have been compared with GitHub. */
async function countCompared(): Promise<number> {
  const rows: { n: number }[] = await service.app.db.manager.query('select count(*)::int as n from compared');
  return rows[0]?.n ?? 0;
}

test('a sweep compares the healthy installations while a silent one holds its own comparison', async () => {
  const before = held.length;
  await reconcileAll(service.app, 'scheduled');
  await until('the comparisons', async () => (await countCompared()) >= healthy.length);
  // It waits 20 seconds for each answer. If all shared one job, the others would wait for several of them.
  expect(held.length - before).toBeLessThanOrEqual(1);
});
