import type { Page } from 'playwright-core';
import { chromiumPath, settled } from '../../demo/browser.ts';
import type { ModelRequest, Said } from '../../demo/model/model.ts';
import { pagesOf } from '../../demo/pages.ts';
import { until } from '../../demo/real-service.ts';
import { inBrowser, loaded, longestTask, openOwner, visit, watchBrowser } from '../support/browser.ts';
import { planner } from '../support/stand-ins/planner.ts';
import { isThorough } from '../support/thorough.ts';
import { openWorld, type World } from '../support/world.ts';
import { addFinishedSprint } from './finished-sprint.ts';
import { addHostileFailure, addHostilePlan, addHostileTrial, hostile, hostileText } from './hostile.ts';
import { inspect, type Seen } from './inspect.ts';

let world: World;
let page: Page;
let base: string;
let agentId: string;
let hostileTask: string;
let runId: string;
let sprintId: string;
let sessionId: string;
let repositoryId: string;

const path = 'src/<img src=x onerror=window.hit=1>.js';

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  const write = { name: 'write_file', arguments: { path, content: `${hostile}\n` } };
  const finish = { name: 'finish', arguments: { summary: hostileText, nextSteps: [hostile] } };
  const model = (request: ModelRequest, turn: number): Said => {
    if (request.tool_choice !== undefined) return planner(request);
    if (!request.tools?.some((t) => t.function.name === 'finish')) return hostileText;
    return turn === 0 ? [write] : [finish];
  };
  world = await openWorld(model, { settings: { SANDBOX: 'off' } });
  base = `/projects/${world.project.id}`;
  const call = <T>(method: string, where: string, body?: object) =>
    world.service.api<T>(world.token, method, where, body);
  const agent = await call<{ id: string }>('POST', '/agents', {
    name: hostile.slice(0, 200),
    team: '<b>team</b>',
    systemPrompt: hostileText,
  });
  // The page of a second version also shows the comparison with the first one.
  agentId = (await call<{ id: string }>('POST', `/agents/${agent.id}/evolve`, { newSystemPrompt: hostileText })).id;
  const day = new Date().toISOString().slice(0, 10);
  const sprint = { name: hostile.slice(0, 200), goal: hostileText, startDate: day, endDate: day };
  sprintId = (await call<{ id: string }>('POST', `${base}/sprints`, sprint)).id;
  await call('POST', `${base}/tasks`, { title: 'Next to it', sprintId });
  const body = { title: hostile.slice(0, 200), description: hostileText, owner: agentId, sprintId };
  hostileTask = (await call<{ id: string }>('POST', `${base}/tasks`, body)).id;
  await call('POST', `/tasks/${hostileTask}/start`);
  await addFinishedSprint(world);
  const begun = await call<{ sessionId: string; currentStep: { id: string } }>('POST', `${base}/wizard/initialize`, {
    goal: hostile,
  });
  sessionId = begun.sessionId;
  await addHostilePlan(world, `${base}/wizard/${sessionId}`, begun.currentStep, agentId);
  repositoryId = await addHostileTrial(world);
  await addHostileFailure(world, hostileTask, agentId);
  const secret = { value: 'a value of a secret', hosts: ['registry.example.org'] };
  await call('PUT', `${base}/environment-secrets/NPM_TOKEN`, secret);
  await call('PUT', `${base}/environment-secrets/OLD_TOKEN`, { ...secret, repositories: [] });
  await call('POST', `${base}/automations`, {
    name: hostile.slice(0, 100),
    on: { cron: '0 3 * * *', timezone: 'Europe/Berlin' },
    task: { title: hostile.slice(0, 200), description: hostileText, owner: agentId, repositoryId },
  });
  await world.taskIn('in_review');
  runId = (await call<{ id: string }[]>('GET', `/tasks/${hostileTask}/runs`))[0]?.id ?? '';
  page = await openOwner(world);
});
watchBrowser(() => world?.close());

