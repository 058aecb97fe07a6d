import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { chromiumPath } from '../../demo/browser.ts';
import type { ModelRequest } from '../../demo/model/model.ts';
import { complaints, inBrowser, openOwner, visit, watchBrowser } from '../support/browser.ts';
import { startMcpServer } from '../support/stand-ins/mcp-server.ts';
import { planner } from '../support/stand-ins/planner.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let page: Page;
let base: string;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  const model = (request: ModelRequest) => (request.tool_choice === undefined ? 'Done.' : planner(request));
  // The MCP server of a test is on this machine.
  const settings = { ALLOW_PRIVATE_HOSTS: 'true' };
  world = await openWorld(model, { seed: { hasDependency: true, hasTemplate: true }, settings });
  base = `/projects/${world.project.id}`;
  page = await openOwner(world);
});
watchBrowser(() => world?.close());

const button = (name: string) => page.getByRole('button', { name, exact: true });
const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);

inBrowser('editing a sprint does not overwrite changes by others', async () => {
  const startDate = new Date().toISOString().slice(0, 10);
  const given = { name: 'First', goal: 'Begin', startDate, endDate: startDate };
  const { id } = await api<{ id: string }>('POST', `${base}/sprints`, given);
  await visit(page, `${world.service.url}/sprints/${id}`);
  await button('Edit').click();
  await api('PATCH', `/sprints/${id}`, { name: 'Renamed by others' });
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Goal').fill('Finish');
  const later = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  await dialog.getByLabel('Last day').fill(later);
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Renamed by others' }).waitFor();
  await page.getByText('Finish').waitFor();
  const saved = await world.get<{ name: string; goal: string; endDate: string }>(`/sprints/${id}`);
  expect(saved).toMatchObject({ name: 'Renamed by others', goal: 'Finish' });
  expect(saved.endDate.slice(0, 10)).toBe(later);
  // A last day before the first day is refused at its field, and the entered values are kept.
  await button('Edit').click();
  await dialog.getByLabel('Last day').fill('2020-01-01');
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await dialog.getByText(/^Choose .+ or later\.$/).waitFor();
  await dialog.getByLabel('Last day').and(page.locator(':focus')).waitFor();
  expect(await dialog.getByLabel('Goal').inputValue()).toBe('Finish');
  complaints.length = 0;
});

inBrowser(
  'a new task takes a template of its repository and a priority, which the board shows and sorts by',
  async () => {
    for (const title of ['Ordinary', 'Later']) await api('POST', `${base}/tasks`, { title });
    await visit(page, `${world.service.url}${base}?new=one`);
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await dialog.getByLabel('Description').fill('Umlauts vanish.');
    await dialog.getByLabel('Template').selectOption({ label: 'Bug report: Something does not work as it should' });
    expect(await dialog.getByLabel('Description').inputValue()).toBe(
      'Umlauts vanish.\n\n### What happens\n\n### What should happen\n\n### How to check it',
    );
    await dialog.getByLabel('Title').fill('Keep umlauts');
    await dialog.getByLabel('Priority').selectOption('High');
    await dialog.getByRole('button', { name: 'Create task' }).click();
    await dialog.waitFor({ state: 'detached' });
    const card = page.locator('.card', { hasText: 'Keep umlauts' });
    await card.getByText('High', { exact: true }).waitFor();
    await page.getByLabel('Select Later').check();
    await button('Set priority').click();
    await page.getByRole('menuitem', { name: 'Urgent' }).click();
    await page.locator('.card', { hasText: 'Later' }).getByText('Urgent', { exact: true }).waitFor();
    await page.getByLabel('Sort by').selectOption('Most urgent first');
    const titles = page.locator('.column[data-status="backlog"] .card-title');
    await titles.first().getByText('Later', { exact: true }).waitFor();
    expect(await titles.allTextContents()).toEqual(['Later', 'Keep umlauts', 'Ordinary']);
    await page.getByLabel('Filter by priority').selectOption('High');
    await page.locator('.card', { hasText: 'Later' }).waitFor({ state: 'detached' });
    await titles.getByText('Keep umlauts').click();
    await page.getByRole('heading', { name: 'Keep umlauts' }).waitFor();
    await button('Edit').click();
    await page.getByRole('dialog').getByLabel('Priority').selectOption('Normal');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByTitle('Priority: high').waitFor({ state: 'detached' });
  },
);

