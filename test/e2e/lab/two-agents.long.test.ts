import type { Page } from 'playwright-core';
import { chromiumPath } from '../../../demo/browser.ts';
import { inBrowser, openOwner, visit, watchBrowser } from '../../support/browser.ts';
import { attempt, itemOf, openTrialWorld, promptOf } from './trial-world.ts';

let world: Awaited<ReturnType<typeof openTrialWorld>>;
let page: Page;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  world = await openTrialWorld(
    (request, turn) => attempt(request, turn, promptOf(request).includes('SKILLED') || itemOf(request) === 1),
    { items: 2 },
  );
  for (const [name, systemPrompt] of [
    ['Ada', 'You are SKILLED.'],
    ['Bob', 'You try.'],
  ])
    await world.service.api(world.token, 'POST', '/agents', {
      ...{ name, systemPrompt, model: 'scripted' },
    });
  page = await openOwner(world);
});
watchBrowser(() => world?.close());

let clicks = 0;
const click = (role: 'button' | 'link' | 'checkbox', name: string) => {
  clicks++;
  const dialog = page.getByRole('dialog');
  const where = role === 'button' && name === 'Start trial' ? dialog : page;
  return where.getByRole(role, { name, exact: true }).click();
};

inBrowser('which of two agents to use, and at what price, is found in ten clicks', async () => {
  const switchItems = (enabled: boolean) =>
    world.sql('update benchmark_items set enabled = $2 where repository_id = $1', [world.repositoryId, enabled]);
  await switchItems(false);
  await visit(page, `${world.service.url}/projects`);
  const { name } = await world.get<{ name: string }>(`/projects/${world.project.id}`);
  await click('link', name);
  await click('link', 'Agents');
  await click('checkbox', 'Compare Ada');
  await click('checkbox', 'Compare Bob');
  await click('button', 'Start a trial of both');
  // The pair is kept on the way to the page where the benchmark is made.
  await click('link', 'the page Benchmark');
  await page.getByRole('button', { name: 'Harvest the history' }).waitFor();
  // The benchmark is there from the start, so the harvest counts as a click and its items are switched on.
  clicks++;
  await switchItems(true);
  await page.reload();
  await click('button', 'Try both agents');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('2 items cannot show which agent is better.').waitFor();
  expect(await dialog.getByLabel('Agent', { exact: true }).locator('option:checked').textContent()).toBe('Ada');
  expect(await dialog.getByLabel('Compare with').locator('option:checked').textContent()).toBe('Bob');
  await click('button', 'Start trial');
  const solved = page.getByRole('region', { name: 'What was solved' });
  await solved.getByText('2 of 2').waitFor({ timeout: 300_000 });
  await page.getByText('Nobody knows which is better: 2 items cannot show it.').waitFor({ timeout: 60_000 });
  const rows = await solved.getByRole('row').allTextContents();
  expect(rows.slice(1)).toEqual([
    expect.stringMatching(/^Ada \(version 1\)with scripted2 of 2.*\$\d+\.\d\d, \d+\.\d min/),
    expect.stringMatching(/^Bob \(version 1\)with scripted1 of 2/),
  ]);
  await click('link', 'Compare all agents');
  await page.getByText('Nobody knows yet whether it is the right choice').waitFor();
  expect(clicks).toBeLessThanOrEqual(10);
});