const pages = () => ({
  ...pagesOf({ base, agentId, sprintId, taskId: hostileTask, runId, sessionId, repositoryId }),
  'new tasks': `${base}?new=many`,
  automations: `${base}/automations`,
  mail: '/settings/mail',
  'spend of all projects': '/spend',
  'split diff': `/tasks/${hostileTask}?tab=diff&view=split`,
  nothing: '/no/such/page',
});

async function show(on: Page, where: string): Promise<void> {
  await visit(on, `${world.service.url}${where}`);
  // A dialog is loaded after the page behind it.
  if (where.includes('new=')) await on.getByRole('dialog').waitFor();
  await settled(on);
  await loaded(on);
}

/** Visits all pages, wide in light colours and narrow in dark colours, and collects the data for several tests. */
async function walk(): Promise<Seen & { untitled: string[] }> {
  const seen = { violations: [], tooWide: [], alive: [], untitled: [] as string[] };
  const looks = [
    ['light', 1280],
    ['dark', 320],
  ] as const;
  // Every other page begins narrow, so that no page depends on the width with which it was loaded.
  for (const [nth, [name, where]] of Object.entries(pages()).entries())
    for (const [at, [theme, width]] of (nth % 2 === 0 ? looks : looks.toReversed()).entries()) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 800 });
      if (at === 0) await show(page, where);
      else await settled(page);
      // axe takes a second for each page, so it sees every other page in dark only, unless the run is thorough.
      // Before each page, the page for unknown addresses was shown.
      if ((await page.title()).includes('Page not found')) seen.untitled.push(name);
      await inspect(page, `${name}, ${theme}, ${width} px`, seen, at === 0 || isThorough);
    }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light' });
  return seen;
}
let walked: ReturnType<typeof walk> | undefined;

inBrowser('axe finds no violation on any page; every page has its title, and fits at 1280 and 320 px', async () => {
  walked ??= walk();
  const { violations: found, tooWide, untitled } = await walked;
  expect([found, tooWide, [...new Set(untitled)]]).toEqual([[], [], ['nothing']]);
});

inBrowser('hostile titles, descriptions, diffs, answers and names are shown as text', async () => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  walked ??= walk();
  expect((await walked).alive).toEqual([]);
  await show(page, `/tasks/${hostileTask}?tab=diff`);
  // People decide here what to merge, so characters that hide or reorder text must be visible.
  await page.getByText('This file contains invisible or bidirectional characters.').waitFor();
  expect(await page.locator('.file-lines').first().textContent()).toContain('⟦U+202E⟧evil');
  await show(page, `/tasks/${hostileTask}?tab=chat`);
  await page.getByLabel('Your message').fill(hostile);
  await page.getByRole('button', { name: 'Send' }).click();
  const answer = page.locator('.message.agent .markdown');
  await answer.getByRole('link', { name: 'https://ok.example/' }).waitFor();
  expect(await answer.getByRole('link', { name: 'https://ok.example/' }).getAttribute('rel')).toBe('noopener nofollow');
  expect(await answer.locator('img, script, iframe').count()).toBe(0);
  expect(await page.evaluate('window.hit')).toBeUndefined();
  expect(asked.filter((url) => !url.startsWith(world.service.url) && !url.startsWith('data:'))).toEqual([
    ...asked.filter((url) => /avatar|\.png/.test(url) && url.startsWith(world.github.url)),
  ]);
  expect(asked.some((url) => url.includes('tracker.example'))).toBe(false);
});

inBrowser('no link of the header is without a name while the project is loaded', async () => {
  const { promise: loaded, resolve: load } = Promise.withResolvers<void>();
  const reads = '**/api/v1/**';
  await page.route(reads, async (route) => {
    await loaded;
    await route.continue();
  });
  await page.goto(`${world.service.url}${base}`);
  await page.getByRole('navigation', { name: 'Project' }).waitFor();
  const header = page.locator('header');
  expect((await header.getByRole('link').allTextContents()).filter((text) => text === '')).toEqual([]);
  load();
  await header.locator('.project-name').waitFor();
  await page.unroute(reads);
});

