import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DemoGitHub } from '../../demo/github/github.ts';
import { type RunningService, until } from '../../demo/real-service.ts';
import { percentile, say } from '../figures.ts';
import type { Probed } from './probe.ts';
import type { Planned } from './traffic.ts';

interface Besieged {
  github: DemoGitHub;
  service: RunningService;
  postgres: { url: string };
  probe: { read(): Promise<Probed> };
}

/** A run of a quiet project waits for one run of the noisy one, a delivery for one delivery of each worker. */
const [runLimitMs, deliveryLimitMs] = [10_000, 2000];
/** Without limits, 24 unread lists of 5 MB took 2 GB. */
const memoryLimitMb = 300;
const healthLimitMs = 200;
const unreadMs = 20_000;
/** The installation of no account, so that its delivery costs nothing. */
const quietInstallation = 999_999_999;

const verdict = (isKept: boolean) => (isKept ? 'kept' : 'EXCEEDED');

/**
 * Attacks the service as tenants and strangers can: with a project and an account that queue much, with clients that do
 * not read, with bursts that are costly to parse, and with strangers who sign in. Prints the figures of each attack, and whether they are within its limit.
 */
export async function besiegeTenants(stage: Besieged, owner: string, deliveries: Planned[], scale: number) {
  const database = new pg.Client({ connectionString: stage.postgres.url });
  await database.connect();
  try {
    const token = await stage.service.token(owner);
    await noisyDeliveries(stage, database, deliveries, Math.ceil(10_000 * scale));
    await noisyProject(stage, database, { token, owner, runs: Math.max(8, Math.ceil(200 * scale)) });
    await unreadReplies(stage, database, token, Math.max(24, Math.ceil(500 * scale)));
    await costlyBursts(stage, Math.max(100, Math.ceil(800 * scale)));
    await strangers(stage, Math.max(20, Math.ceil(1000 * scale)));
  } finally {
    await database.end();
  }
}

/** Sends many deliveries of one account, then one of another. */
async function noisyDeliveries({ github, service }: Besieged, database: pg.Client, all: Planned[], count: number) {
  const comment = all.find(({ event }) => event === 'issue_comment');
  if (comment === undefined) throw new Error('the siege planned no comment');
  const { event, body } = comment;
  github.deliverTo(`${service.url}/api/github/webhooks`);
  const sendTo = async (total: number) => {
    for (let sent = 0; sent < total; sent += 50)
      await Promise.all(Array.from({ length: Math.min(50, total - sent) }, () => github.deliver(event, body)));
  };
  await sendTo(count);
  await github.deliver(event, JSON.stringify({ ...JSON.parse(body), installation: { id: quietInstallation } }));
  // The comments of our own bot are delivered .
  const guid = github.deliveries.findLast(({ body }) => body.includes(`"id":${quietInstallation}`))?.guid;
  const ahead = 'select count(*)::int as ahead from deliveries where handled_at is null';
  const { rows: waiting } = await database.query<{ ahead: number }>(ahead);
  const ms = await until('the delivery of the quiet account', async () => {
    const { rows } = await database.query<{ ms: number | null }>(
      'select extract(epoch from handled_at - received_at)::float8 * 1000 as ms from deliveries where guid = $1',
      [guid],
    );
    return rows[0]?.ms ?? undefined;
  });
  say(
    `  noisy account  ${waiting[0]?.ahead} of its ${count} deliveries waited; that of another account was handled after ${ms.toFixed(0)} ms (under ${deliveryLimitMs} wanted): ${verdict(ms < deliveryLimitMs)}`,
  );
}

/** Queues many runs of one project, then starts one of another. */
async function noisyProject(
  { github, service }: Besieged,
  database: pg.Client,
  { token, owner, runs }: { token: string; owner: string; runs: number },
) {
  const call = <T>(method: string, path: string, body?: object) => service.api<T>(token, method, path, body);
  const start = async (name: string, repository: string, count: number) => {
    const { id } = await call<{ id: string }>('POST', '/projects', { name });
    await call('POST', '/repositories', {
      projectId: id,
      name: repository,
      url: `${github.url}/${owner}/${repository}`,
    });
    const agents = await call<{ id: string }[]>('GET', `/agents?projectId=${id}`);
    const taskIds = [];
    for (let i = 0; i < count; i++) {
      const body = { title: `${name} ${i}`, owner: agents[i % agents.length]?.id };
      taskIds.push((await call<{ id: string }>('POST', `/projects/${id}/tasks`, body)).id);
    }
    for (const taskId of taskIds) await call('POST', `/tasks/${taskId}/start`);
    return id;
  };
  const noisy = await start('Noisy', 'part-0', runs);
  const quiet = await start('Quiet', 'part-1', 1);
  const ms = await until('the run of the quiet project', async () => {
    const { rows } = await database.query<{ ms: number | null }>(
      'select extract(epoch from started_at - created_at)::float8 * 1000 as ms from runs where project_id = $1',
      [quiet],
    );
    return rows[0]?.ms ?? undefined;
  });
  const { rows } = await database.query<{ left: number }>(
    `select count(*)::int as left from runs where project_id = $1 and status = 'queued'`,
    [noisy],
  );
  say(
    `  noisy project  ${rows[0]?.left} of its ${runs} runs were still queued; a run of another project started after ${(ms / 1000).toFixed(1)} s (under ${runLimitMs / 1000} wanted): ${verdict(ms < runLimitMs)}`,
  );
  // The next attacks are measured without them.
  await until(
    'the end of the runs',
    async () => (await database.query(`select from runs where status in ('queued', 'running')`)).rowCount === 0,
    3_600_000,
  );
}

