import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type DemoGitHub, startGitHub } from '../../demo/github/github.ts';
import { type Said, type Script, startModel } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { demoSettings } from '../../demo/settings.ts';
import { webhookUrl } from '../../src/github/app/manifest.ts';
import { targetOf } from '../../src/host/database-target.ts';
import { say } from '../figures.ts';
import { doubledPulls } from '../siege/outcome.ts';
import { type Planned, planTraffic, seeded, shuffled, type Traffic } from '../siege/traffic.ts';
import { openGate } from './gate.ts';
import { outcomeOf } from './outcome.ts';
import { startFleet } from './processes.ts';
import { startServers } from './servers.ts';
import { freeSmallDisk, retrySeconds, troublesOf } from './troubles.ts';
import { startWriting } from './writes.ts';

const owner = 'mona';
const repositories = Array.from({ length: 5 }, (_, i) => `part-${i}`);
const deliveriesPerSecond = 20;
/** How long the model takes for an answer, so that runs are under way when something happens. */
const thinkMs = 1000;
const restMs = 3000;
const patienceMs = 20 * 60_000;

/** Writes a file, checks it with a command and finishes. */
const script: Script = (request): Said => {
  const text = JSON.stringify(request.messages);
  if (!text.includes('wrote made.txt'))
    return [{ name: 'write_file', arguments: { path: 'made.txt', content: 'made by the fleet\n' } }];
  if (!text.includes('seen by a command'))
    return [{ name: 'run_command', arguments: { command: 'test -s made.txt && echo seen by a command' } }];
  return [{ name: 'finish', arguments: { summary: 'Made a file.', nextSteps: [] } }];
};

/**
 * Lets a web process and four workers work on runs that comments on GitHub ask for, with 20 webhooks a second, while
 * PostgreSQL, the processes, a clock, a disk and GitHub fail one after the other. Prints for each trouble how long writes were
 * refused, and at the end what was lost, done twice or failed. Everything should be 0, except the refused time. GitHub is
 * unreachable for `awaySeconds`.
 */
export async function fleet(runs = 100, awaySeconds = 20): Promise<void> {
  const stage = await openStage();
  const { servers, github, processes } = stage;
  try {
    const token = await processes.web().token(owner);
    const [project] = await until('the repositories', async () => {
      const found = await processes.web().api<unknown[]>(token, 'GET', '/repositories');
      return found.length === repositories.length && processes.web().api<{ id: string }[]>(token, 'GET', '/projects');
    });
    const traffic = await planTraffic(github, owner, repositories, { issues: runs, runs });
    const postman = startPostman(github, stage.address, traffic);
    const writes = startWriting(stage.address, token, `/projects/${project?.id}/tasks`);
    const database = new pg.Pool({ ...targetOf(servers.url), max: 1 });
    database.on('error', () => {});
    const ask = (text: string) => database.query(text).then(({ rows }) => Number(rows[0].n));
    const troubles = troublesOf({ fleet: processes, servers, github: stage.toGitHub, dir: stage.dir, awaySeconds });
    say(`fleet            ${runs} runs, 4 workers, ${deliveriesPerSecond} webhooks a second`);
    for (const [i, trouble] of troubles.entries()) {
      postman.give(Math.round((runs * i) / troubles.length), Math.round((runs * (i + 1)) / troubles.length));
      await until('a run under way, or the end of all', () =>
        ask(underWay(runs))
          .then((n) => n > 0)
          .catch(() => false),
      );
      await writes.read();
      const skipped = await trouble.happens();
      await sleep(restMs);
      const { refusedMs, longestMs } = await writes.read();
      say(
        `  ${trouble.name.padEnd(40)} ${skipped === undefined ? `writes refused for ${secondsOf(refusedMs)} s, at most ${secondsOf(longestMs)} at a time` : `left out: ${skipped}`}`,
      );
    }
    await postman.stop();
    await settled(ask);
    await writes.stop();
    await database.end();
    await sayOutcome(stage, traffic, runs);
    say(`  probe's writes ${JSON.stringify(Object.fromEntries(writes.statuses))}`);
  } finally {
    await stage.close();
  }
}

type Stage = Awaited<ReturnType<typeof openStage>>;

