import type { Page } from 'playwright-core';
import { settled } from '../../demo/browser.ts';
import { complaints, inBrowser } from '../support/browser.ts';
import type { World } from '../support/world.ts';
import { openBoard } from './board-page.ts';
import { inspect, type Seen } from './inspect.ts';

const board = openBoard();
const { tasks, api, column, cardOf, open } = board;
let world: World;
let page: Page;
let base: string;
let agentId: string;
let sprintId: string;
beforeAll(() => {
  ({ world, page, base, agentId, sprintId } = board);
});

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
