import { fork } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { startEmbedded } from '../src/db/embedded.ts';
import { startGitHub } from '../src/demo/github.ts';
import { startModel } from '../src/demo/model.ts';
import { startService, until } from '../src/demo/real-service.ts';
import { demoSettings, freePort } from '../src/demo/settings.ts';
import { issue, script } from '../src/demo/story.ts';

const median = (list: number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const percentile = (list: number[], p: number) =>
  [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * p))] ?? 0;
const say = (text: string) => process.stdout.write(`${text}\n`);

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
  await readSpeed(token, projectId);
  await receiverSpeed();
  await runSpeed(token, projectId);
} finally {
  twin.disconnect();
  await service.stop();
  await model.close();
  await github.close();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}

/** GET /tasks/:id against the twin, in turns, so that the machine's moods hit both alike. */
async function readSpeed(token: string, projectId: string): Promise<void> {
  const { id } = await service.api<{ id: string }>(token, 'POST', `/projects/${projectId}/tasks`, { title: 'Read me' });
  const ours = `${service.url}/api/v1/tasks/${id}`.replace('localhost', '127.0.0.1');
  const theirs = `http://127.0.0.1:${twinPort}/tasks/${id}`;
  const rate = async (url: string, duration: number) => {
    const result = await autocannon({ url, duration, connections: 10, headers: { authorization: `Bearer ${token}` } });
    if (result.non2xx > 0) throw new Error(`${result.non2xx} answers of ${url} were no 2xx`);
    return result.requests.average;
  };
  for (const url of [ours, theirs]) await rate(url, 2);
  const shares = [];
  for (let round = 0; round < 3; round++) {
    const [a, b] = [await rate(ours, 4), await rate(theirs, 4)];
    say(`GET /tasks/:id   ${Math.round(a)}/s, bare Express + raw pg ${Math.round(b)}/s`);
    shares.push(a / b);
  }
  say(`GET /tasks/:id   ${median(shares).toFixed(2)} of the twin (at least 0.9 wanted)`);
}

/** Signed deliveries of 9 kB, 50 a second for 10 s, database commit included. */
async function receiverSpeed(): Promise<void> {
  const body = JSON.stringify({ action: 'none', filler: 'x'.repeat(9000) });
  const signature = `sha256=${createHmac('sha256', github.webhookSecret).update(body).digest('hex')}`;
  const times: number[] = [];
  const post = async () => {
    const began = performance.now();
    const headers = { 'X-GitHub-Event': 'ping', 'X-GitHub-Delivery': randomUUID(), 'X-Hub-Signature-256': signature };
    const response = await fetch(`${service.url}/api/github/webhooks`, { method: 'POST', body, headers });
    await response.arrayBuffer();
    if (response.status !== 202) throw new Error(`the receiver answered ${response.status}`);
    times.push(performance.now() - began);
  };
  const began = performance.now();
  const posts = [];
  for (let i = 0; i < 500; i++) {
    await sleep(Math.max(0, began + i * 20 - performance.now()));
    posts.push(post());
  }
  await Promise.all(posts);
  say(
    `webhooks         median ${median(times).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms at 50/s (median under 20 ms wanted)`,
  );
}

/** From start to in_review with a model that answers at once: the service's own time. */
async function runSpeed(token: string, projectId: string): Promise<void> {
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
