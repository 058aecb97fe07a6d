import type { Locator } from 'playwright-core';
import { settled } from '../../demo/browser.ts';
import { until } from '../../demo/real-service.ts';
import { complaints, inBrowser, loaded, openDashboard, openOther, visit } from '../support/browser.ts';
import { handsOf, repo } from '../support/face.ts';
import { inspect, type Seen } from './inspect.ts';

const { world, page, base, api } = await openDashboard();

const go = (path: string) => visit(page, `${world.service.url}${path}`);
const entries = () => page.locator('.inbox-entry');

/** Creates a task that waits for its review. */
async function addReview(title: string): Promise<string> {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title });
  await world.sql(`update tasks set status = 'in_review', status_since = now() where id = $1`, [id]);
  return id;
}

inBrowser('a new project has a checklist, which shows what is done and can be hidden', async () => {
  await go('/');
  const checklist = page.getByRole('region', { name: 'Get started' });
  await checklist.getByText('3 of 5 done').waitFor();
  expect(await checklist.getByRole('link').allTextContents()).toEqual(['Try its environment', 'Finish a first task']);
  await world.sql(
    `insert into environment_trials (id, repository_id, status, finished_at)
     select 'trial_1', id, 'ready', now() from repositories`,
    [],
  );
  await checklist.getByText('4 of 5 done').waitFor();
  await go(base);
  await checklist.getByRole('link', { name: 'Finish a first task' }).click();
  await page.getByRole('dialog', { name: 'New task' }).locator(':focus').waitFor();
  await page.keyboard.press('Escape');
  await checklist.getByRole('button', { name: 'Hide checklist' }).click();
  await checklist.waitFor({ state: 'detached' });
  await go('/projects');
  await page.getByRole('link', { name: 'mona', exact: true }).waitFor();
  expect(await checklist.count()).toBe(0);
});

inBrowser('a repository is picked from the installation, and an issue becomes a task once', async () => {
  const { id } = await api<{ id: string }>('POST', '/projects', { name: 'Second' });
  await go(`/projects/${id}/repositories`);
  await page.getByRole('button', { name: 'Connect repository' }).click();
  const url = page.getByLabel('URL');
  await url.and(page.locator(':focus')).waitFor();
  const said = await url.evaluate((field) => (field as unknown as { validationMessage: string }).validationMessage);
  expect(said).toBe('Choose a repository or enter its URL.');
  await page.getByRole('button', { name: 'mona/sample' }).waitFor();
  await page.getByLabel('Find a repository').fill('samp');
  await page.keyboard.press('Enter');
  expect(await page.getByLabel('URL').inputValue()).toBe(`${world.github.url}/mona/sample`);
  await page.getByRole('button', { name: 'Connect repository' }).click();
  await page.getByText('Connected sample').waitFor();
  await page.getByLabel('Find a repository').fill('samp');
  await page
    .getByRole('button', { name: /mona\/sample Connected/ })
    .and(page.locator(':disabled'))
    .waitFor();
  await url.fill(`${world.github.url}/mona/none`);
  await page.getByRole('button', { name: 'Connect repository' }).click();
  await page.getByText(/^none is connected, but agents cannot work in it yet\. .+\.$/).waitFor();

  const number = await world.issue('', { title: 'From GitHub' });
  await go(`${base}/repositories`);
  const open = () => page.getByRole('button', { name: 'Import issues of sample' }).click();
  await open();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Search open issues').fill(`#${number}`);
  await dialog.getByRole('button', { name: 'Import issues' }).click();
  await dialog.getByText('Choose at least one issue.').waitFor();
  await dialog.getByRole('button', { name: 'Choose all that match' }).click();
  await dialog.getByText('1 issue chosen.').waitFor();
  // Without an agent nothing is started, although it was wanted before.
  await dialog.getByLabel('Agent').selectOption({ index: 1 });
  await dialog.getByLabel('Start the tasks at once').check();
  await dialog.getByLabel('Agent').selectOption('No agent');
  await dialog.getByRole('button', { name: 'Import issues' }).click();
  await page.getByText('1 task created.', { exact: true }).waitFor();
  expect(await world.task()).toMatchObject({ title: 'From GitHub', issueNumber: number, status: 'backlog' });
  await open();
  await dialog.getByRole('link', { name: 'Has a task' }).waitFor();
  await settled(page);
  const seen: Seen = { violations: [], tooWide: [], alive: [] };
  await inspect(page, 'import', seen, true);
  expect(seen).toEqual({ violations: [], tooWide: [], alive: [] });
  await page.keyboard.press('Escape');
});

