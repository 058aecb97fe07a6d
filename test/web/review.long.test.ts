import type { Locator, Page } from 'playwright-core';
import { chromiumPath, settled } from '../../demo/browser.ts';
import type { Said } from '../../demo/model/model.ts';
import { complaints, inBrowser, openOwner, visit, watchBrowser } from '../support/browser.ts';
import { write } from '../support/face.ts';
import { isThorough } from '../support/thorough.ts';
import { openWorld, type World, type WorldTask } from '../support/world.ts';
import { inspect, type Seen } from './inspect.ts';

let world: World;
let page: Page;
let task: WorldTask;
const script: Said[] = [];
/** Sets what the agent of the next run writes. */
const plays = (files: Record<string, string>) => {
  const calls = Object.entries(files).map(([path, content]) => write(path, content));
  script.splice(0, script.length, calls, [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]);
};

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  world = await openWorld(script, { settings: { SANDBOX: 'off' } });
  plays({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'bee\n', 'c.txt': 'sea\n' });
  const [agent] = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
  const fields = { title: 'Write three files', owner: agent?.id };
  const { id } = await api<{ id: string }>('POST', `/projects/${world.project.id}/tasks`, fields);
  await api('POST', `/tasks/${id}/start`);
  task = await world.taskIn('in_review');
  page = await openOwner(world);
});
watchBrowser(() => world?.close());

const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
const go = async (query = '') => {
  await visit(page, `${world.service.url}/tasks/${task.id}${query}`);
  await settled(page);
};
const file = (path: string) => page.getByRole('region', { name: path, exact: true });
const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });
const bar = () => page.getByRole('region', { name: 'Review', exact: true });

async function pullRequest(): Promise<{ headSha: string; number: number }> {
  const text = 'select head_sha as "headSha", number from pull_requests where task_id = $1';
  return (await world.sql<{ headSha: string; number: number }>(text, [task.id]))[0] as never;
}

/** Lets GitHub say that a check of the newest commit is running, and that mona approves it. */
async function judgePullRequest(): Promise<void> {
  const { headSha, number } = await pullRequest();
  const mona = world.github.as('mona');
  await mona('POST', '/repos/mona/sample/check-runs', { name: 'build', head_sha: headSha, status: 'in_progress' });
  await mona('POST', `/repos/mona/sample/pulls/${number}/reviews`, { event: 'APPROVE' });
}

/** Comments on a line with the pointer. */
async function comment(path: string, line: number, text: string): Promise<void> {
  await button(`Comment on line ${line}`, file(path)).click();
  const editor = page.getByLabel(`Comment on ${path}:${line}`, { exact: true });
  await editor.fill(text);
  await button('Done', file(path)).click();
  await editor.waitFor({ state: 'detached' });
}

const looks = [
  ['dark', 390],
  ['light', 1280],
] as const;
let looked = 0;

/** Expects the page to have no problem. axe is slow, so it sees every other state in dark only, unless the run is thorough. */
async function isSound(name: string): Promise<void> {
  const seen: Seen = { violations: [], tooWide: [], alive: [] };
  looked++;
  for (const [at, [colorScheme, width]] of looks.entries()) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 800 });
    await settled(page);
    await inspect(page, `${name}, ${colorScheme}`, seen, isThorough || looked % 2 === at);
  }
  expect(seen).toEqual({ violations: [], tooWide: [], alive: [] });
}

inBrowser('a finger hits the button of a line', async () => {
  const touch = await page.context().newCDPSession(page);
  await touch.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  await go('?tab=diff');
  expect((await button('Comment on line 2', file('a.txt')).boundingBox())?.height).toBeGreaterThanOrEqual(24);
  await touch.send('Emulation.setTouchEmulationEnabled', { enabled: false });
});

inBrowser('a comment on a line can be finished above the keyboard of a phone', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await go('?tab=diff');
  await button('Comment on line 1', file('b.txt')).click();
  await page.getByLabel('Comment on b.txt:1', { exact: true }).fill('Not this.');
  await page.setViewportSize({ width: 390, height: 450 });
  const isVisible = `[...document.querySelectorAll('.line-comment button')].every((button) => {
    const { top, bottom } = button.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  })`;
  await page.waitForFunction(isVisible, undefined, { timeout: 5_000 });
  await button('Delete comment', file('b.txt')).click();
  await page.setViewportSize({ width: 1280, height: 800 });
});

