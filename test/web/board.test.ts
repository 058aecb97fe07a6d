import type { Page } from 'playwright-core';
import { chromiumPath, settled } from '../../demo/browser.ts';
import { until } from '../../demo/real-service.ts';
import { complaints, inBrowser, openOwner, visit, watchBrowser } from '../support/browser.ts';
import { openWorld, type World } from '../support/world.ts';
import { inspect, type Seen } from './inspect.ts';

let world: World;
let page: Page;
let base: string;
let agentId: string;
let sprintId: string;
const tasks: Record<string, string> = {};

const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
const column = (status: string) => page.locator(`[data-status=${status}]`);
const cardOf = (title: string) => page.locator('.card').filter({ hasText: title });

/**
 * Adds a run that is not carried out: its lease is held until tomorrow, or its turn has not come. The task is in progress
 * from the same moment, because the service fails a task in progress that has no run.
 */
const addRun = (taskId: string, status: 'running' | 'queued', cost: number) =>
  world.sql(
    `with started as (update tasks set status = 'in_progress' where id = $1)
     insert into runs (id, task_id, project_id, agent_id, kind, status, cost_usd, created_at, started_at, lease_until, not_before)
     values ('run_' || $1, $1, $2, $3, 'start', $4::text, $5, now() - interval '65 minutes',
       case when $4 = 'running' then now() - interval '65 minutes' end, now() + interval '1 day', now() + interval '1 day')`,
    [taskId, world.project.id, agentId, status, cost],
  );

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  world = await openWorld([], { settings: { SANDBOX: 'off' } });
  base = `/projects/${world.project.id}`;
  const [agent] = await api<{ id: string }[]>('GET', `/agents?projectId=${world.project.id}`);
  agentId = agent?.id ?? '';
  const day = new Date().toISOString().slice(0, 10);
  sprintId = (await api<{ id: string }>('POST', `${base}/sprints`, { name: 'Spring', startDate: day, endDate: day }))
    .id;
  for (const title of ['Works now', 'Waits its turn', 'Plain one', 'Plain two'])
    tasks[title] = (await api<{ id: string }>('POST', `${base}/tasks`, { title, owner: agentId })).id;
  await api('POST', `/sprints/${sprintId}/tasks`, { taskId: tasks['Works now'] });
  await addRun(tasks['Works now'] ?? '', 'running', 0.75);
  await addRun(tasks['Waits its turn'] ?? '', 'queued', 0);
  await world.sql(`insert into run_events (run_id, type, text, data) values ($1, 'model', 'm answered', $2)`, [
    `run_${tasks['Works now']}`,
    { calls: ['run_command npm test'] },
  ]);
  page = await openOwner(world);
});
watchBrowser(() => world?.close());

/** Opens the board with a query and waits for its cards. */
async function open(query = ''): Promise<void> {
  await visit(page, `${world.service.url}${base}${query}`);
  await page.locator('.card').first().waitFor();
}

inBrowser('cards distinguish running from queued, columns share the width, and empty ones fold', async () => {
  await open();
  const running = cardOf('Works now');
  expect(await running.textContent()).toMatch(/Running 1:\d\d:\d\d/);
  expect(await running.textContent()).toContain('$0.75');
  await running.getByText('Runs npm test', { exact: true }).waitFor();
  expect(await running.textContent()).toContain('Spring');
  expect(await running.textContent()).toContain((tasks['Works now'] ?? '').slice(-6));
  expect(await cardOf('Waits its turn').textContent()).toMatch(/Queued 1:\d\d:\d\d/);
  expect(await column('done').getAttribute('class')).toContain('folded');
  // The button that replaces the other one has the focus.
  const keyed = (name: string) => column('done').getByRole('button', { name }).and(page.locator(':focus'));
  await column('done').getByRole('button', { name: 'Unfold Done, 0' }).press('Enter');
  await keyed('Fold Done').press('Enter');
  await keyed('Unfold Done, 0').press('Enter');
  await column('done').getByRole('button', { name: 'Fold Done' }).waitFor();
  const cut = 'document.querySelector(".board").scrollWidth - document.querySelector(".board").clientWidth';
  expect(await page.evaluate(cut)).toBe(0);
  await page.reload();
  await column('done').getByRole('button', { name: 'Fold Done' }).click();
  await column('done').getByRole('button', { name: 'Unfold Done, 0' }).waitFor();
});

