import type { Page } from 'playwright-core';
import { chromiumPath } from '../../demo/browser.ts';
import type { Said } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { inBrowser, openOwner, visit, watchBrowser } from '../support/browser.ts';

import { openWorld, type World } from '../support/world.ts';

let world: World;
let page: Page;
let base: string;
/** The model answers once this is fulfilled. */
let mayAnswer = Promise.resolve();
const suggestion = { area: 'prompt', suggestion: 'Ask before you guess.', groups: ['g1'] };
const worded: Said = [{ name: 'write_suggestions', arguments: { suggestions: [suggestion] } }];

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  world = await openWorld(() => worded, { before: () => mayAnswer, settings: { SANDBOX: 'off' } });
  base = `/projects/${world.project.id}`;
  page = await openOwner(world);
});
watchBrowser(() => world?.close());

const button = (name: string) => page.getByRole('button', { name, exact: true });
const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);

inBrowser('an agent can be edited by its creator', async () => {
  const made = await api<{ id: string }>('POST', '/agents', { name: 'Writer', systemPrompt: 'Write.' });
  await visit(page, `${world.service.url}${base}`);
  const choice = (name: string) =>
    page.getByLabel('Filter by agent').getByRole('option', { name, exact: true, includeHidden: true });
  await choice('Writer').waitFor({ state: 'attached' });
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.getByRole('link', { name: 'Writer', exact: true }).click();
  await button('Edit').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Author');
  await dialog.getByLabel('Team').fill('Docs');
  await dialog.getByLabel('System prompt').fill('Write short sentences.');
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Docs').waitFor();
  await page.getByText('Write short sentences.').waitFor();
  expect(await world.get(`/agents/${made.id}`)).toMatchObject({
    name: 'Author',
    team: 'Docs',
    systemPrompt: 'Write short sentences.',
    version: 1,
  });
  // The board keeps the names of agents.
  await page.getByRole('link', { name: 'Board', exact: true }).click();
  await choice('Author').waitFor({ state: 'attached' });
});

inBrowser('an agent that was created elsewhere appears with its figures', async () => {
  await visit(page, `${world.service.url}${base}/agents`);
  await page.getByRole('link', { name: 'Reviewer', exact: true }).waitFor();
  await api('POST', '/agents', { name: 'Newcomer' });
  // The palette fetches the agents, but not their health.
  await page.keyboard.press('Control+k');
  const row = page.getByRole('row').filter({ hasText: 'Newcomer' });
  await until('its tasks', async () => (await row.locator('td.number').allTextContents())[0] === '0');
  await page.keyboard.press('Escape');
});

inBrowser('a name that another agent has is pointed out, also when an agent is renamed', async () => {
  const { id } = await api<{ id: string }>('POST', '/agents', { name: 'Copied' });
  await api('POST', '/agents', { name: 'Original' });
  const dialog = page.getByRole('dialog');
  const warning = dialog.getByText('Another agent has this name.');
  const type = (name: string) => dialog.getByLabel('Name').fill(name);
  await visit(page, `${world.service.url}${base}/agents?new=one`);
  await type('Origin');
  expect(await warning.count()).toBe(0);
  await type(' ORIGINAL ');
  await warning.waitFor();
  await dialog.getByRole('button', { name: 'Create agent' }).click();
  await dialog.getByLabel('Name').and(page.locator('[aria-invalid=true]:focus')).waitFor();
  expect(await warning.count()).toBe(1);
  await type('Origin');
  await warning.waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await visit(page, `${world.service.url}${base}/agents/${id}`);
  await button('Edit').click();
  // The own name is no other agent's.
  await type('copied');
  expect(await warning.count()).toBe(0);
  await type('original');
  await warning.waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
});

inBrowser('a new version is shown before it is created, and compared with the one before it', async () => {
  const made = await api<{ id: string }>('POST', '/agents', { name: 'Tester', systemPrompt: 'Test.' });
  await visit(page, `${world.service.url}${base}/agents/${made.id}`);
  await button('New version').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('System prompt').fill('Test first.');
  await dialog.getByRole('button', { name: 'Preview changes' }).click();
  const diff = dialog.getByRole('region', { name: 'Changes of the system prompt' });
  expect(await diff.locator('.diff-removed').textContent()).toBe('Removed: -Test.');
  expect(await diff.locator('.diff-added').textContent()).toBe('Added: +Test first.');
  expect(await world.get(`/agents/${made.id}`)).toMatchObject({ systemPrompt: 'Test.', isNewest: true });
  await dialog.getByLabel('Rollout (%)').fill('101');
  await dialog.getByText('Enter a whole number from 0 to 100.').waitFor();
  await dialog.getByLabel('Rollout (%)').fill('30');
  await dialog.getByRole('button', { name: 'Create version' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Too few tasks to compare').waitFor();
  await page.getByLabel('Rollout (%)').fill('60');
  await button('Save rollout').click();
  await page.getByText('Rollout saved').waitFor();
  const agents = await world.get<{ id: string; name: string }[]>('/agents');
  const id = agents.find(({ name }) => name === 'Tester')?.id;
  expect(await world.get(`/agents/${id}`)).toMatchObject({ version: 2, systemPrompt: 'Test first.', rollout: 60 });
});

inBrowser('suggestions are replaced by the words of a model once it has answered', async () => {
  const agent = await api<{ id: string }>('POST', '/agents', { name: 'Learner' });
  const task = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Unclear' });
  await world.sql(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, failure, finished_at)
     values ('run_learner', $1, $2, $3, 'start', 'failed', $4, now())`,
    [task.id, world.project.id, agent.id, { category: 'gave_up', message: 'It is unclear', retryable: true }],
  );
  let answerNow = () => {};
  mayAnswer = new Promise((resolve) => {
    answerNow = resolve;
  });
  await visit(page, `${world.service.url}${base}/agents/${agent.id}`);
  await page.getByText('A model is rewriting these suggestions.').waitFor();
  await page.getByText('Give more context').waitFor();
  answerNow();
  await page.getByText('Ask before you guess.').waitFor();
  expect(await page.getByText('A model is rewriting').count()).toBe(0);
});

const focused = () => page.evaluate(`document.activeElement.textContent`);

inBrowser('an agent is chosen from a menu, and the focus moves to the heading when the button disappears', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Greet people' });
  await visit(page, `${world.service.url}/tasks/${id}`);
  await button('Assign agent').press('Enter');
  await page.getByRole('menuitem', { name: 'Reviewer', exact: true }).press('Enter');
  await button('Start').waitFor();
  await until('the focus at the heading', async () => (await focused()) === 'Greet people');
});

inBrowser('a dialog stays open when the task changes meanwhile, and says who changed it', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Review me' });
  await world.sql(
    `update tasks t set status = 'in_review', owner = a.id from agents a where t.id = $1 and a.name = 'Reviewer'`,
    [id],
  );
  await visit(page, `${world.service.url}/tasks/${id}`);
  await button('Request changes').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What should change?').fill('Be friendlier.');
  await api('PATCH', `/tasks/${id}`, { status: 'done' });
  await dialog.getByText('You moved the task to Done while this was open. Your text was not sent.').waitFor();
  expect(await dialog.getByLabel('What should change?').inputValue()).toBe('Be friendlier.');
  expect(await dialog.getByRole('button', { name: 'Request changes' }).isDisabled()).toBe(true);
});