inBrowser('a start asks first when somebody else works on the issue', async () => {
  const number = await world.issue('', { title: 'Wanted by two' });
  const { push, mona } = handsOf(world);
  await push('by-hand', 'by-hand.txt', 'x\n', { force: true });
  const fields = { title: 'By hand', body: `Fixes #${number}`, head: 'by-hand', base: 'main' };
  const pull = await mona<{ number: number }>('POST', `${repo}/pulls`, fields);
  const [repository] = await world.get<{ id: string }[]>(`/repositories?projectId=${world.project.id}`);
  const [agent] = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
  const chosen = { numbers: [number], status: 'ready', owner: agent?.id };
  const { imported } = await api<{ imported: { taskId: string }[] }>(
    'POST',
    `/repositories/${repository?.id}/issues`,
    chosen,
  );
  const id = imported[0]?.taskId;
  const status = async () => (await world.get<{ status: string }>(`/tasks/${id}`)).status;
  await go(`/tasks/${id}`);
  const note = page.getByRole('region', { name: 'Work of others' });
  await note.getByText(`mona/sample #${pull.number} by mona would close the issue`).waitFor();
  const [start, dialog] = [page.getByRole('button', { name: 'Start', exact: true }), page.getByRole('alertdialog')];
  await start.click();
  await dialog.getByRole('link', { name: `mona/sample #${pull.number}` }).waitFor();
  await dialog.getByRole('button', { name: 'Do not start' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await status()).toBe('ready');
  await start.click();
  await dialog.getByRole('button', { name: 'Start', exact: true }).click();
  await until('the start', async () => (await status()) !== 'ready');
  await note.waitFor({ state: 'detached' });
  // Its page would read the deleted task.
  await page.goto('about:blank');
  await api('POST', `/tasks/${id}/cancel`).catch(() => {});
  await api('DELETE', `/tasks/${id}`).catch(() => {});
});

inBrowser('the inbox fits wide and narrow pages in both themes, and works with the keyboard alone', async () => {
  const ids = [];
  for (const title of ['Third', 'Second', 'First']) ids.unshift(await addReview(title));
  const seen: Seen = { violations: [], tooWide: [], alive: [] };
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 800 });
    await go('/');
    await entries().nth(2).getByText('No checks ran').waitFor();
    await settled(page);
    await inspect(page, `inbox, ${colorScheme}`, seen, true);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light' });
  expect(seen).toEqual({ violations: [], tooWide: [], alive: [] });
  const focused = () => page.evaluate('document.activeElement.textContent');
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('j');
  expect(await focused()).toBe('Third');
  await page.keyboard.press('k');
  expect(await focused()).toBe('Second');
  // The focus takes the place of the entry that is decided.
  for (let i = 0; i < 10 && (await focused()) !== 'Mark as done'; i++) await page.keyboard.press('Tab');
  expect(await focused()).toBe('Mark as done');
  await page.keyboard.press('Enter');
  await page.getByText('Marked as done: Second').waitFor();
  await until('the focus', async () => (await focused()) === 'Third');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/tasks/${ids[0]}?tab=diff`);
  await page.getByRole('heading', { name: 'First' }).waitFor();
});

inBrowser('a hidden tab shows the count, running work and, if the person wants it, notifications', async () => {
  await page.addInitScript(`
    window.notified = [];
    window.Notification = class {
      static permission = 'default';
      static requestPermission = async () => (window.Notification.permission = 'granted');
      constructor(title, { body }) { window.notified.push(title + ': ' + body); }
    };`);
  await page.clock.install();
  await page.goto(world.service.url);
  await entries().first().waitFor();
  await page.getByRole('button', { name: 'Turn on notifications' }).click();
  await page.getByRole('button', { name: 'Turn off notifications' }).waitFor();
  const count = await entries().count();
  await addReview('While it is shown');
  await entries().nth(count).waitFor();
  await page.evaluate(`
    for (const [name, value] of [['hidden', true], ['visibilityState', 'hidden']])
      Object.defineProperty(document, name, { value });
    document.dispatchEvent(new Event('visibilitychange'));`);
  await addReview('While it is hidden');
  const [agent] = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
  await world.sql(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, lease_until, started_at)
     select 'run_busy', id, project_id, $1, 'start', 'running', now() + interval '1 hour', now() from tasks limit 1`,
    [agent?.id],
  );
  await page.clock.fastForward(40_000);
  await until('a notification', () => page.evaluate('window.notified.length > 0'));
  expect(await page.evaluate('window.notified')).toEqual(['Review: While it is hidden']);
  await until('the title', async () => (await page.title()) === `(${count + 2}) Inbox · Deckhand`);
  const icon = () => page.evaluate(`document.querySelector('link[rel=icon]').getAttribute('href')`);
  await until('the icon of running work', async () => (await icon()) === '/icon-working.svg');
  await world.sql(`delete from runs where id = 'run_busy'`, []);
});

