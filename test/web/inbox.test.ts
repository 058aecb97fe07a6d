import type { Page } from 'playwright-core';
import { chromiumPath } from '../../src/demo/browser.ts';
import { inBrowser, openOwner, watchBrowser } from '../support/browser.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let page: Page;
let base: string;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  world = await openWorld([]);
  base = `/projects/${world.project.id}`;
  page = await openOwner(world);
});
watchBrowser(() => world?.close());

const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);

inBrowser("a task's budget is set within the limits of the project and shown on its page", async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Thrifty' });
  await api('PATCH', base, { budgets: { runSteps: 50 } });
  await page.goto(`${world.service.url}/tasks/${id}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Steps per run').fill('51');
  await dialog.getByText('Enter at most 50.').waitFor();
  await dialog.getByLabel('Steps per run').fill('20');
  await dialog.getByLabel('Cost per run (USD)').fill('1.5');
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Budget: $1.5, 20 steps per run').waitFor();
  expect(await world.get(`/tasks/${id}`)).toMatchObject({ budget: { costUsd: 1.5, steps: 20 } });
  await api('PATCH', base, { budgets: { runSteps: null } });
});

inBrowser('the inbox and its number on every page show what needs a person, without a reload', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Needs eyes' });
  await page.goto(`${world.service.url}${base}`);
  await page.getByRole('link', { name: 'Inbox', exact: true }).waitFor();
  await world.sql(`update tasks set status = 'in_review', status_since = now() where id = $1`, [id]);
  await page.getByRole('link', { name: /^Inbox\s*\(1\)$/ }).click();
  await page.getByRole('heading', { name: 'Inbox', exact: true }).waitFor();
  const entries = page.getByRole('list', { name: 'Tasks that need a person' }).getByRole('listitem');
  const entry = entries.filter({ hasText: 'Needs eyes' });
  expect(await entry.textContent()).toMatch(/^Review.*just now$/);
  await world.sql(`update tasks set status = 'in_progress' where id = $1`, [id]);
  await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor();
  await world.sql(
    `insert into runs (id, task_id, project_id, kind, status) values ('run_asks', $1, $2, 'start', 'running')`,
    [id, world.project.id],
  );
  await world.sql(
    `update runs set status = 'waiting', wait_id = 'wait_1', wait_reason = 'question', wait_text = 'Which colour?',
       wait_options = '[]', waiting_since = now() where id = 'run_asks'`,
    [],
  );
  await entry.getByText('Which colour?').waitFor();
  await entry.getByRole('link', { name: 'Needs eyes' }).click();
  await page.getByText('Waiting for an answer').waitFor();
  await world.sql(`delete from tasks where id = $1`, [id]);
});
