import { fork } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type DemoGitHub, startGitHub } from '../../demo/github/github.ts';
import { startModel } from '../../demo/model/model.ts';
import { startService, until } from '../../demo/real-service.ts';
import { demoSettings, freePort } from '../../demo/settings.ts';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { percentile, say } from '../figures.ts';
import { paced } from '../reads.ts';
import { startCourier } from './courier.ts';
import { siegeScript } from './model.ts';
import { doubledPulls, wrongAfter } from './outcome.ts';
import type { Probed } from './probe.ts';
import { besiegeTenants } from './tenants.ts';
import { type Planned, planTraffic, seeded, shuffled, type Traffic } from './traffic.ts';

const owner = 'mona';
const repositories = Array.from({ length: 20 }, (_, i) => `part-${i}`);
const deliveriesPerSecond = 200;
/** The period of GitHub's hourly rate limit, shortened; the number of calls is GitHub's own. */
const hourMs = 300_000;
const callsPerHour = 5000;
const patienceMs = 45 * 60_000;
const progressMs = 15_000;

/**
 * Tests everything at the same time: 200 deliveries a second, some lost and some duplicated; runs in four slots, one of
 * them hostile; and GitHub's hourly limit, which is reached during the test. Scale 1 means 10,000 deliveries for 500
 * issues and 200 runs. Prints what was lost or duplicated, the slowest replies of /healthz, and the memory before and
 * after `quietMinutes`.
 */
export async function siege(scale = 1, quietMinutes = 10): Promise<void> {
  const stage = await openStage();
  const { github, service, postgres, probe } = stage;
  const pid = service.process.pid;
  try {
    const token = await service.token(owner);
    await until('the repositories', async () => {
      const found = await service.api<unknown[]>(token, 'GET', '/repositories');
      return found.length === repositories.length;
    });
    const size = { issues: Math.ceil(500 * scale), runs: Math.ceil(200 * scale) };
    const traffic = await planTraffic(github, owner, repositories, size);
    const limit = limitCalls(github);
    const atStart = await memoryMb(pid);
    await probe.read();
    say(`siege            ${traffic.deliveries.length} deliveries for ${size.issues} issues, ${size.runs} runs`);
    const began = performance.now();
    await deliver(stage, traffic.deliveries);
    say(`  delivered      in ${seconds(began)} s: ${JSON.stringify(stage.courier.counts)}`);
    const highest = await settled(postgres.url, pid);
    say(
      `  settled        after ${seconds(began)} s; ${limit.all} calls to GitHub, ${limit.refused} of them refused over its hourly limit`,
    );
    await service.api(token, 'POST', '/agents/pool/reconcile');
    await settled(postgres.url, pid);
    sayHealth(await probe.read());
    github.fail(() => undefined);
    await sayOutcome(stage, traffic);
    await sleep(quietMinutes * 60_000);
    const atEnd = await memoryMb(pid);
    say(
      `  memory         ${atStart} MB at the start, ${highest} at most, ${atEnd} after ${quietMinutes} quiet minutes: ${(atEnd / atStart).toFixed(2)} (at most 1.20 wanted)`,
    );
    await besiegeTenants(stage, owner, traffic.deliveries, scale);
  } finally {
    await stage.close();
  }
}

/** Runs only the attacks of tenants and strangers; see `besiegeTenants`. */
export async function siegeOfTenants(scale = 1): Promise<void> {
  const stage = await openStage();
  try {
    const { deliveries } = await planTraffic(stage.github, owner, repositories, { issues: 1, runs: 0 });
    await besiegeTenants(stage, owner, deliveries, scale);
  } finally {
    await stage.close();
  }
}

type Stage = Awaited<ReturnType<typeof openStage>>;