inBrowser('a created token works for the API and is shown once', async () => {
  await visit(page, `${world.service.url}/settings/tokens`);
  await page.getByLabel('Name').fill('my script');
  await button('Create token').click();
  const token = (await page.getByTestId('token').textContent())?.trim() ?? '';
  const me = await fetch(`${world.service.url}/api/v1/me`, { headers: { Authorization: `Bearer ${token}` } });
  expect(await me.json()).toMatchObject({ login: 'mona' });
  await page.reload();
  await page.getByText('my script').waitFor();
  expect(await page.content()).not.toContain(token);
});

inBrowser('a failed run shows a remedy that helps, with a link to where it can be applied', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Too large' });
  const fail = (setBy: string) => {
    const failure = { category: 'budget', message: `the budget of 50 steps is used up (${setBy})`, retryable: false };
    return world.sql('update tasks set failure = $2 where id = $1', [id, JSON.stringify(failure)]);
  };
  const notice = page.getByRole('region', { name: 'Last failure' });
  // The project settings cannot raise a limit of the service.
  await fail('limit of the service');
  await visit(page, `${world.service.url}/tasks/${id}`);
  await notice.getByText('Ask the operator to raise the limits of the service').waitFor();
  expect(await notice.getByRole('link').count()).toBe(0);
  await fail('limit of the project');
  await api('PATCH', base, { budgets: { runSteps: 50 } });
  await page.reload();
  await notice.getByText('Ask an admin of the project to raise its budget in the project settings').waitFor();
  await notice.getByRole('link', { name: 'Open project settings' }).click();
  await page.getByLabel('Steps per run').fill('20000');
  await page.getByText(/This service allows at most \d/).waitFor();
  await button('Save changes').click();
  expect(await world.get(base)).toMatchObject({ budgets: { runSteps: 50 } });
  await page.getByLabel('Steps per run').fill('');
  await button('Save changes').click();
  await page.getByText('Settings saved').waitFor();
  expect(await world.get(base)).toMatchObject({ budgets: { runSteps: null } });
});

async function connectTracker(section: Locator, url: string): Promise<void> {
  await section.getByLabel('Name').fill('tracker');
  await section.getByLabel('URL').fill(url);
  await section.getByLabel('Header', { exact: true }).fill('Authorization');
  await section.getByLabel('Header value').fill('Bearer value-of-the-header');
  await section.getByRole('button', { name: 'Connect', exact: true }).click();
}

