import type { Page } from 'playwright-core';
import { until } from '../../demo/real-service.ts';
import { complaints, inBrowser } from '../support/browser.ts';
import type { World } from '../support/world.ts';
import { openBoard } from './board-page.ts';
import { inspect, type Seen } from './inspect.ts';

const board = openBoard();
const { api, column, cardOf, open } = board;
let world: World;
let page: Page;
let base: string;
beforeAll(() => {
  ({ world, page, base } = board);
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