async function openStage() {
  const dir = await mkdtemp(join(tmpdir(), 'deckhand-fleet-'));
  const [servers, toWeb, toGitHub] = [await startServers(), await openGate(), await openGate()];
  const [repository = '', ...more] = repositories;
  const github = await startGitHub({ owner, repository, more, people: ['stranger'], publicUrl: toGitHub.url });
  toGitHub.lead(Number(new URL(github.url).port));
  const model = await startModel(script, () => sleep(thinkMs));
  const given = { github: { ...github, url: toGitHub.url }, model, port: 0, dataDir: dir };
  const settings = {
    ...demoSettings(given),
    BASE_URL: toWeb.url,
    DATABASE_URL: servers.url,
    JWT_SECRET: 'a secret of the bench that is long enough',
    ENCRYPTION_KEY: '22'.repeat(32),
    MAX_CONCURRENT_RUNS: '2',
    REDELIVERY_MINUTES: '1',
    RECONCILE_MINUTES: '1',
    REMOTE_RETRY_SECONDS: String(retrySeconds),
    // A web process that is replaced closes the connections that clients keep open.
    DRAIN_SECONDS: '2',
    LOG_LEVEL: 'warn',
  };
  const processes = await startFleet(settings, dir, toWeb);
  const close = async () => {
    await processes.stop();
    await model.close();
    await github.close();
    await Promise.all([toWeb.shut(), toGitHub.shut()]);
    await servers.close();
    await freeSmallDisk(dir);
    await rm(dir, { recursive: true, force: true });
  };
  return { dir, servers, github, toGitHub, processes, address: toWeb.url, close };
}

/** Sends 20 webhooks a second: those of the issues that were given to it, or comments without a command. */
function startPostman(github: DemoGitHub, address: string, { deliveries }: Traffic) {
  const next = seeded(1);
  const perIssue = 20;
  const talk = deliveries.filter(({ event, body }) => event === 'issue_comment' && body.includes('I think so too'));
  let waiting: Planned[] = [];
  let isOver = false;
  github.deliverTo(webhookUrl(address));
  const walk = (async () => {
    const under = new Set<Promise<void>>();
    const began = performance.now();
    for (let i = 0; !isOver || waiting.length > 0; i++) {
      await sleep(Math.max(0, began + (i * 1000) / deliveriesPerSecond - performance.now()));
      const { event, body } = waiting.pop() ?? talk[i % talk.length] ?? { event: 'ping', body: '{}' };
      const sent = github.deliver(event, body).finally(() => under.delete(sent));
      under.add(sent);
    }
    await Promise.all(under);
  })();
  return {
    give: (from: number, to: number) => {
      waiting = shuffled([...waiting, ...deliveries.slice(from * perIssue, to * perIssue)], next);
    },
    /** Ends once everything that was given is sent. */
    stop: async () => {
      isOver = true;
      await walk;
    },
  };
}

type Ask = (text: string) => Promise<number>;

/** Comparisons with GitHub may find commands before their webhooks are sent. */
const underWay = (all: number) => `select (select count(*) from runs where status = 'running')
  + (select count(*) / ${all} from runs where finished_at is not null) as n`;
const left = `select (select count(*) from runs where status in ('queued', 'running', 'waiting'))
  + (select count(*) from deliveries where handled_at is null and received_at < now() - interval '5 s')
  + (select count(*) from pgboss.job where state in ('created', 'retry', 'active')
     and name in ('continue', 'tidy', 'run') and start_after < now() + interval '2 minutes') as n`;

/** Waits until nothing, apart from what comparisons repeat, has been left to do for longer than `REDELIVERY_MINUTES`. */
async function settled(ask: Ask): Promise<void> {
  let since = performance.now();
  await until(
    'the fleet to settle',
    async () => {
      if ((await ask(left).catch(() => 1)) > 0) since = performance.now();
      await sleep(500);
      return performance.now() - since > 65_000;
    },
    patienceMs,
  );
}

async function sayOutcome({ servers, github, processes }: Stage, { issues }: Traffic, runs: number): Promise<void> {
  const { lost, doubled, failed } = await outcomeOf(targetOf(servers.url), issues);
  const pulls = await doubledPulls(github, owner, repositories);
  say(`  runs lost      ${lost.length} of ${runs} (none wanted)`);
  say(`  runs doubled   ${doubled.length}, and ${pulls} pull requests (none wanted)`);
  say(`  runs failed    ${failed.length} (none wanted)`);
  for (const each of [...lost, ...doubled, ...failed]) say(`    ${each}`);
  const statuses = Map.groupBy(github.deliveries, ({ status }) => status);
  const sent = [...statuses].map(([status, list]) => `${list.length} ${status || 'without an answer'}`).join(', ');
  say(`  webhooks       ${github.deliveries.length} sent: ${sent}`);
  const { own, started } = processes.workerSeconds();
  say(
    `  workers        ${(own / runs).toFixed(2)} s of processor time for a run, and ${(started / runs).toFixed(2)} s of git and commands`,
  );
  for (const [what, count] of processes.complaints()) say(`    log ${count}x ${what}`);
}

const secondsOf = (ms: number) => (ms / 1000).toFixed(1);