inBrowser('the arrow keys reach the cards from anywhere on the page, and a new card has the focus', async () => {
  await open();
  const focused = (title: string) => page.getByRole('link', { name: title }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('[data-card]:focus').waitFor();
  await page.keyboard.press('n');
  // Nobody waits for the dialog, and these letters would be shortcuts of the board.
  await page.keyboard.type('Written by key');
  await page.getByRole('dialog', { name: 'New task' }).locator(':focus').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Create task' }).press('Enter');
  await focused('Written by key');
  // A field keeps its arrow keys.
  await page.keyboard.press('/');
  await page.keyboard.press('ArrowDown');
  expect(await page.locator('[data-card]:focus').count()).toBe(0);
  await page.getByRole('link', { name: 'Backlog', exact: true }).focus();
  await page.keyboard.press('ArrowDown');
  await focused('Written by key');
  // The page of the task has the focus on its heading, and does so after any navigation.
  await page.getByRole('link', { name: 'Written by key' }).press('Enter');
  await page.getByRole('heading', { name: 'Written by key', level: 1 }).and(page.locator(':focus')).waitFor();
  // Going back leads to the card from which one came, and the arrow keys go on there.
  await page.goBack();
  await focused('Written by key');
  await page.keyboard.press('ArrowDown');
  await page.locator('[data-index="1"] [data-card]:focus').waitFor();
});

inBrowser('what is typed while the code of a dialog is loaded arrives in its field', async () => {
  for (const [keys, role] of [
    ['n', 'textbox'],
    ['ControlOrMeta+k', 'combobox'],
  ] as const) {
    let load = () => {};
    const mayLoad = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route(/palette|new-task-dialog/, (route) => mayLoad.then(() => route.continue()));
    await open();
    await page.keyboard.press(keys);
    await page.keyboard.type('Axx/n?');
    await page.keyboard.press('Backspace');
    load();
    const field = page.getByRole('dialog').getByRole(role).and(page.locator(':focus'));
    await field.waitFor();
    expect(await field.inputValue()).toBe('Axx/n');
    await field.fill('');
    await field.press('Escape');
    await page.unroute(/palette|new-task-dialog/);
  }
});

inBrowser('what is typed after a Tab, while the code of a dialog is loaded, arrives in the next field', async () => {
  const loaded = Promise.withResolvers<void>();
  await page.route(/new-task-dialog/, (route) => loaded.promise.then(() => route.continue()));
  await open();
  await page.keyboard.press('n');
  await page.keyboard.type('A title');
  await page.keyboard.press('Tab');
  await page.keyboard.type('And more');
  loaded.resolve();
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByLabel('Description').and(page.locator(':focus')).waitFor();
  expect(await dialog.getByLabel('Title').inputValue()).toBe('A title');
  expect(await dialog.getByLabel('Description').inputValue()).toBe('And more');
  await page.unroute(/new-task-dialog/);
  // What was written before is still there, and the dialog says so.
  await dialog.getByLabel('Title').press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('n');
  await page.keyboard.type(' again');
  await dialog.getByText('You wrote this before and have not sent it.').waitFor();
  expect(await dialog.getByLabel('Title').inputValue()).toBe('A title again');
  await dialog.getByRole('button', { name: 'Start over' }).click();
  await dialog.getByLabel('Title').and(page.locator(':focus')).waitFor();
  expect(await dialog.getByLabel('Title').inputValue()).toBe('');
  expect(await dialog.getByLabel('Description').inputValue()).toBe('');
  expect(await dialog.getByRole('button', { name: 'Start over' }).count()).toBe(0);
  await dialog.getByLabel('Title').press('Escape');
});

inBrowser('a link to a page that does not come gives a sign, and says why nothing happens', async () => {
  const loaded = Promise.withResolvers<void>();
  await page.route(/runs-page/, (route) => loaded.promise.then(() => route.continue()));
  await open();
  await page.clock.install();
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  const sign = page.getByRole('progressbar', { name: 'Loading the next page' });
  expect(await sign.count()).toBe(0);
  await page.clock.fastForward(1_000);
  await sign.waitFor();
  const reason = page.getByText('The service has not answered for 10 seconds.');
  expect(await reason.count()).toBe(0);
  await page.clock.fastForward(10_000);
  await reason.waitFor();
  loaded.resolve();
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
  for (const each of [sign, reason]) await each.waitFor({ state: 'detached' });
  await page.unroute(/runs-page/);
  await page.clock.resume();
});

inBrowser('a page whose script cannot be loaded says why inside the frame', async () => {
  await page.route(/spend-page/, (route) => route.abort());
  await open();
  await page.getByRole('link', { name: 'Spend', exact: true }).click();
  const main = page.getByRole('main');
  await main.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
  await page.getByRole('link', { name: 'Backlog', exact: true }).click();
  await page.getByRole('heading', { name: 'Backlog', level: 1 }).waitFor();

  // After an update, the scripts have other names.
  const isHome = ({ pathname }: URL) => pathname === '/';
  await page.route(isHome, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll('/assets/', '/assets/new-') });
  });
  await page.getByRole('link', { name: 'Spend', exact: true }).click();
  await main.getByRole('heading', { name: 'A new version is available' }).waitFor();
  await page.unroute(isHome);
  await page.unroute(/spend-page/);
  expect(complaints.splice(0).filter((complaint) => !/ERR_FAILED at .*spend-page/.test(complaint))).toEqual([]);
});