inBrowser('comments on lines survive a reload and are sent as one request for changes', async () => {
  await go('?tab=diff');
  await comment('a.txt', 2, 'Call it deux.');
  await comment('b.txt', 1, 'Not this.');
  // The lines are reached with the keyboard too.
  await button('Comment on line 1', file('a.txt')).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  // There is nothing to delete yet.
  await button('Cancel', file('a.txt')).waitFor();
  await page.keyboard.type('Call it trois.');
  await isSound('a comment being written');
  await page.keyboard.press('Escape');
  expect(await page.evaluate('document.activeElement?.ariaLabel')).toBe('Comment on line 3');
  await bar().getByText('3 comments, not sent yet').waitFor();
  await page.reload();
  await button('Delete comment on b.txt:1').click();
  await isSound('comments');
  await button('Merge').click();
  await page.getByRole('alertdialog').getByText('2 comments of yours have not been sent.').waitFor();
  await button('Cancel').click();
  await button('Request changes with 2 comments', bar()).click();
  const dialog = page.getByRole('dialog', { name: 'Request changes' });
  const text = dialog.getByLabel('What should change?');
  await text.fill('Please in German.');
  await button('Cancel', dialog).click();
  await button('Request changes with 2 comments', bar()).click();
  expect(await text.inputValue()).toBe('');
  await text.fill('Please in French.');
  plays({ 'a.txt': 'one\ndeux\ntrois\n' });
  await button('Request changes', dialog).click();
  await dialog.waitFor({ state: 'detached' });
  await world.taskIn('in_review');
  const asked = JSON.stringify(world.model.requests.at(-1)?.messages);
  const request =
    'Please in French.\n\n### a.txt:2\n> two\n\nCall it deux.\n\n### a.txt:3\n> three\n\nCall it trois.\n\n';
  expect(asked).toContain(JSON.stringify(request).slice(1, -1));
  await go('?tab=diff');
  await bar().getByText('0 of 3 files viewed').waitFor();
  expect(
    await bar()
      .getByText(/not sent yet/)
      .count(),
  ).toBe(0);
  // Nor is an editor left where they were written.
  expect(
    await page
      .getByLabel(/^Comment on a\.txt/)
      .and(page.locator('textarea'))
      .count(),
  ).toBe(0);
  // Both stand at their lines, with the answer.
  for (const [line, text] of [
    [2, 'Call it deux.'],
    [3, 'Call it trois.'],
  ] as const) {
    const thread = page.getByRole('region', { name: `Thread on a.txt:${line}`, exact: true });
    await thread.getByText(text).waitFor();
    await thread.getByText('Addressed', { exact: true }).waitFor();
    await thread.getByText(/^Addressed in [0-9a-f]+/).waitFor();
  }
  await isSound('threads');
});

inBrowser('a viewed file stays viewed until its diff changes', async () => {
  await go('?tab=diff');
  for (const path of ['a.txt', 'b.txt']) await file(path).getByLabel('Viewed').check();
  await bar().getByText('2 of 3 files viewed').waitFor();
  expect(await file('a.txt').getByRole('region', { name: 'Lines of a.txt' }).count()).toBe(0);
  await isSound('viewed files');
  // What GitHub said about a commit is kept for a while, so no page may ask about the next one too early.
  await visit(page, `${world.service.url}/projects`);
  plays({ 'a.txt': 'one\ndeux\ntroisième\n' });
  await api('POST', `/tasks/${task.id}/revise`, { text: 'Count correctly.' });
  await world.taskIn('in_review');
  await judgePullRequest();
  // Loaded, because the mark must not be in the memory of the page only.
  await page.goto(`${world.service.url}/tasks/${task.id}?tab=diff`);
  await bar().getByText('1 of 3 files viewed').waitFor();
  expect(await file('b.txt').getByLabel('Viewed').isChecked()).toBe(true);
  await file('a.txt').getByText('troisième').waitFor();
});

