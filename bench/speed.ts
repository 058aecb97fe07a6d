import { fork } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startGitHub } from '../demo/github/github.ts';
import { startModel } from '../demo/model/model.ts';
import { issue, script } from '../demo/model/story.ts';
import { type RunningService, startService, until } from '../demo/real-service.ts';
import { demoSettings, freePort } from '../demo/settings.ts';
import { startEmbedded } from '../src/db/embedded/embedded.ts';
import { seedCrowd } from './crowd.ts';
import { environmentSpeed } from './environment/speed.ts';
import { median, percentile, say } from './figures.ts';
import { largeRepositorySpeed } from './large-repository.ts';
import { againstTwin, paced, underCrowd } from './reads.ts';
import { burndownSpeed } from './sprint.ts';
import { throughput } from './throughput.ts';

/**
 * Measures how fast the service is, where possible against a plain implementation of the same functions (`twin.ts`).
 */
export async function speed(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-bench-'));
  const postgres = await startEmbedded({ dataDir: join(dataDir, 'database') });
  const github = await startGitHub({ owner: 'mona', repository: 'sample', people: [] });
  const model = await startModel(script);
  const jwtSecret = 'a secret of the bench that is long enough';
  const settings: Record<string, string> = {
    ...demoSettings({ github, model, port: await freePort(), dataDir }),
    DATABASE_URL: postgres.url,
    JWT_SECRET: jwtSecret,
    ENCRYPTION_KEY: '22'.repeat(32),
    LOG_LEVEL: 'warn',
  };
  const service = await startService(settings);
  const twin = fork(fileURLToPath(new URL('./twin.ts', import.meta.url)), [
    postgres.url,
    jwtSecret,
    settings.BASE_URL ?? '',
  ]);
  const twinPort = await new Promise<number>((resolve) => twin.once('message', (port) => resolve(port as number)));
  try {
    const token = await service.token('mona');
    const [project] = await until('the project', async () => {
      const found = await service.api<{ id: string }[]>(token, 'GET', '/projects');
      const repositories = await service.api<unknown[]>(token, 'GET', '/repositories');
      return repositories.length > 0 && found;
    });
    const projectId = project?.id ?? '';
    const crowd = await seedCrowd(postgres.url);
    const sides = {
      ours: `${service.url}/api/v1`.replace('localhost', '127.0.0.1'),
      twin: `http://127.0.0.1:${twinPort}`,
      token,
    };
    await againstTwin(sides, `/tasks/${crowd.task}`, 1);
    await againstTwin(sides, `/projects/${crowd.large}/tasks?limit=50`, 0.8);
    await underCrowd(sides, crowd);
    await burndownSpeed(postgres.url, projectId, { url: sides.ours, token });
    await receiverSpeed(service.url, github.webhookSecret);
    await runSpeed(service, token, projectId);
    await largeRepositorySpeed(await emptyDatabase(postgres.url, 'large'));
    await throughput();
    await environmentSpeed();
  } finally {
    twin.disconnect();
    await service.stop();
    await model.close();
    await github.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Sends signed deliveries of 9 kB, 50 a second for 10 s, and measures until the database commit. */
async function receiverSpeed(url: string, webhookSecret: string): Promise<void> {
  const body = JSON.stringify({ action: 'none', filler: 'x'.repeat(9000) });
  const signature = `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`;
  const times = await paced(500, 20, async () => {
    const headers = { 'X-GitHub-Event': 'ping', 'X-GitHub-Delivery': randomUUID(), 'X-Hub-Signature-256': signature };
    const response = await fetch(`${url}/api/github/webhooks`, { method: 'POST', body, headers });
    await response.arrayBuffer();
    if (response.status !== 202) throw new Error(`the receiver answered ${response.status}`);
  });
  say(
    `webhooks         median ${median(times).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms at 50/s (median under 20 ms wanted)`,
  );
}

/** Creates another database on the same server. */
async function emptyDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** Measures the time from the start of a run to in_review with a model that answers immediately. */
async function runSpeed(service: RunningService, token: string, projectId: string): Promise<void> {
  const agents = await service.api<{ id: string; name: string }[]>(token, 'GET', '/agents');
  const owner = agents.find((a) => a.name === 'Developer')?.id;
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const task = await service.api<{ id: string }>(token, 'POST', `/projects/${projectId}/tasks`, {
      title: issue.title,
      owner,
    });
    const began = performance.now();
    await service.api(token, 'POST', `/tasks/${task.id}/start`);
    await until('in_review', async () => {
      const { status } = await service.api<{ status: string }>(token, 'GET', `/tasks/${task.id}`);
      return status === 'in_review';
    });
    times.push(performance.now() - began);
  }
  const all = times.map((t) => (t / 1000).toFixed(2)).join(', ');
  say(`a run            median ${(median(times) / 1000).toFixed(2)} s of ${all} (under 3 s wanted)`);
}