inBrowser('several tasks are moved at once, and the reason of each refusal is shown', async () => {
  await open();
  for (const title of ['Plain one', 'Plain two', 'Works now'])
    await page.getByRole('checkbox', { name: `Select ${title}` }).check();
  const bar = page.getByRole('region', { name: 'Selected tasks' });
  await bar.getByText('3 tasks selected').waitFor();
  const seen: Seen = { violations: [], tooWide: [], alive: [] };
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await settled(page);
    await inspect(page, `selection, ${colorScheme}`, seen, true);
  }
  const choose = async (menu: string, item: string) => {
    await bar.getByRole('button', { name: menu }).click();
    // Not with the pointer: on a busy machine the menu may still find its place between pressing and releasing the button.
    await page.getByRole('menuitem', { name: item }).press('Enter');
  };
  await choose('Move to', 'Ready');
  await bar.getByText('2 moved, 1 refused:').waitFor();
  await bar.getByText('1 task selected').waitFor();
  await bar.getByRole('link', { name: 'Works now' }).waitFor();
  await column('ready').getByRole('link', { name: 'Plain one' }).waitFor();
  await inspect(page, 'refusals', seen, true);
  expect(seen).toEqual({ violations: [], tooWide: [], alive: [] });
  await bar.getByRole('button', { name: 'Clear selection' }).click();
  for (const title of ['Plain one', 'Plain two']) await page.getByRole('checkbox', { name: `Select ${title}` }).check();
  await choose('Add to sprint', 'Spring');
  await page.getByText('2 tasks added to the sprint').waitFor();
  expect(await world.get(`/tasks/${tasks['Plain two']}`)).toMatchObject({ status: 'ready', sprintId });
  // With the keyboard alone, and the focus is on the card afterwards.
  await page.getByRole('link', { name: 'Plain two' }).press('x');
  await bar.getByText('1 task selected').waitFor();
  await page.keyboard.press('a');
  await bar.getByRole('button', { name: 'Start' }).and(page.locator(':focus')).waitFor();
  await bar.getByRole('button', { name: 'Move to' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Backlog' }).press('Enter');
  await page.getByText('1 task moved').waitFor();
  await column('backlog').getByRole('link', { name: 'Plain two' }).and(page.locator(':focus')).waitFor();
  // The refusal is also in Chromium's log.
  complaints.length = 0;
});

inBrowser('a start asks who does the tasks without an agent', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Nobody does it' });
  await open();
  await page.getByRole('checkbox', { name: 'Select Nobody does it' }).check();
  const bar = page.getByRole('region', { name: 'Selected tasks' });
  await bar.getByRole('button', { name: 'Start' }).click();
  await bar.getByLabel('1 selected task has no agent. Who should do it?').waitFor();
  await bar.getByRole('button', { name: 'Cancel' }).click();
  await bar.getByText('1 task selected').waitFor();
  await bar.getByRole('button', { name: 'Start' }).click();
  await bar.getByRole('button', { name: 'Assign and start' }).click();
  await page.getByText('1 task started').waitFor();
  expect(await world.get(`/tasks/${id}`)).toMatchObject({ owner: agentId, status: 'in_progress' });
});