inBrowser('the forecast of a sprint shows dates, and what they would be without chosen tasks', async () => {
  await show(page, `/sprints/${sprintId}`);
  const forecast = page.getByRole('region', { name: 'Forecast' });
  await forecast.getByText('Safe (80%)').waitFor();
  await forecast.getByText('What if tasks are taken out?').click();
  await forecast.getByLabel('Next to it').check();
  await forecast.getByText(/^Without this task, the sprint will probably be done about \d+ days? earlier\.$/).waitFor();
  const seen: Seen = { violations: [], tooWide: [], alive: [] };
  await inspect(page, 'forecast, wide', seen, true);
  await page.setViewportSize({ width: 320, height: 800 });
  await inspect(page, 'forecast, narrow', seen, false);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(seen).toEqual({ violations: [], tooWide: [], alive: [] });
  await forecast.getByRole('checkbox').first().check();
  await forecast.getByText('No open tasks are left.').waitFor();
  await show(page, `/sprints/${sprintId}?tab=chart`);
  await page.getByText('View as table').click();
  await page.getByRole('columnheader', { name: 'Forecast (80%)' }).waitFor();
});

inBrowser('the board and the task page work with the keyboard alone', async () => {
  for (const title of ['First by keys', 'Second by keys'])
    await world.service.api(world.token, 'POST', `${base}/tasks`, { title });
  await show(page, base);
  await page.keyboard.press('/');
  await page.keyboard.type('by keys');
  const first = page.getByRole('link', { name: 'Second by keys' });
  await first.waitFor();
  const focused = () => page.evaluate('document.activeElement?.textContent ?? ""');
  const tabTo = async (text: RegExp) => {
    for (let i = 0; i < 40; i++) {
      if (text.test(String(await focused()))) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab did not reach ${text}; the focus is on ${await focused()}`);
  };
  await tabTo(/^Second by keys/);
  await page.keyboard.press('ArrowDown');
  expect(await focused()).toBe('First by keys');
  await page.keyboard.press('ArrowUp');
  expect(await focused()).toBe('Second by keys');
  // Opens the menu of the card and selects an action with the keyboard.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Move to Ready' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  while ((await focused()) !== 'Move to Ready') await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('[data-status=ready]').getByRole('link', { name: 'Second by keys' }).waitFor();
  // The focus stays on the card, although the card is in another column now.
  await until('the focus on the card', async () => (await focused()) === 'Second by keys');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/tasks\//);
  await page.getByRole('heading', { name: /by keys/ }).waitFor();
  const more = page.getByRole('button', { name: 'More actions' });
  await tabTo(/^Edit$/);
  await page.keyboard.press('Tab');
  expect(await more.and(page.locator(':focus')).count()).toBe(1);
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Mark as done' }).waitFor();
  while ((await focused()) !== 'Mark as done') await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByText('Done', { exact: true }).waitFor();
});

inBrowser('filtering and scrolling a board of 2,000 tasks does not block the page', async () => {
  await world.sql(
    `insert into tasks (id, project_id, title, description, status)
       select 'task_many' || n, $1, 'Task ' || n || ' of many', '', 'backlog' from generate_series(0, 1999) n`,
    [world.project.id],
  );
  await show(page, base);
  await page.getByText(/^20\d\d$/).waitFor();
  const longest = await longestTask(async () => {
    await page.getByLabel('Search titles').pressSequentially('199');
    await page.getByRole('link', { name: 'Task 1999 of many' }).waitFor();
    await page.getByLabel('Search titles').fill('');
    await page.getByText(/^20\d\d$/).waitFor();
    await page.evaluate(
      'new Promise((done) => { const list = document.querySelector("[data-status=backlog] .column-cards"); let n = 0; const step = () => { list.scrollTop += 3000; n++ < 40 ? requestAnimationFrame(step) : done(); }; step(); })',
    );
  });
  expect(await page.locator('[data-status=backlog] .card').count()).toBeLessThan(60);
  // Without its virtual list the board would take seconds.
  expect(longest).toBeLessThan(500);
});