inBrowser('every page of a project says what keeps GitHub from working, and since when', async () => {
  const reason = 'GitHub refuses access to mona (HTTP 403): an IP allow list is enabled.';
  await world.sql(
    `update installations set problem = 'refused', problem_reason = $2, problem_since = now() - interval '2 hours'
     where project_id = $1`,
    [world.project.id, reason],
  );
  const note = page.getByRole('status').filter({ hasText: reason });
  for (const path of [base, `${base}/settings`]) {
    await go(path);
    await note.getByText('2 hours ago').waitFor();
  }
});

inBrowser('a viewer sees everything of a project, and no button that would be refused', async () => {
  const { id } = await api<{ id: string }>('POST', '/projects', { name: 'Viewed' });
  const task = await api<{ id: string }>('POST', `/projects/${id}/tasks`, { title: 'Seen by viewers' });
  const days = { startDate: '2026-01-01', endDate: '2026-01-02' };
  const sprint = await api<{ id: string }>('POST', `/projects/${id}/sprints`, { name: 'Seen', ...days });
  // Links, tabs, filters, copies and folds change nothing.
  const offered = async (path: string, sign: string) => {
    await go(path);
    await page.getByText(sign).first().waitFor();
    await loaded(page);
    return page
      .locator('main')
      .getByRole('button', {
        name: /^(New|Add|Paste|Edit|Delete|Assign|Start|Send|Test|Import|Review a|Save|More actions)/,
      })
      .or(page.locator('main').getByRole('checkbox'))
      .or(page.locator('main').getByRole('textbox', { name: /message|achieve/ }))
      .count();
  };
  const pages: [string, string][] = [
    [`/projects/${id}`, 'Seen by viewers'],
    [`/projects/${id}/backlog`, 'Seen by viewers'],
    [`/projects/${id}/sprints`, 'Seen'],
    [`/sprints/${sprint.id}`, 'Seen'],
    [`/tasks/${task.id}`, 'Seen by viewers'],
    [`/tasks/${task.id}?tab=chat`, 'Seen by viewers'],
    [`/projects/${id}/plan`, 'Plan a goal'],
  ];
  for (const [path, sign] of pages) expect([path, await offered(path, sign)]).not.toEqual([path, 0]);
  await world.sql(`update members set role = 'viewer' where project_id = $1`, [id]);
  // No event tells the page of that.
  await page.reload();
  for (const [path, sign] of pages) expect([path, await offered(path, sign)]).toEqual([path, 0]);
  await go(`/projects/${id}`);
  await page.getByText('Seen by viewers').waitFor();
  await page.keyboard.press('n');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await go(`/projects/${id}/members`);
  await page.getByText('As a viewer, you can view this list and leave the project.').waitFor();
  await go('/settings/tokens');
  await page.getByLabel('Name').fill('for a script');
  await page.getByLabel('Scope').selectOption('read');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('listitem').filter({ hasText: 'for a script' }).getByText('Read', { exact: true }).waitFor();
});