inBrowser('the menu of a card without an agent assigns one', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Whose is it' });
  await open();
  await page.getByRole('button', { name: 'Actions for Whose is it' }).press('Enter');
  await page.getByRole('menu').getByText('Assign to').waitFor();
  await page.getByRole('menuitem', { name: 'Developer' }).first().press('Enter');
  await page.getByText('Assigned to Developer').waitFor();
  expect(await world.get(`/tasks/${id}`)).toMatchObject({ owner: agentId, status: 'backlog' });
});

inBrowser('a view is saved with its filters and sorting, applied and deleted', async () => {
  await open('?state=running&sort=cost');
  await cardOf('Works now').waitFor();
  expect(await page.locator('.card').count()).toBe(1);
  const views = page.getByRole('button', { name: /^View/ });
  await views.click();
  const save = page.getByRole('menuitem', { name: 'Save current view…' });
  await save.waitFor();
  await views.click();
  await save.waitFor({ state: 'hidden' });
  await views.click();
  await save.click();
  await page.getByRole('dialog').getByLabel('Name').fill('Under way');
  await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click();
  await page.getByText('View “Under way” saved').waitFor();
  await page.getByRole('button', { name: 'View: Under way' }).and(page.locator(':focus')).waitFor();
  await open();
  await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
  await views.click();
  await page.getByRole('menuitemradio', { name: 'Under way' }).click();
  await page.waitForURL(/state=running&sort=cost/);
  expect(await world.get(`${base}/views`)).toEqual([{ name: 'Under way', query: 'state=running&sort=cost' }]);
  await views.click();
  await page.getByRole('menuitem', { name: 'Delete “Under way”' }).click();
  await page.getByText('View “Under way” deleted').waitFor();
  expect(await world.get(`${base}/views`)).toEqual([]);
});