inBrowser('MCP servers are added, replaced and removed; values of headers are never shown', async () => {
  await visit(page, `${world.service.url}${base}/settings`);
  const section = page.getByRole('region', { name: 'MCP servers' });
  const connect = () => connectTracker(section, tracker.url);
  const add = () => section.getByRole('button', { name: 'Add server', exact: true }).click();
  const tracker = await startMcpServer();
  // What is wrong with an address is said at its field.
  await section.getByLabel('Name').fill('tracker');
  await section.getByLabel('URL').fill('ftp://example.com/mcp');
  await section.getByRole('button', { name: 'Connect', exact: true }).click();
  await section.getByText(/^URL must /).waitFor();
  await section.getByLabel('URL').and(page.locator('[aria-invalid=true]:focus')).waitFor();
  // The refusal is also in Chromium's log.
  complaints.length = 0;
  await connect();
  await section.getByText('Connected. The server has 3 tools.').waitFor();
  await add();
  await section.getByText('Headers: Authorization · Tools: all').waitFor();
  await section.getByLabel('Name').fill('tracker');
  await section.getByText('There is a server with this name. Edit that one.').waitFor();
  // It is tried again and edited with the header that is stored.
  await section.getByRole('button', { name: 'Test connection of tracker' }).click();
  await section.getByRole('listitem').getByText('Connected. The server has 3 tools.').waitFor();
  // A new server that is half typed is still there after another one was edited.
  await section.getByLabel('Name').fill('half');
  await section.getByRole('button', { name: 'Edit tracker' }).click();
  expect(await section.getByRole('listitem').getByLabel('URL').inputValue()).toBe(tracker.url);
  await section.getByLabel('Name').and(page.locator(':focus')).waitFor();
  await section.getByRole('button', { name: 'Test connection', exact: true }).click();
  for (const tool of ['fail', 'echo_headers']) await section.getByLabel(tool).uncheck();
  await section.getByRole('button', { name: 'Save server' }).click();
  await section.getByText('Headers: Authorization · Tools: search', { exact: true }).waitFor();
  expect(await section.getByLabel('Name').inputValue()).toBe('half');
  expect(await section.getByRole('listitem').count()).toBe(1);
  expect(await page.content()).not.toContain('value-of-the-header');
  await section.getByRole('button', { name: 'Remove tracker' }).click();
  await button('Remove server').click();
  await section.getByRole('listitem').waitFor({ state: 'detached' });
  expect(await world.get(`${base}/mcp-servers`)).toEqual([]);

  // With a second repository, an admin says whose server it is.
  const other = randomUUID();
  await world.sql(
    `insert into repositories (id, project_id, name, url) values ($1, $2, 'vault', 'https://example.com/vault')`,
    [other, world.project.id],
  );
  await page.reload();
  await connect();
  await section.getByLabel('sample').waitFor();
  await add();
  await section.getByRole('listitem').getByText('No repository can use it').waitFor();
  tracker.close();
  await section.getByRole('button', { name: 'Edit tracker' }).click();
  await section.getByRole('button', { name: 'Test connection', exact: true }).click();
  await section.getByText('The server could not be reached').waitFor();
  await section.getByLabel('vault').check();
  await section.getByRole('button', { name: 'Save server anyway' }).click();
  await section.getByRole('listitem').getByText('vault').waitFor();
  await section.getByRole('listitem').getByText('Saved, but not reached yet.').waitFor();
  expect(await world.get(`${base}/mcp-servers`)).toMatchObject([{ repositories: [other] }]);
  await page.reload();
  await section.getByRole('listitem').getByText('Not tested since the page was loaded').waitFor();
  await section.getByRole('button', { name: 'Remove tracker' }).click();
  await button('Remove server').click();
  await section.getByRole('listitem').waitFor({ state: 'detached' });
  await world.sql('delete from repositories where id = $1', [other]);
});

inBrowser('an MCP server that somebody removes while it is edited comes back only if that is wanted', async () => {
  const tracker = await startMcpServer();
  const set = (servers: object[]) => world.service.api(world.token, 'PUT', `${base}/mcp-servers`, servers);
  await set([{ name: 'tracker', url: tracker.url, headers: [] }]);
  await visit(page, `${world.service.url}${base}/settings`);
  const section = page.getByRole('region', { name: 'MCP servers' });
  await section.getByRole('button', { name: 'Edit tracker' }).click();
  await section.getByRole('button', { name: 'Test connection', exact: true }).click();
  await section.getByText('Connected. The server has 3 tools.').waitFor();
  tracker.close();
  await set([]);
  await section.getByRole('button', { name: 'Save server' }).click();
  await page.getByText('Nothing was saved. Somebody has removed tracker in the meantime.').waitFor();
  expect(await world.get(`${base}/mcp-servers`)).toEqual([]);
  // Now the person knows. What they typed is still there.
  await section.getByText('If agents still need it, saving it here adds it again.').waitFor();
  expect(await section.getByRole('listitem').getByLabel('URL').inputValue()).toBe(tracker.url);
  await section.getByRole('button', { name: 'Save server' }).click();
  await section.getByRole('listitem').getByText('Tools: all').waitFor();
  expect(await world.get(`${base}/mcp-servers`)).toMatchObject([{ name: 'tracker', url: tracker.url }]);
  await set([]);
});

