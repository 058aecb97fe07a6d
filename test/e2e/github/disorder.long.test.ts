import { createHmac, randomUUID } from 'node:crypto';
import type { Script } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { isThorough } from '../../support/thorough.ts';
import { openWorld, type World } from '../../support/world.ts';

const repo = '/repos/mona/sample';
// 50 orders take two minutes: `DISORDERS=50 npm test -- test/e2e/github/disorder`.
const orders = Number(process.env.DISORDERS ?? (isThorough ? 5 : 1));
const eventsOfAnOrder = 100;
const script: Script = [
  [{ name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } }],
  [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }],
];

let world: World;
let issues: Record<'merged' | 'closed' | 'left' | 'backlog' | 'created' | 'strange', number>;
/** The deliveries that GitHub would have sent while the service was not connected. */
let missed: { event: string; body: string }[];
let template: string;

const mona = <T = unknown>(method: string, path: string, body?: object) =>
  world.github.as('mona')<T>(method, path, body);

beforeAll(async () => {
  world = await openWorld(script, { settings: { SANDBOX: 'off' } });
  const inReview = async () => {
    const number = await world.issue('/agent start');
    return until('review', async () => {
      const task = (await tasksOf(world)).find((t) => t.issueNumber === number);
      return task?.status === 'in_review' && { number, pull: Number(/\d+$/.exec(task.prUrl ?? '')?.[0]) };
    });
  };
  const [merged, closed, left] = [await inReview(), await inReview(), await inReview()];
  const backlog = await world.issue('/agent create');
  await until('backlog', async () => (await world.labels(backlog)).join() === 'agent:backlog');
  await until('the checks to be shown', async () => (await world.labels(left.pull)).join() === 'agent:in-review');
  await world.service.stop();
  const from = world.github.deliveries.length;
  world.github.deliverTo('http://127.0.0.1:1/');
  await mona('PUT', `${repo}/pulls/${merged.pull}/merge`, {});
  await mona('PATCH', `${repo}/pulls/${closed.pull}`, { state: 'closed' });
  await mona('POST', `${repo}/issues/${left.number}/labels`, { labels: ['agent:done', 'bug'] });
  await mona('DELETE', `${repo}/issues/${left.number}/labels/agent:in-review`);
  await mona('PATCH', `${repo}/issues/${left.number}`, { state: 'closed' });
  await mona('POST', `${repo}/issues/${backlog}/comments`, { body: '/agent assign Reviewer' });
  const created = await world.issue('/agent create', { title: 'Made while nobody listened' });
  const strange = await world.issue('', { title: 'By a stranger' });
  await world.github.as('stranger')('POST', `${repo}/issues/${strange}/comments`, { body: '/agent start' });
  issues = { merged: merged.number, closed: closed.number, left: left.number, backlog, created, strange };
  missed = world.github.deliveries.slice(from);
  template = new URL(world.settings.DATABASE_URL ?? '').pathname.slice(1);
});
afterAll(() => world.close());

interface Shown {
  issueNumber: number;
  status: string;
  owner: string | null;
  prUrl: string | null;
}
const tasksOf = (of: World) => of.get<Shown[]>(`/projects/${of.project.id}/tasks?limit=100`);

/** Returns pseudo-random numbers that are the same in every run (mulberry32), so that a failing order can be repeated. */
function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Returns deliveries in random order: a tenth of the events is missing, a fifth of the deliveries is duplicated.
 */
function disorder(seed: number) {
  const next = random(seed);
  const kept = missed.filter(() => next() >= 0.1);
  const deliveries = Array.from({ length: eventsOfAnOrder }, () => {
    const { event, body } = kept[Math.floor(next() * kept.length)] as { event: string; body: string };
    return { event, body, guid: randomUUID() };
  });
  const doubled = deliveries.flatMap((d) => (next() < 0.2 ? [d, d] : [d]));
  return doubled
    .map((d) => [next(), d] as const)
    .sort(([a], [b]) => a - b)
    .map(([, d]) => d);
}

async function play(service: TestApp, seed: number): Promise<void> {
  const post = async ({ event, body, guid }: { event: string; body: string; guid: string }) => {
    const signature = createHmac('sha256', world.github.webhookSecret).update(body).digest('hex');
    const response = await fetch(`${service.url}/api/github/webhooks`, {
      method: 'POST',
      body,
      headers: { 'X-GitHub-Event': event, 'X-GitHub-Delivery': guid, 'X-Hub-Signature-256': `sha256=${signature}` },
    });
    await response.arrayBuffer();
    // 503: the database was too slow. For GitHub that delivery has failed, like a lost one.
    expect([202, 503]).toContain(response.status);
  };
  const all = disorder(seed);
  for (let i = 0; i < all.length; i += 20) await Promise.all(all.slice(i, i + 20).map(post));
  await quiet(service);
  const token = await service.token('mona');
  expect((await service.call('POST', '/agents/pool/reconcile', { token })).status).toBe(200);
  await quiet(service);
}

const quiet = (service: TestApp) =>
  until('the queue to be empty', async () => {
    const [row] = await service.app.db.manager.query(
      `select (select count(*) from deliveries where handled_at is null and received_at > now() - interval '5 minutes')
         + (select count(*) from pgboss.job where name in ('delivery', 'mirror', 'pull', 'diff') and state in ('created', 'retry', 'active')
            and start_after < now() + interval '1 minute') as left`,
    );
    return Number(row.left) === 0;
  });

/** Returns what people see at the end: the tasks, and on GitHub our labels and comments. */
async function outcome(service: TestApp) {
  const tasks = await service.app.db.manager.query(
    `select issue_number as issue, status, (select name from agents a where a.id = t.owner) as agent from tasks t order by 1`,
  );
  const shown: Record<string, unknown> = {};
  for (const [name, number] of Object.entries(issues)) {
    const own = (await world.comments(number)).filter((c) => c.user.login === 'deckhand[bot]');
    shown[name] = [(await world.labels(number)).join(), own.length];
  }
  return { tasks, shown };
}

test(`random orders of ${eventsOfAnOrder} events, a tenth lost, a fifth duplicated, have one outcome after a reconciliation`, async () => {
  const wanted = {
    tasks: [
      { issue: issues.merged, status: 'done', agent: 'Developer' },
      { issue: issues.closed, status: 'ready', agent: 'Developer' },
      { issue: issues.left, status: 'in_review', agent: 'Developer' },
      { issue: issues.backlog, status: 'backlog', agent: 'Reviewer' },
      { issue: issues.created, status: 'backlog', agent: null },
    ].sort((a, b) => a.issue - b.issue),
    shown: {
      merged: ['agent:done', 1],
      closed: ['agent:ready', 1],
      left: ['agent:in-review,bug', 1],
      backlog: ['agent:backlog', 1],
      created: ['agent:backlog', 1],
      strange: ['', 0],
    },
  };
  for (let seed = 1; seed <= orders; seed++) {
    const service = await openTestApp(
      { ...world.settings, GITHUB_WRITE_INTERVAL_MS: '0', LOG_LEVEL: 'silent' },
      template,
    );
    try {
      await service.work();
      await play(service, seed);
      expect([seed, await outcome(service)]).toEqual([seed, wanted]);
    } finally {
      await service.close();
    }
  }
}, 1_800_000);