inBrowser('filters and scroll positions survive going to a task and back', async () => {
  await world.sql(
    `insert into tasks (id, project_id, title, description, status)
       select 'task_back' || n, $1, 'Task ' || n || ' of many', '', 'backlog' from generate_series(100, 199) n`,
    [world.project.id],
  );
  await open('?search=of%20many');
  await column('backlog').getByRole('heading', { name: /100/ }).waitFor();
  await page.evaluate('document.querySelector("[data-status=backlog] .column-cards").scrollTop = 4000');
  const shown = column('backlog').locator('li[data-index="45"] [data-card]');
  // Not with the pointer: cards still move for a moment after the column was scrolled, and a click may miss.
  await shown.press('Enter');
  await page.waitForURL(/\/tasks\//);
  await page.goBack();
  await column('backlog').locator('li[data-index="45"]').waitFor();
  expect(new URL(page.url()).searchParams.get('search')).toBe('of many');
  const top = 'document.querySelector("[data-status=backlog] .column-cards").scrollTop';
  expect(Number(await page.evaluate(top))).toBeGreaterThan(2000);
});

inBrowser('a change costs one request on the board and one on the page of the task', async () => {
  const taskId = tasks['Plain one'] ?? '';
  let about: string[] = [];
  // The checklist of a new project is fetched now and then, which has nothing to do with the change.
  page.on('request', (request) => {
    const url = decodeURIComponent(request.url());
    const isStream = request.resourceType() === 'eventsource';
    if (!isStream && url.includes('/api/v1/') && (url.includes(taskId) || url.includes('/board'))) about.push(url);
  });
  const change = async (title: string) => {
    await world.sql('update tasks set title = $2, updated_at = now() where id = $1', [taskId, title]);
    await page.getByText(title).first().waitFor();
  };
  const wholeBoards = () => about.filter((url) => url.includes('/board?limit=')).length;
  for (const [path, ready] of [
    [base, '.card'],
    [`/tasks/${taskId}`, '[aria-label="Subtasks and dependencies"]'],
  ] as const) {
    about = [];
    await page.goto(`${world.service.url}${path}`);
    await page.locator(ready).first().waitFor();
    // The first change makes sure that the page follows the project and has loaded everything.
    await change(`Known on ${path}`);
    expect([path, wholeBoards()]).toEqual([path, path === base ? 1 : 0]);
    about = [];
    // A second request for one change would be sent after its title is shown, but before that of the next change.
    const changes = [1, 2, 3];
    for (const nth of changes) await change(`Change ${nth} on ${path}`);
    expect([path, about]).toEqual([path, changes.map(() => expect.any(String))]);
  }
});

inBrowser('the actions of the board stay in the row of its heading, and a phone shows the cards first', async () => {
  // The filter by person appears with the second one.
  await api('POST', `${base}/members`, { login: 'stranger', role: 'member' });
  await page.goto(`${world.service.url}${base}`);
  const filter = page.getByLabel('Filter by person');
  await filter.waitFor();
  await cardOf('Waits its turn').waitFor();
  const middle = async (name: string) => {
    const box = await page.getByRole('heading', { name }).or(page.getByRole('button', { name })).first().boundingBox();
    return (box?.y ?? 0) + (box?.height ?? 0) / 2;
  };
  expect(Math.abs((await middle('New task')) - (await middle('Board')))).toBeLessThan(24);
  await page.setViewportSize({ width: 390, height: 844 });
  await filter.waitFor({ state: 'hidden' });
  expect((await page.locator('.page-head').boundingBox())?.height).toBeLessThan(100);
  await page.getByRole('button', { name: 'Filters' }).click();
  await filter.waitFor();
  const seen: Seen = { violations: [], tooWide: [], alive: [] };
  await inspect(page, 'board on a phone', seen, true);
  expect(seen).toEqual({ violations: [], tooWide: [], alive: [] });
  await page.setViewportSize({ width: 1280, height: 800 });
});

inBrowser('on a phone, the board follows a card that moves to a column off the screen', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Goes away' });
  await page.setViewportSize({ width: 390, height: 844 });
  await open();
  await page.getByLabel('Select Goes away').check();
  await page.getByRole('button', { name: 'Move to' }).click();
  await page.getByRole('menuitem', { name: 'Done' }).click();
  const card = column('done').locator(`[data-card="${id}"]`);
  await card.and(page.locator(':focus')).waitFor();
  await until('the card to be in view', async () => {
    const { x = -1, width = 0 } = (await card.boundingBox()) ?? {};
    return x >= 0 && x + width <= 390;
  });
  await page.setViewportSize({ width: 1280, height: 800 });
});