inBrowser('environment secrets are added, assigned, replaced and deleted; their values are never shown', async () => {
  // No notice of an earlier test is left after a load.
  await page.goto(`${world.service.url}${base}/settings`);
  const section = page.getByRole('region', { name: 'Environment secrets' });
  const save = async (value: string) => {
    await section.getByLabel('Secret name').fill('NPM_TOKEN');
    await section.getByLabel('Secret value').fill(value);
    await section.getByRole('button', { name: 'Save secret' }).click();
  };
  const versions = () => world.sql<{ version: string }>('select version from environment_secrets', []);
  await save('the-first-value');
  await section.getByRole('listitem').getByText('NPM_TOKEN').waitFor();
  const before = await versions();
  await page.getByText('NPM_TOKEN saved').waitFor();
  await button('Dismiss').click();
  await save('the-second-value');
  await page.getByText('NPM_TOKEN saved').waitFor();
  expect(await section.getByLabel('Secret value').inputValue()).toBe('');
  expect(await section.getByRole('listitem').count()).toBe(1);
  expect(await versions()).not.toEqual(before);
  expect(await page.content()).not.toMatch(/the-(first|second)-value/);
  // The only repository of the project is chosen unless the person says otherwise.
  const item = section.getByRole('listitem');
  expect(await item.textContent()).toMatch(/^NPM_TOKENsampleadded /);
  await section.getByRole('button', { name: 'Replace NPM_TOKEN' }).click();
  await section.getByLabel('Secret value').fill('the-third-value');
  await section.getByLabel('sample').uncheck();
  await section.getByLabel('Registries').fill('registry.example.org');
  await section.getByRole('button', { name: 'Save secret' }).click();
  await item.getByText('No repository can use it').waitFor();
  expect(await item.textContent()).toContain('Registries: registry.example.org');
  await page.getByRole('link', { name: 'Inbox' }).first().click();
  await page.getByText('belong to no repository, so set-up cannot use them').waitFor();
  await page.getByRole('link', { name: /^the settings of / }).click();
  const remove = section.getByRole('button', { name: 'Delete NPM_TOKEN' });
  await remove.click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  expect(await world.get(`${base}/environment-secrets`)).toHaveLength(1);
  await remove.click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete secret' }).click();
  await section.getByRole('listitem').waitFor({ state: 'detached' });
  expect(await world.get(`${base}/environment-secrets`)).toEqual([]);
});

