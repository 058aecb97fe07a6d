import { settled } from '../../demo/browser.ts';
import { until } from '../../demo/real-service.ts';
import { complaints, inBrowser, openDashboard, visit } from '../support/browser.ts';
import { awayFromMidnight } from '../support/machine/midnight.ts';
import { inspect, type Seen } from './inspect.ts';

const { world, page, base, api } = await openDashboard();

async function show(where: string): Promise<void> {
  await visit(page, `${world.service.url}${where}`);
  await settled(page);
}

/** Expects that axe finds nothing in light and dark, and that the page is not too wide. */
async function expectAccessible(name: string): Promise<void> {
  const seen: Seen = { violations: [], tooWide: [], alive: [] };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await settled(page);
    await inspect(page, `${name}, ${colorScheme}`, seen, true);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  expect(seen).toEqual({ violations: [], tooWide: [], alive: [] });
}

inBrowser(
  'the command palette finds tasks by their descriptions, pages and actions, with the keyboard alone',
  async () => {
    const { id } = await api<{ id: string }>('POST', `${base}/tasks`, {
      title: 'Fix the login',
      description: 'It ends with a timeout after the redirect.',
    });
    await show(base);
    await page.getByRole('button', { name: 'Search and commands' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Command palette' });
    const field = palette.getByRole('combobox');
    const options = palette.getByRole('option');
    await options.filter({ hasText: 'New task' }).waitFor();
    await expectAccessible('palette');
    await field.fill('redirect timeo');
    await options.filter({ hasText: 'Fix the login' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/tasks/${id}`);
    await page.getByRole('heading', { name: 'Fix the login', level: 1 }).and(page.locator(':focus')).waitFor();
    await palette.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await field.fill('spr');
    await options.filter({ hasText: 'New sprint' }).waitFor();
    await palette.getByRole('option', { selected: true }).filter({ hasText: 'Sprints' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await palette.getByRole('option', { selected: true }).filter({ hasText: 'New sprint' }).waitFor();
    await page.keyboard.press('Enter');
    const sprint = page.getByRole('dialog', { name: 'New sprint' });
    // A dialog handles keys once it has the focus.
    await sprint.locator(':focus').waitFor();
    await page.keyboard.press('Escape');
    // Shortcuts do nothing while a dialog is open.
    await sprint.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await options.filter({ hasText: 'Fix the login' }).waitFor();
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await keys.getByText('Open the command palette').waitFor();
    await expectAccessible('shortcuts');
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    // A key that follows Escape at once finds the focus still in the field of the palette.
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.evaluate(`{
      const input = document.activeElement;
      input.closest('dialog').close();
      input.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true, cancelable: true }));
    }`);
    await keys.waitFor();
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
  },
);

inBrowser('the palette opens the board of any project from a page outside of them', async () => {
  const { id } = await api<{ id: string }>('POST', '/projects', { name: 'Warehouse' });
  const { name } = await world.get<{ name: string }>(base);
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  const search = async (text: string) => {
    await page.getByRole('button', { name: 'Search and commands' }).click();
    await palette.getByRole('combobox').fill(text);
  };
  const board = (of: string) => palette.getByRole('option', { name: `Board of ${of}` });
  await show('/projects');
  await search('board of');
  await board(name).waitFor();
  await board('Warehouse').click();
  await page.waitForURL(`**/projects/${id}`);
  await page.getByRole('heading', { name: 'Board', level: 1 }).waitFor();
  // Within a project, its own board is one of its pages.
  await search('board');
  await palette.getByRole('option', { name: /^Board\s*Page$/ }).waitFor();
  // What was chosen is recent, so the board of the other project tells.
  expect(await board(name).count()).toBe(0);
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
});

inBrowser('the draft of a task survives Escape and a reload, and Ctrl+Enter creates and starts it', async () => {
  await show(`${base}?new=one`);
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByLabel('Title').fill('Kept through reloads');
  await dialog.getByLabel('Description').fill('Half a');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.goto(`${world.service.url}${base}?new=one`);
  await settled(page);
  expect(await dialog.getByLabel('Title').inputValue()).toBe('Kept through reloads');
  // It is preselected once the agents are loaded.
  await dialog.getByLabel('Agent').locator('option:checked', { hasText: 'Developer' }).waitFor({ state: 'attached' });
  await dialog.getByLabel('Description').fill('Half a sentence.');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Task created and started').waitFor();
  const [task] = await world.get<{ title: string; description: string; runCount: number }[]>(`${base}/tasks?limit=1`);
  expect(task).toMatchObject({ title: 'Kept through reloads', description: 'Half a sentence.', runCount: 1 });
  await show(`${base}?new=one`);
  expect(await dialog.getByLabel('Title').inputValue()).toBe('');
});

inBrowser('a dialog says which of its lists could not be loaded, and loads them the next time', async () => {
  // Most requests are sent together, in the address of one.
  const lists = /agents(\?|%3F)projectId|task-templates/;
  await page.route(lists, (route) => route.abort());
  // Without what earlier pages have fetched.
  await page.goto(`${world.service.url}${base}?new=one`);
  const dialog = page.getByRole('dialog', { name: 'New task' });
  const shown = (label: string, text: string) =>
    dialog.getByLabel(label).locator('option:checked', { hasText: text }).waitFor({ state: 'attached' });
  await shown('Agent', 'Could not be loaded');
  await shown('Template', 'Could not be loaded');
  await dialog.getByLabel('Title').fill('Without an agent');
  await dialog.getByRole('button', { name: 'Create and start' }).click();
  await dialog.getByText('The agents could not be loaded').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.unroute(lists);
  await page.getByRole('button', { name: 'New task' }).click();
  await shown('Agent', 'Developer');
  await shown('Template', 'The repository has no templates');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  // Chromium logs requests that fail.
  complaints.length = 0;
});

inBrowser('what was changed in a form survives Escape and a reload, and hides no change by others', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Draft me', description: 'Before' });
  const other = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Comes first' });
  await visit(page, `${world.service.url}/tasks/${id}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit task' });
  await dialog.getByLabel('Description').fill('Half a');
  await dialog.getByLabel('Depends on').fill('comes');
  const found = dialog.getByRole('button', { name: 'Add Comes first' });
  await found.waitFor();
  await page.keyboard.press('ArrowDown');
  await found.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Remove Comes first' }).waitFor();
  const search = dialog.getByLabel('Depends on').and(page.locator(':focus'));
  expect(await search.inputValue()).toBe('');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await api('PATCH', `/tasks/${id}`, { title: 'Renamed by others' });
  await page.reload();
  await page.getByRole('heading', { name: 'Renamed by others' }).waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  expect(await dialog.getByLabel('Title').inputValue()).toBe('Renamed by others');
  expect(await dialog.getByLabel('Description').inputValue()).toBe('Half a');
  await dialog.getByText('You changed this before and have not saved it.').waitFor();
  await dialog.getByRole('button', { name: 'Remove Comes first' }).waitFor();
  await dialog.getByLabel('Description').fill('Half a sentence.');
  await page.keyboard.press('Control+Enter');
  await dialog.waitFor({ state: 'detached' });
  expect(await world.get(`/tasks/${id}`)).toMatchObject({
    title: 'Renamed by others',
    description: 'Half a sentence.',
    dependsOn: [other.id],
  });
  await page.getByRole('list', { name: 'Depends on' }).getByRole('link', { name: 'Comes first' }).waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  expect(await dialog.getByLabel('Description').inputValue()).toBe('Half a sentence.');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
});

inBrowser('a text that somebody else changes while it is edited is not replaced without a word', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Of two', description: 'Before' });
  await visit(page, `${world.service.url}/tasks/${id}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit task' });
  await dialog.getByLabel('Description').fill('Mine');
  await api('PATCH', `/tasks/${id}`, { description: 'Theirs' });
  await dialog.getByText('Somebody else has changed the description').waitFor();
  await dialog.getByText('− Theirs').waitFor();
  // The page does not learn of this one before the person saves.
  await page.route(/\/events/, (route) => route.abort());
  await page.evaluate(`window.dispatchEvent(new Event('online'))`);
  await api('PATCH', `/tasks/${id}`, { description: 'Theirs again' });
  const [keep, save] = ['Replace it with yours', 'Save changes'].map((name) => dialog.getByRole('button', { name }));
  const take = dialog.getByRole('button', { name: 'Use their description' });
  await save?.click();
  await take.and(page.locator(':focus')).waitFor();
  await keep?.click();
  await save?.and(page.locator(':focus')).waitFor();
  await save?.click();
  await dialog.getByText('− Theirs again').waitFor();
  expect(await world.get(`/tasks/${id}`)).toMatchObject({ description: 'Theirs again' });
  await keep?.click();
  await save?.click();
  await dialog.waitFor({ state: 'detached' });
  expect(await world.get(`/tasks/${id}`)).toMatchObject({ description: 'Mine' });
  // Somebody else who writes the same text is no conflict.
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Description').fill('Same');
  await api('PATCH', `/tasks/${id}`, { description: 'Same' });
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.unroute(/\/events/);
  complaints.length = 0;
});

inBrowser('a pasted list is shown in its order', async () => {
  await show(`${base}/backlog?new=many`);
  const titles = Array.from({ length: 12 }, (_, i) => `Line ${i + 1}`);
  await page.getByLabel('One title per line').fill(titles.map((title) => `- ${title}`).join('\n'));
  await page.getByRole('button', { name: 'Create 12 tasks' }).click();
  const links = page
    .getByRole('main')
    .getByRole('listitem')
    .getByRole('link', { name: /^Line / });
  await links.nth(11).waitFor();
  expect(await links.allTextContents()).toEqual(titles);
  await show(`${base}/backlog`);
  await links.nth(11).waitFor();
  expect(await links.allTextContents()).toEqual(titles);
});

inBrowser(
  'without a connection the page stays, actions say so and keep the text, and pages open when it is back',
  async () => {
    await show(`${base}?new=one`);
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await page.context().setOffline(true);
    await page.getByText('You are offline. The page may be outdated.').waitFor();
    await dialog.getByLabel('Title').fill('Written on the train');
    await dialog.getByRole('button', { name: 'Create task' }).click();
    await dialog.getByText('You are offline, so this was not sent.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { name: 'Board' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Members' }).waitFor();
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    await show(`${base}?new=one`);
    expect(await dialog.getByLabel('Title').inputValue()).toBe('Written on the train');
    // The browser reports each request that it could not send.
    expect(complaints.filter((text) => !/ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED/.test(text))).toEqual([]);
    complaints.length = 0;
  },
);

inBrowser('the spend of a project is shown by day and by agent, against its budget', async () => {
  await awayFromMidnight();
  const [agent] = await world.get<{ id: string; name: string }[]>(`/agents?projectId=${world.project.id}`);
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Costly', owner: agent?.id });
  await world.sql(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, input_tokens, output_tokens, cost_usd)
     values ('run_costly', $1, $2, $3, 'start', 'succeeded', 1000, 200, 12.5)`,
    [id, world.project.id, agent?.id],
  );
  await show(base);
  await page.getByRole('link', { name: 'Spend' }).click();
  await page.getByText(/^\$12\.5\d of \$50\.00 \(25%\)$/).waitFor();
  await page.getByRole('row', { name: /Developer/ }).waitFor();
  await page.getByText('View as table').click();
  await page.getByRole('columnheader', { name: 'Of the budget' }).waitFor();
  await expectAccessible('spend');
  await page.getByRole('link', { name: 'All projects' }).click();
  await page.getByRole('row', { name: /\$12\.5\d \$50\.00 \(25% used\) \$12\.5\d$/ }).waitFor();
  await expectAccessible('spend of all projects');
});