inBrowser(
  'a press of Merge while the state is read counts if the page has shown the same, and nothing is missing',
  async () => {
    await go();
    await page.getByRole('region', { name: 'Merge readiness' }).getByText('not finished: build.').waitFor();
    const refusal = { statusCode: 409, message: 'GitHub is not in the mood.' };
    let asked = 0;
    await page.route('**/merge', (route) => {
      asked += 1;
      return route.fulfill({ status: 409, json: refusal });
    });
    for (const isReady of [false, true]) {
      const { promise: read, resolve } = Promise.withResolvers<void>();
      await page.route('**/merge-readiness', async (route) => {
        const response = await route.fetch();
        await read;
        const readiness = await response.json();
        await route.fulfill({ response, json: isReady ? { ...readiness, problems: [] } : readiness });
      });
      await button('Merge').click();
      const dialog = page.getByRole('alertdialog');
      await dialog.getByRole('button', { name: /^Merge( anyway)?$/ }).focus();
      await page.keyboard.press('Enter');
      resolve();
      if (isReady) await page.getByText(refusal.message).waitFor();
      else await dialog.getByText('You can merge once', { exact: false }).waitFor({ state: 'detached' });
      expect(asked).toBe(isReady ? 1 : 0);
      await page.unroute('**/merge-readiness');
      await button('Cancel', dialog).click();
    }
    await page.unroute('**/merge');
    // Chromium logs refused requests to the console, which a page cannot prevent.
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !/status of 409/.test(text)));
  },
);

inBrowser('a merge is explained before it happens, and the timeline says who did what', async () => {
  const day = new Date().toISOString().slice(0, 10);
  const base = `/projects/${world.project.id}`;
  const sprint = await api<{ id: string }>('POST', `${base}/sprints`, { name: 'S', startDate: day, endDate: day });
  await api('POST', `/sprints/${sprint.id}/start`);
  const next = { title: 'Translate them', owner: task.owner, dependsOn: [task.id], sprintId: sprint.id };
  await api('POST', `${base}/tasks`, next);
  await go();
  const readiness = page.getByRole('region', { name: 'Merge readiness' });
  const name = `sample #${(await pullRequest()).number}`;
  await readiness.getByText(`1 check of ${name} not finished: build.`).waitFor();
  await readiness.getByText('No conflicts · mona approved', { exact: false }).waitFor();
  await isSound('a task in review');
  await button('Merge').click();
  const dialog = page.getByRole('alertdialog', { name: `Merge ${name}?` });
  const steps = dialog.getByRole('list', { name: 'What will happen' }).getByRole('listitem');
  await steps.first().waitFor();
  expect(await steps.allTextContents()).toEqual([
    `Squash and merge ${name} into main.`,
    'The task moves to Done.',
    '“Translate them” starts, because it depends on this task.',
  ]);
  await isSound('the merge dialog');
  const refusal = { statusCode: 409, message: 'GitHub is not in the mood.' };
  await page.route('**/merge', (route) => route.fulfill({ status: 409, json: refusal }));
  await button('Merge anyway', dialog).click();
  await page.getByText(refusal.message).waitFor();
  await page.unroute('**/merge');
  // Chromium logs refused requests to the console, which a page cannot prevent.
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !/status of 409/.test(text)));
  await button('Merge anyway', dialog).click();
  await page.getByText('Nothing is left to do.', { exact: false }).waitFor();
  await page.locator('button[data-variant=primary]').waitFor({ state: 'detached' });
  const entries = page.getByRole('list', { name: 'Timeline, newest first' }).getByRole('listitem');
  for (const text of [/^mona merged the pull requests/, /^mona requested changes.*Please in French\./, /^mona created/])
    await entries.filter({ hasText: text }).first().waitFor();
});

inBrowser('an answer that is stored before its stream ends is shown once', async () => {
  script.splice(0, script.length, 'I wrote **three** files.');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/api/v1/tasks/*/chat', async (route) => {
    const response = await route.fetch();
    if (route.request().method() === 'POST') await released;
    await route.fulfill({ response });
  });
  await go('?tab=chat');
  await page.getByLabel('Your message').fill('What did you do?');
  await button('Send').click();
  await page.locator('.message.agent strong', { hasText: 'three' }).waitFor();
  expect(await page.locator('.message').count()).toBe(2);
  release();
  await button('Send').and(page.locator('[data-loading=false]')).waitFor();
  expect(await page.locator('.message').count()).toBe(2);
});