inBrowser('a viewer is offered nothing that would be refused, and is told who may do it', async () => {
  await api('POST', `${base}/members`, { login: 'stranger', role: 'viewer' });
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Failed before' });
  await world.sql(
    `update tasks set failure = '{"category":"conflict","message":"src/a.ts still has conflict markers","retryable":true}'
     where id = $1`,
    [id],
  );
  const viewer = await openOther(world, 'stranger');
  await viewer.goto(world.service.url);
  await viewer.getByText('To create or approve something, ask an admin').waitFor();
  await loaded(viewer);
  expect(await viewer.getByRole('link', { name: 'create a task' }).count()).toBe(0);
  expect(await viewer.getByRole('region', { name: 'Get started' }).count()).toBe(0);
  for (const [path, text] of [
    ['', 'Members of the project can create, start and move tasks.'],
    ['/backlog', 'Members of the project can create tasks.'],
    ['/sprints', 'Members of the project can create sprints.'],
    ['/plan', 'Members of the project can plan a goal.'],
    ['/agents', 'Members of the project can create agents.'],
  ]) {
    await viewer.goto(`${world.service.url}${base}${path}`);
    await viewer.getByText(text ?? '', { exact: true }).waitFor();
  }
  const keysOn = async (path: string) => {
    await viewer.goto(world.service.url + path);
    await loaded(viewer);
    // No request is under way before the program has begun either.
    await viewer.getByRole('button', { name: 'Search and commands' }).waitFor();
    await viewer.keyboard.press('?');
    const keys = viewer.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await keys.getByText('Open the command palette').waitFor();
    return keys.getByRole('definition').allTextContents();
  };
  expect(await keysOn(base)).toEqual([
    'Open the command palette',
    'List the keyboard shortcuts',
    'Search tasks',
    'Move between cards',
    'Open the focused card',
  ]);
  expect(await keysOn(`${base}/agents`)).toEqual(['Open the command palette', 'List the keyboard shortcuts']);
  await viewer.goto(`${world.service.url}/tasks/${id}`);
  await viewer.getByText('Members of the project can retry it.').waitFor();
  expect(await viewer.getByText('Retry.').count()).toBe(0);
  const above = viewer.getByRole('banner').or(viewer.getByRole('main'));
  expect(await above.getByRole('button', { name: /responsible/i }).count()).toBe(0);

  // A role is given when it is chosen, not when the keyboard passes it.
  await go(`${base}/members`);
  await page.getByRole('button', { name: 'Role of stranger: Viewer' }).click();
  const choice = page.getByRole('menuitemradio');
  await choice.filter({ hasText: 'Viewer' }).and(page.locator('[aria-checked=true]')).waitFor();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Role of stranger: Viewer' }).click();
  await choice.filter({ hasText: 'Member' }).click();
  await page.getByText('stranger’s role is now Member').waitFor();
  await page.getByRole('button', { name: 'Role of stranger: Member' }).waitFor();
  // The next test takes away what this page shows. On a busy machine, a later one would hear of it.
  await viewer.context().close();
});

