import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { webhookUrl } from '../src/github/app/manifest.ts';
import { Animation } from './animation.ts';
import { launchBrowser, settled, signIn } from './browser.ts';
import { type DemoGitHub, startGitHub } from './github/github.ts';
import { offers, startModel } from './model/model.ts';
import { player } from './model/player.ts';
import { issue } from './model/story.ts';
import { type RunningService, startService, until } from './real-service.ts';
import { demoSettings, freePort } from './settings.ts';

/**
 * `npm run film` records the moving picture of the README, once in light and once in dark colours: a comment on an issue, the
 * run, the proof, and the merge. How long a picture is shown does not depend on how fast this machine is.
 */
const folder = fileURLToPath(new URL('../docs/screenshots', import.meta.url));

const size = { width: 1000, height: 640 };
/** The most pictures of a run, and how long each is shown. */
const [runFrames, runFrameMs] = [22, 300];
/** How long the script waits for a page. A busy machine takes its time, which the film does not show. */
const patienceMs = 300_000;
/** How long the model takes for a turn, so that the run can be watched. */
const turnMs = 1500;

interface Scene {
  service: RunningService;
  github: DemoGitHub;
  token: string;
}

interface Task {
  id: string;
  status: string;
}

/** Types a comment as a person does, and shows what becomes of the issue. */
async function commentOnIssue(film: Animation, page: Page, address: string): Promise<void> {
  await page.goto(address);
  await film.add(page, 1200);
  const box = page.getByLabel('Add a comment');
  await box.scrollIntoViewIfNeeded();
  for (const part of ['/agent', '/agent st', '/agent start']) {
    await box.fill(part);
    await film.add(page, 250);
  }
  await film.add(page, 500);
  await page.getByRole('button', { name: 'Comment' }).click();
  await page.getByText('deckhand[bot]').first().waitFor();
  await page.getByText('deckhand[bot]').first().scrollIntoViewIfNeeded();
  await film.add(page, 1800);
}

/** Shows a run: a picture whenever its log has something new. */
async function watchRun(film: Animation, page: Page, { service, token }: Scene, taskId: string): Promise<void> {
  const read = <T>(path: string) => service.api<T>(token, 'GET', path);
  const run = await until('the run', async () => (await read<{ id: string }[]>(`/tasks/${taskId}/runs`))[0]);
  await page.goto(`${service.url}/tasks/${taskId}/runs/${run.id}`);
  await settled(page);
  let [shown, known] = [0, -1];
  while ((await read<Task>(`/tasks/${taskId}`)).status === 'in_progress') {
    const { length } = await read<unknown[]>(`/runs/${run.id}/events`);
    if (length === known || shown === runFrames) await sleep(200);
    else {
      known = length;
      shown += 1;
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await film.add(page, runFrameMs);
    }
  }
  await film.add(page, 1200);
}

/** Shows the pull request with its proof, and merges it. */
async function merge(film: Animation, page: Page, { service }: Scene, taskId: string): Promise<void> {
  await page.goto(`${service.url}/tasks/${taskId}`);
  await settled(page);
  await page.getByText('Its tests fail without it').or(page.getByText('No proof')).first().waitFor();
  await film.add(page, 3000);
  await page
    .getByRole('button', { name: /^Merge( anyway)?$/ })
    .first()
    .click();
  await page.getByRole('alertdialog').waitFor();
  await settled(page);
  await film.add(page, 1500);
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Merge( anyway)?$/ })
    .click();
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await page.getByText('Done', { exact: true }).first().waitFor();
  await film.add(page, 1800);
}

/** Records a project that begins with one issue. Returns the file. */
async function record(browser: Browser, scene: Scene, colorScheme: 'light' | 'dark'): Promise<Buffer> {
  const mona = scene.github.as('mona');
  const { number } = await mona<{ number: number }>('POST', '/repos/mona/sample/issues', issue);
  const context = await browser.newContext({ viewport: size, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  await signIn(page, scene.service.url, 'mona');
  const film = await Animation.open(await context.newPage(), size);
  const address = `${scene.github.url}/mona/sample/issues/${number}`;
  await commentOnIssue(film, page, address);
  const [project] = await scene.service.api<{ id: string }[]>(scene.token, 'GET', '/projects');
  const tasks = () => scene.service.api<Task[]>(scene.token, 'GET', `/projects/${project?.id}/tasks`);
  const task = await until('the task', async () => (await tasks())[0]);
  await watchRun(film, page, scene, task.id);
  await merge(film, page, scene, task.id);
  await page.goto(address);
  await page.getByText('agent:done').first().waitFor();
  await film.add(page, 2500);
  await context.close();
  process.stdout.write(`${colorScheme}: ${film.seconds.toFixed(1)} s\n`);
  return film.file();
}

const ends: (() => Promise<unknown>)[] = [];

/** Starts a project of its own for each recording, because an issue is solved once. */
async function openScene(): Promise<Scene> {
  const sample = { owner: 'mona', repository: 'sample', hasChecks: true };
  const github = await startGitHub({ ...sample, people: ['hubot'] });
  ends.push(github.close);
  const model = await startModel(player, (_turn, request) => sleep(offers(request, 'finish') ? turnMs : 0));
  ends.push(model.close);
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-film-'));
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
  const settings = demoSettings({ github, model, port: await freePort(), dataDir });
  github.deliverTo(webhookUrl(settings.BASE_URL));
  const service = await startService(settings);
  ends.push(() => service.stop());
  const token = await service.token('mona');
  await until('the project', async () => (await service.api<unknown[]>(token, 'GET', '/projects'))[0] !== undefined);
  return { service, github, token };
}

const browser = await launchBrowser();
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    try {
      const file = await record(browser, await openScene(), colorScheme);
      await writeFile(join(folder, `film-${colorScheme}.webp`), file);
      process.stdout.write(`film-${colorScheme}.webp: ${Math.round(file.length / 1024)} kB\n`);
    } finally {
      for (const end of ends.splice(0).reverse()) await end();
    }
  }
} finally {
  await browser.close();
}