inBrowser('the environment is tried with live output, and its result becomes a draft of .deckhand.yml', async () => {
  await visit(page, `${world.service.url}${base}/repositories`);
  await page.getByRole('link', { name: 'Environment of sample' }).click();
  await page.getByText('No trial yet').waitFor();
  // Chromium logs the 404, which is the answer before the first trial.
  complaints.length = 0;
  await button('Try the environment').click();
  await page.getByText('Elapsed').waitFor();
  await page.getByText('Set-up succeeded. The repository has no checks in .deckhand.yml.').waitFor();
  const command = page.getByRole('list', { name: 'Commands' }).getByRole('listitem').first();
  expect(await command.textContent()).toMatch(/^Set-upnpm ciExit code 0[\d.]+ s/);
  const draft = page.getByRole('region', { name: 'Draft', exact: true });
  // npm also asks for its registry, which is refused where the worker does not know it.
  expect(await draft.textContent()).toMatch(/^setup:\n {2}- npm ci\n/);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await button('Copy draft').click();
  await page.getByText('Draft copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await draft.textContent());

  // Somebody else starts a trial, whose worker reports.
  const first = { command: 'npm ci', exitCode: null as number | null, seconds: 1, output: 'fetching' };
  const report = (change: string, values: unknown[]) =>
    world.sql(`update environment_trials set ${change} where id = 'trial_other'`, values);
  await world.sql(
    `insert into environment_trials (id, repository_id, status, commands)
       select 'trial_other', id, 'running', $1 from repositories`,
    [JSON.stringify([first])],
  );
  await button('Try the environment').click();
  await page.getByText('Somebody else has already started a trial of this repository.').waitFor();
  complaints.length = 0;
  const output = page.getByRole('region', { name: 'Output of command 1' });
  await output.getByText('fetching').waitFor();
  await report('commands = $1', [JSON.stringify([{ ...first, output: 'fetching\nlinking' }])]);
  await output.getByText('linking').waitFor();
  expect(await draft.count()).toBe(0);
  const failed = [
    { ...first, exitCode: 0 },
    { command: 'npm test', exitCode: 4, seconds: 2.5, output: 'not ok', isCheck: true },
  ];
  const found = { checkout: [], services: [], unchecked: ['docs'], draft: 'checks:\n  - "true"\n' };
  // `checkout` is the column of all that a trial found.
  await report("status = 'failed', finished_at = now(), commands = $1, refused_hosts = $2, checkout = $3", [
    JSON.stringify(failed),
    JSON.stringify([{ host: 'example.org', times: 3 }]),
    JSON.stringify(found),
  ]);
  await page.getByText('“npm test” ended with exit code 4.').waitFor();
  await page.getByRole('region', { name: 'Output of command 2' }).getByText('not ok').waitFor();
  await page.getByRole('list', { name: 'Refused hosts' }).getByText('3 times').waitFor();
  await page.getByText('No usual check was found in these folders: docs.').waitFor();
  expect(await draft.textContent()).toBe(found.draft);
});

inBrowser('when two people edit one plan, the second chooses the version, and both see the last change', async () => {
  type State = { sessionId: string; currentStep: { id: string } | null; updatedAt: string };
  let state = await api<State>('POST', `${base}/wizard/initialize`, { goal: 'Greet people politely' });
  const at = `${base}/wizard/${state.sessionId}`;
  while (state.currentStep !== null)
    state = await api('POST', `${at}/answer`, { answer: { stepId: state.currentStep.id, customText: 'As usual.' } });
  await visit(page, `${world.service.url}${base}/plan`);
  await page.getByRole('link', { name: 'Greet people politely' }).click();
  await button('Write requirements by hand').click();
  await page.getByLabel('Requirements in Markdown').fill('One line that I wrote.');
  await api('PATCH', at, { prd: { title: 'Theirs', markdown: 'Their line.' }, updatedAt: state.updatedAt });
  await button('Save').click();
  await page.getByText('Somebody else changed this while you were editing.').waitFor();
  expect(await page.getByLabel('Requirements in Markdown').inputValue()).toBe('One line that I wrote.');
  await button('Save my version').click();
  await page.getByText('One line that I wrote.').waitFor();
  await button('Show changes of the requirements').click();
  const changes = page.getByRole('region', { name: 'Last change' });
  expect((await changes.locator('del').allTextContents()).join()).toContain('Their line.');
  expect((await changes.locator('ins').allTextContents()).join()).toContain('One line that I wrote.');
  await visit(page, `${world.service.url}${base}/plan`);
  await button('Delete plan Greet people politely').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete plan' }).click();
  await page.getByRole('link', { name: 'Greet people politely' }).waitFor({ state: 'detached' });
  complaints.length = 0;
});

inBrowser(
  'removing a task from a sprint keeps the focus in the list, and the only owner cannot choose to leave',
  async () => {
    const day = new Date().toISOString().slice(0, 10);
    const given = { name: 'Rows', startDate: day, endDate: day };
    const { id } = await api<{ id: string }>('POST', `${base}/sprints`, given);
    for (const title of ['Row one', 'Row two']) {
      const task = await api<{ id: string }>('POST', `${base}/tasks`, { title });
      await api('POST', `/sprints/${id}/tasks`, { taskId: task.id });
    }
    await visit(page, `${world.service.url}/sprints/${id}`);
    await page.getByRole('listitem').filter({ hasText: 'Row one' }).getByText('No agent').waitFor();
    await button('Remove Row one from the sprint').press('Enter');
    await button('Remove Row two from the sprint').and(page.locator(':focus')).waitFor();
    await page.getByText('Removed from the sprint: Row one').waitFor();
    await visit(page, `${world.service.url}${base}/members`);
    await button('Leave the project').click();
    await page.getByText('You are the only owner of the project.').waitFor();
    expect(await page.getByRole('alertdialog').count()).toBe(0);
    // The field of a refused name has the focus, and refers to the reason.
    await page.getByLabel('GitHub username').fill('not a login');
    await button('Add member').click();
    await page.getByText(/^GitHub username must .* at most 39 characters$/).waitFor();
    await page.getByLabel('GitHub username').and(page.locator('[aria-invalid=true]:focus')).waitFor();
    await page.locator('input[aria-describedby]:focus').waitFor();
    complaints.length = 0;
  },
);