/** Starts the database, GitHub, the model, the service, and the courier that drops and duplicates deliveries. */
async function openStage() {
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-siege-'));
  const [repository = '', ...more] = repositories;
  const postgres = await startEmbedded({ dataDir: join(dataDir, 'database') });
  const github = await startGitHub({ owner, repository, more, people: ['stranger'] });
  const model = await startModel(siegeScript);
  const service = await startService({
    ...demoSettings({ github, model, port: await freePort(), dataDir: join(dataDir, 'service') }),
    DATABASE_URL: postgres.url,
    JWT_SECRET: 'a secret of the bench that is long enough',
    ENCRYPTION_KEY: '22'.repeat(32),
    MAX_CONCURRENT_RUNS: '4',
    REDELIVERY_MINUTES: '1',
    RECONCILE_MINUTES: '5',
    MAX_RUN_DISK_MB: '1024',
    LOG_LEVEL: 'warn',
  });
  const probe = startProbe(service.url);
  const next = seeded(1);
  const courier = await startCourier(`${service.url}/api/github/webhooks`, next);
  const close = async () => {
    probe.stop();
    courier.close();
    await service.stop();
    await model.close();
    await github.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { postgres, github, service, probe, courier, next, close };
}

/** Sends the deliveries in a random order, through the courier. */
async function deliver({ github, courier, next }: Stage, deliveries: Planned[]): Promise<void> {
  github.deliverTo(courier.url);
  const order = shuffled(deliveries, next);
  await paced(order.length, 1000 / deliveriesPerSecond, async () => {
    const { event, body } = order.pop() ?? { event: 'ping', body: '{}' };
    await github.deliver(event, body);
  });
}

function sayHealth({ times, slow }: Probed): void {
  const failed = slow.filter(({ problem }) => problem !== undefined).length;
  say(
    `  /healthz       ${times.length} answers: p99 ${percentile(times, 0.99).toFixed(0)} ms, slowest ${Math.max(...times).toFixed(0)} ms, ${slow.length - failed} over 200 ms, ${failed} failed (none over 200 ms wanted)`,
  );
  for (const { at, took, problem = '' } of slow)
    say(`    after ${(at / 1000).toFixed(1)} s: ${took.toFixed(0)} ms ${problem}`);
}

async function sayOutcome({ postgres, github }: Stage, { issues }: Traffic): Promise<void> {
  const wrong = await wrongAfter(postgres.url, github, owner, issues);
  const doubled = await doubledPulls(github, owner, repositories);
  say(`  outcome        ${wrong.length} problems, ${doubled} duplicate pull requests (both should be 0)`);
  for (const each of wrong.slice(0, 20)) say(`    ${each}`);
}

/** Refuses the App's calls over GitHub's limit, with the headers that GitHub sends (docs.github.com, "Rate limits"). */
function limitCalls(github: DemoGitHub) {
  const state = { refused: 0, all: 0, calls: 0, endsAt: Date.now() + hourMs };
  github.fail((method) => {
    if (method === 'GIT') return undefined;
    state.all++;
    if (Date.now() > state.endsAt) Object.assign(state, { calls: 0, endsAt: Date.now() + hourMs });
    if (++state.calls <= callsPerHour) return undefined;
    state.refused++;
    return {
      status: 403,
      headers: {
        'x-ratelimit-limit': String(callsPerHour),
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.ceil(state.endsAt / 1000)),
      },
    };
  });
  return state;
}

/**
 * Waits until no run is live and no job is due; returns the peak memory in MB. Updates of costs or steps in a comment
 * may remain scheduled, because the service reserves the last of GitHub's 500 writes per hour for changes of status.
 */
async function settled(databaseUrl: string, pid: number | undefined): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let highest = 0;
  let quiet = 0;
  let toldAt = 0;
  try {
    await until(
      'the siege to settle',
      async () => {
        highest = Math.max(highest, await memoryMb(pid));
        if (performance.now() - toldAt > progressMs) {
          toldAt = performance.now();
          say(`    waiting      ${await waitingFor(client)}`);
        }
        const { rows } = await client.query(
          `select (select count(*) from runs where status in ('queued', 'running', 'waiting'))
             + (select count(*) from deliveries where handled_at is null)
             + (select count(*) from pgboss.job where state in ('created', 'retry', 'active')
                and name not in ('sweep', 'redeliver') and start_after < now() + interval '2 minutes') as left`,
        );
        quiet = Number(rows[0].left) === 0 ? quiet + 1 : 0;
        await sleep(500);
        // 140 consecutive checks take longer than REDELIVERY_MINUTES, so lost deliveries have been redelivered by then.
        return quiet > 140;
      },
      patienceMs,
    );
  } finally {
    await client.end();
  }
  return highest;
}

/** Describes the remaining work, for people who watch the bench. */
async function waitingFor(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ what: string; count: number }>(
    `select 'runs ' || status as what, count(*)::int from runs where status in ('queued', 'running', 'waiting') group by 1
     union all select 'deliveries', count(*)::int from deliveries where handled_at is null
     union all select name || ' ' || state || case when start_after > now() + interval '5 s' then ' later' else '' end,
       count(*)::int
     from pgboss.job where state in ('created', 'retry', 'active') and name not in ('sweep', 'redeliver') group by 1`,
  );
  return rows.map(({ what, count }) => `${count} ${what}`).join(', ') || 'nothing';
}

function startProbe(url: string) {
  const child = fork(fileURLToPath(new URL('./probe.ts', import.meta.url)), [url], { detached: true });
  return {
    read: () =>
      new Promise<Probed>((resolve) => {
        child.once('message', (message) => resolve(message as Probed));
        child.send('read');
      }),
    stop: () => child.disconnect(),
  };
}

async function memoryMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024);
}

const seconds = (began: number) => ((performance.now() - began) / 1000).toFixed(0);