inBrowser('open pages notice that a person has another role, or is no member any more', async () => {
  const create = (name: string) => api<{ id: string }>('POST', '/projects', { name });
  const [project, kept] = [await create('Left'), await create('Kept')];
  await api('POST', `/projects/${kept.id}/members`, { login: 'stranger', role: 'viewer' });
  const members = `/projects/${project.id}/members`;
  const { userId } = await api<{ userId: string }>('POST', members, { login: 'stranger', role: 'viewer' });
  const other = await openOther(world, 'stranger');
  await other.goto(`${world.service.url}/projects/${project.id}?new=one`);
  await other.getByText('The tasks of the project appear here.').waitFor();
  await other.waitForURL((url) => url.search === '');
  await api('PATCH', `${members}/${userId}`, { role: 'member' });
  const newTask = other.locator('.page-head').getByRole('button', { name: 'New task' });
  await newTask.waitFor();
  expect(await other.getByRole('dialog').count()).toBe(0);
  // No event tells of this. What the service refuses does.
  await world.sql(`update members set role = 'viewer' where user_id = $1 and project_id = $2`, [userId, project.id]);
  await newTask.click();
  await other.getByRole('dialog').getByLabel('Title').fill('Refused');
  await other.getByRole('dialog').getByRole('button', { name: 'Create task', exact: true }).click();
  await newTask.waitFor({ state: 'detached' });
  await other.waitForURL((url) => url.search === '');
  await api('DELETE', `${members}/${userId}`);
  await other.getByRole('heading', { name: 'You are no longer a member of this project' }).waitFor();
  expect(await other.getByRole('navigation', { name: 'Project' }).count()).toBe(0);
  await other.getByRole('button', { name: 'Signed in as stranger' }).waitFor();
  await other.reload();
  await other.getByRole('heading', { name: 'You are not a member of this project' }).waitFor();
  await other.getByRole('link', { name: 'Your projects' }).click();
  await other.waitForURL('**/projects');
  // Somebody whom the service does not admit any more can still sign out.
  await world.sql('delete from members where user_id = $1', [userId]);
  await other.reload();
  await other.getByText('This service is for members of its projects').first().waitFor();
  await other.getByRole('button', { name: 'Sign out' }).click();
  await other.waitForURL('**/login');
  await other.context().close();
  // Chromium logs refused requests to the console, which a page cannot prevent.
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('status of 403')));
});

inBrowser('on a phone, what can be done with a row stays in its line, in one menu if it is much', async () => {
  await api('POST', '/me/tokens', { name: 'nightly script', expiresInDays: 90, scopes: 'read' });
  await page.setViewportSize({ width: 320, height: 800 });
  const middle = async (each: Locator) => {
    const box = await each.boundingBox();
    return (box?.y ?? 0) + (box?.height ?? 0) / 2;
  };
  const rows: [string, string, string][] = [
    [`${base}/members`, 'mona', 'Leave the project'],
    ['/settings/tokens', 'nightly script', 'Revoke nightly script'],
    [`${base}/repositories`, 'sample', 'Actions for sample'],
  ];
  for (const [path, text, name] of rows) {
    await go(path);
    const row = page.getByRole('listitem').filter({ hasText: text });
    const button = row.getByRole('button', { name, exact: true });
    await button.waitFor();
    const apart = Math.abs((await middle(button)) - (await middle(row.getByText(text, { exact: true }))));
    expect([path, apart < 12]).toEqual([path, true]);
  }
  const menu = page.getByRole('button', { name: 'Actions for sample' });
  expect(await page.getByRole('button', { name: 'Import issues of sample' }).count()).toBe(0);
  await menu.press('Enter');
  await page.getByRole('menuitem', { name: 'Import issues' }).press('Enter');
  await page
    .getByRole('dialog', { name: /^Import/ })
    .locator(':focus')
    .waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await menu.press('Enter');
  await page.getByRole('menuitem', { name: 'Proofs' }).press('Enter');
  await page.waitForURL('**/proofs');
  await page.setViewportSize({ width: 1280, height: 800 });
});
