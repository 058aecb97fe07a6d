import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { BrowserContext } from 'playwright-core';
import { launchBrowser, signIn } from '../../demo/browser.ts';
import { startGitHub } from '../../demo/github/github.ts';
import { startModel } from '../../demo/model/model.ts';
import { startService, until } from '../../demo/real-service.ts';
import { demoSettings, freePort } from '../../demo/settings.ts';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { median, say } from '../figures.ts';
import { type Filled, fillProject } from './fill.ts';
import { endureEvents } from './live.ts';
import { type Load, loadCold, quiet, watchTraffic } from './load.ts';

const wanted = { scriptKb: 250, allKb: 400, boardMs: 1000, taskMs: 1200, longTaskMs: 100, slowFirstMs: 3000 };
const loads = 7;

/**
 * Measures the dashboard in Chromium with a project of `size` tasks: bytes on the wire and time to content when board and task
 * page are opened for the first time, requests on load and for each change, and what ten minutes of live events do, sent
 * `factor` times as fast.
 */
export async function dashboardSpeed(size = 2000, factor = 10): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-bench-dashboard-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  try {
    const postgres = await startEmbedded({ dataDir: join(dataDir, 'database') });
    ends.push(() => postgres.stop());
    const github = await startGitHub({ owner: 'mona', repository: 'sample', people: [] });
    ends.push(() => github.close());
    const model = await startModel([]);
    ends.push(() => model.close());
    const settings: Record<string, string> = {
      ...demoSettings({ github, model, port: await freePort(), dataDir }),
      DATABASE_URL: postgres.url,
      JWT_SECRET: 'a secret of the bench that is long enough',
      ENCRYPTION_KEY: '22'.repeat(32),
      SANDBOX: 'off',
      LOG_LEVEL: 'error',
    };
    const projectId = await createProject(settings);
    const filled = await fillProject(postgres.url, projectId, size);
    // Without workers nothing but the bench changes the project.
    const service = await startService({ ...settings, ROLE: 'web' });
    ends.push(() => service.stop());
    const browser = await launchBrowser();
    ends.push(() => browser.close());
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await signIn(page, service.url, 'mona');
    await page.close();
    const db = new pg.Client({ connectionString: postgres.url });
    await db.connect();
    ends.push(() => db.end());
    say(`a project of ${size} tasks; medians of ${loads} loads with an empty cache`);
    await loadPages(context, service.url, filled);
    await changeAndEndure(context, service.url, db, filled, factor);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Lets the service create the project of the installation, and stops it. */
async function createProject(settings: Record<string, string>): Promise<string> {
  const service = await startService(settings);
  try {
    const token = await service.token('mona');
    return await until('the project', async () => {
      const [project] = await service.api<{ id: string }[]>(token, 'GET', '/projects');
      const repositories = await service.api<unknown[]>(token, 'GET', '/repositories');
      return repositories.length > 0 && project?.id;
    });
  } finally {
    await service.stop();
  }
}

async function loadPages(context: BrowserContext, url: string, { projectId, taskId }: Filled): Promise<void> {
  const board = `${url}/projects/${projectId}`;
  const task = `${url}/tasks/${taskId}`;
  // Fills the caches of the database and of the compiler.
  await loadCold(context, board, '.card');
  await show('board', wanted.boardMs, () => loadCold(context, board, '.card'));
  await show('task page', wanted.taskMs, () => loadCold(context, task, 'h1'));
  await showSlow('board', () => loadCold(context, board, '.card', true));
  await showSlow('task page', () => loadCold(context, task, 'h1', true));
}

async function show(name: string, wantedMs: number, load: () => Promise<Load>): Promise<void> {
  const all: Load[] = [];
  for (let i = 0; i < loads; i++) all.push(await load());
  const middle = (of: (load: Load) => number) => median(all.map(of));
  const kb = (of: (load: Load) => number) => (middle(of) / 1000).toFixed(0);
  say(
    `${name.padEnd(10)} content after ${middle(({ contentMs }) => contentMs).toFixed(0)} ms (${wantedMs} wanted), ` +
      `script ${kb(({ scriptBytes }) => scriptBytes)} kB (${wanted.scriptKb} wanted), all ${kb(({ allBytes }) => allBytes)} kB (${wanted.allKb} wanted), ` +
      `${middle(({ requests }) => requests)} API requests and ${middle(({ streams }) => streams)} event streams`,
  );
}

/** Measures once, because it takes a long time and the network decides it. */
async function showSlow(name: string, load: () => Promise<Load>): Promise<void> {
  const { firstMs, contentMs } = await load();
  say(
    `${name.padEnd(10)} with 400 ms latency and 50 kB/s: outline after ${firstMs.toFixed(0)} ms (${wanted.slowFirstMs} wanted), ` +
      `content after ${contentMs.toFixed(0)} ms`,
  );
}

async function changeAndEndure(
  context: BrowserContext,
  url: string,
  db: pg.Client,
  filled: Filled,
  factor: number,
): Promise<void> {
  const page = await context.newPage();
  const { traffic } = await watchTraffic(page);
  for (const [name, path] of [
    ['task page', `/tasks/${filled.taskId}`],
    ['board', `/projects/${filled.projectId}`],
  ] as const) {
    await page.goto(url + path);
    await page.locator('h1').waitFor();
    await quiet(traffic);
    const before = traffic.requests.length;
    const title = `Renamed on the ${name}`;
    await db.query('update tasks set title = $2, updated_at = now() where id = $1', [filled.taskId, title]);
    await page.getByText(title).first().waitFor();
    await quiet(traffic);
    const sent = traffic.requests.slice(before);
    say(`${name.padEnd(10)} one change: ${sent.length} API requests (1 wanted): ${sent.join(' ')}`);
  }
  const { events, requests, longestTaskMs, heapMb } = await endureEvents(page, db, filled, factor);
  say(
    `live       ten minutes in ${(600 / factor).toFixed(0)} s: ${events} events, ${requests} API requests, ` +
      `longest task ${longestTaskMs.toFixed(0)} ms (under ${wanted.longTaskMs} wanted), ` +
      `heap ${heapMb.map((mb) => mb.toFixed(1)).join(' → ')} MB`,
  );
}