inBrowser('a change of a plan by somebody else is shown without a reload, with who made it', async () => {
  await world.sql(
    `insert into wizard_sessions (id, project_id, goal, status, steps, prd)
     values ('wiz_shared', $1, 'Shared goal', 'prd_ready', '[]', '{"title":"Before","markdown":"Text"}')`,
    [world.project.id],
  );
  await show(`${base}/plan/wiz_shared`);
  await page.getByRole('heading', { name: 'Before' }).waitFor();
  await world.sql(
    `update wizard_sessions set prd = '{"title":"Afterwards","markdown":"Text"}', updated_at = now(),
       updated_by = (select id from users where login = 'mona') where id = 'wiz_shared'`,
    [],
  );
  await page.getByRole('heading', { name: 'Afterwards' }).waitFor();
  await page.getByText('changed by mona just now').waitFor();
  await world.sql(`insert into users (id, login) values ('user_lisa', 'lisa')`, []);
  await world.sql(`insert into plan_editors (session_id, user_id, part) values ('wiz_shared', 'user_lisa', 'prd')`, []);
  await page.getByText('lisa is editing this now.').waitFor();
  await page.getByRole('button', { name: 'Edit requirements' }).click();
  await page.getByRole('textbox', { name: 'Title' }).and(page.locator(':focus')).waitFor();
  await until('my own editor', async () => {
    const editors = await world.sql<{ part: string }>(`select part from plan_editors where user_id <> 'user_lisa'`, []);
    return editors.length === 1;
  });
  await world.sql(`delete from plan_editors where user_id = 'user_lisa'`, []);
  await page.getByText('lisa is editing this now.').waitFor({ state: 'detached' });
});