/** Asks for large batches and lists, and reads nothing of the replies. */
async function unreadReplies({ service, probe }: Besieged, database: pg.Client, token: string, count: number) {
  const { id } = await service.api<{ id: string }>(token, 'POST', '/projects', { name: 'Large' });
  await database.query(
    `insert into tasks (id, project_id, title, description, status)
     select 'task_siege' || n, $1, 'Large', repeat('x', 50000), 'backlog' from generate_series(1, 200) n`,
    [id],
  );
  const list = `/projects/${id}/tasks?limit=100`;
  const batch = `/batch?${Array.from({ length: 20 }, () => `get=${encodeURIComponent(list)}`).join('&')}`;
  const memoryMb = () => {
    const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  };
  await probe.read();
  const before = memoryMb();
  let most = before;
  const sockets: Socket[] = [];
  const port = Number(new URL(service.url).port);
  for (let i = 0; i < count; i++) {
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {});
    const path = i % 2 === 0 ? batch : list;
    socket.write(`GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    sockets.push(socket.pause());
  }
  for (let waited = 0; waited < unreadMs; waited += 200) {
    await sleep(200);
    most = Math.max(most, memoryMb());
  }
  for (const socket of sockets) socket.destroy();
  const slowest = worst(await probe.read());
  const grown = most - before;
  say(
    `  unread replies ${count} batches and lists of 2 to 5 MB took ${grown.toFixed(0)} MB (under ${memoryLimitMb} wanted), /healthz at most ${slowest.toFixed(0)} ms: ${verdict(grown < memoryLimitMb)}`,
  );
}

/** What takes a server long to parse for its size: bodies in chunks of one byte, and requests that were sent in advance. */
const costly = {
  chunks: `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(950)}0\r\n\r\n`.repeat(4),
  requests: 'GET / HTTP/1.1\r\n\r\n'.repeat(3500),
};

/** Sends what is costly on many connections at once, without signing in. */
async function costlyBursts({ service, probe }: Besieged, connections: number) {
  const port = Number(new URL(service.url).port);
  const slowest: string[] = [];
  let worstMs = 0;
  for (const [name, text] of Object.entries(costly)) {
    const sockets = Array.from({ length: connections }, () =>
      connect({ port, host: '127.0.0.1' })
        .on('error', () => {})
        .resume(),
    );
    await sleep(1000);
    await probe.read();
    for (const socket of sockets) socket.write(text);
    await sleep(5000);
    const ms = worst(await probe.read());
    slowest.push(`${name} ${ms.toFixed(0)} ms`);
    worstMs = Math.max(worstMs, ms);
    for (const socket of sockets) socket.destroy();
  }
  say(
    `  costly bursts  on ${connections} connections, /healthz at most: ${slowest.join(', ')} (under ${healthLimitMs} wanted): ${verdict(worstMs < healthLimitMs)}`,
  );
}

/** Lets people without any project sign in, ten at a time. */
async function strangers({ github, service, probe }: Besieged, count: number) {
  const statuses: Record<number, number> = {};
  const times: number[] = [];
  await probe.read();
  const signIn = async () => {
    const from = performance.now();
    const status = await signInAs('stranger', github, service);
    times.push(performance.now() - from);
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  for (let done = 0; done < count; done += 10)
    await Promise.all(Array.from({ length: Math.min(10, count - done) }, signIn));
  const probed = await probe.read();
  const slowest = percentile(probed.times, 0.99);
  const isRefused = Object.keys(statuses).join() === '403';
  say(
    `  strangers      ${count} sign-ins were answered ${JSON.stringify(statuses)} (403 wanted), median ${percentile(times, 0.5).toFixed(0)} ms; /healthz p99 ${slowest.toFixed(0)} ms (under ${healthLimitMs} wanted): ${verdict(isRefused && slowest < healthLimitMs)}`,
  );
}

/** Signs in as a browser does. Returns the status of the last page. */
async function signInAs(login: string, github: DemoGitHub, service: RunningService): Promise<number> {
  const begun = await fetch(`${service.url}/login/github?return_to=%2Fprojects`, { redirect: 'manual' });
  const query = new URL(begun.headers.get('location') ?? '').searchParams;
  const form = Object.fromEntries(
    ['redirect_uri', 'state', 'client_id', 'scope'].map((key) => [key, query.get(key) ?? '']),
  );
  const agreed = await fetch(`${github.url}/login/oauth/callback`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...form, login }),
  });
  const Cookie = begun.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .join('; ');
  const back = new URL(agreed.headers.get('location') ?? '');
  const done = await fetch(`${service.url}${back.pathname}${back.search}`, { redirect: 'manual', headers: { Cookie } });
  await done.arrayBuffer();
  return done.status;
}

const worst = ({ times }: Probed) => Math.max(0, ...times);
