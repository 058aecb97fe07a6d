import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { webhookUrl } from '../src/github/app/manifest.ts';
import { launchBrowser, settled, signIn } from './browser.ts';
import { startGitHub } from './github/github.ts';
import { startModel } from './model/model.ts';
import { player } from './model/player.ts';
import { issue } from './model/story.ts';
import { pagesOf, type Shown } from './pages.ts';
import { type RunningService, startService, until } from './real-service.ts';
import { demoSettings, freePort } from './settings.ts';

/**
 * `npm run screenshots` plays a demo project, takes a screenshot of every page, and rewrites the table in
 * docs/dashboard.md.
 */
const folder = fileURLToPath(new URL('../docs/screenshots', import.meta.url));

const titles = [
  'Describe the options in the README',
  'Faster slugs for long titles',
  'A test for emoji',
  'Types for the parameters',
  'Release notes for 2.0',
  'Drop the old export',
];

/** Creates a project with a sprint, a task in review, some tasks that wait, and an open plan. */
async function fillProject(service: RunningService, token: string): Promise<Shown> {
  const call = <T>(method: string, path: string, body?: object) => service.api<T>(token, method, path, body);
  const project = await until('the project', async () => (await call<{ id: string }[]>('GET', '/projects'))[0]);
  const repository = await until(
    'the repository',
    async () => (await call<{ id: string }[]>('GET', '/repositories'))[0],
  );
  const base = `/projects/${project.id}`;
  const [agent] = await call<{ id: string }[]>('GET', `/agents?projectId=${project.id}`);
  const owner = agent?.id ?? '';
  const sprint = await call<{ id: string }>('POST', `${base}/sprints`, {
    name: 'Slugs for everybody',
    goal: 'Every language gets slugs that people can read.',
    startDate: dayAfter(0),
    endDate: dayAfter(13),
  });
  const { title, body: description } = issue;
  const first = { title, description, owner, sprintId: sprint.id };
  const task = await call<{ id: string }>('POST', `${base}/tasks`, first);
  for (const [i, title] of titles.entries())
    await call('POST', `${base}/tasks`, {
      title,
      status: i % 2 === 0 ? 'ready' : 'backlog',
      ...(i < 3 ? { dependsOn: [task.id], owner, sprintId: sprint.id } : {}),
    });
  await call('POST', `/sprints/${sprint.id}/start`);
  const statusOf = async () => (await call<{ status: string }>('GET', `/tasks/${task.id}`)).status;
  await until('the pull request', async () => (await statusOf()) === 'in_review');
  const goal = 'Readable slugs in every language';
  const environment = `/repositories/${repository.id}/environment`;
  await call('POST', environment);
  const trialStatus = async () => (await call<{ status: string }>('GET', environment)).status;
  await until('the end of the trial', async () => (await trialStatus()) !== 'running');
  const [run] = await call<{ id: string }[]>('GET', `/tasks/${task.id}/runs`);
  const { sessionId } = await call<{ sessionId: string }>('POST', `${base}/wizard/initialize`, { goal });
  return {
    base,
    agentId: owner,
    sprintId: sprint.id,
    taskId: task.id,
    runId: run?.id ?? '',
    sessionId,
    repositoryId: repository.id,
  };
}

const dayAfter = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

async function photograph(page: Page, url: string, name: string, file: string): Promise<void> {
  await page.goto(url);
  await settled(page);
  if (name === 'chat') {
    await page.getByLabel('Your message').fill('What did you change, and why?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.message.agent strong').first().waitFor();
  }
  await page.waitForLoadState('networkidle', { timeout: 500 }).catch(() => {});
  await page.screenshot({ path: join(folder, file) });
}

/** Rewrites the table of screenshots, which is the last part of docs/dashboard.md. */
async function rewriteTable(names: string[]): Promise<void> {
  const rows = names.map(
    (name) =>
      `| ${name} | ![${name}, light](screenshots/${name}-light.png) | ![${name}, dark](screenshots/${name}-dark.png) |`,
  );
  const document = join(folder, '../dashboard.md');
  const heading = '| page | light | dark |\n|---|---|---|\n';
  const [text = ''] = (await readFile(document, 'utf8')).split(heading);
  await writeFile(document, `${text}${heading}${rows.join('\n')}\n`);
}

const ends: (() => Promise<unknown>)[] = [];
try {
  const github = await startGitHub({
    owner: 'mona',
    repository: 'sample',
    hasDependency: true,
    hasChecks: true,
    people: ['hubot'],
  });
  ends.push(github.close);
  const model = await startModel(player);
  ends.push(model.close);
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-screenshots-'));
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
  const settings = demoSettings({ github, model, port: await freePort(), dataDir });
  github.deliverTo(webhookUrl(settings.BASE_URL));
  const service = await startService(settings);
  ends.push(() => service.stop());
  const pages = pagesOf(await fillProject(service, await service.token('mona')));
  const browser = await launchBrowser();
  ends.push(() => browser.close());
  await mkdir(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme });
    const page = await context.newPage();
    for (const [name, path] of Object.entries(pages)) {
      if (name === 'projects') await signIn(page, service.url, 'mona');
      await photograph(page, `${service.url}${path}`, name, `${name}-${colorScheme}.png`);
    }
  }
  await rewriteTable(Object.keys(pages));
  process.stdout.write(`${2 * Object.keys(pages).length} screenshots in ${folder}\n`);
} finally {
  for (const end of ends.reverse()) await end();
}
