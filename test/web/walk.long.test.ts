import type { Page } from 'playwright-core';
import { chromiumPath } from '../../demo/browser.ts';
import type { ModelRequest, Said } from '../../demo/model/model.ts';
import { script } from '../../demo/model/story.ts';
import { until } from '../../demo/real-service.ts';
import { complaints, inBrowser, openOther, openOwner, openPerson, visit, watchBrowser } from '../support/browser.ts';
import { awayFromMidnight, inDays } from '../support/machine/midnight.ts';
import { planner } from '../support/stand-ins/planner.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let page: Page;
let base: string;

/** Plans, works on a task or chats, depending on the request. */
function model(request: ModelRequest, turn: number): Said {
  if (request.tool_choice !== undefined) return planner(request);
  const isRun = request.tools?.some((t) => t.function.name === 'finish');
  if (!isRun) return 'I took the **accents** off before the rest.';
  return (script as Said[])[Math.min(turn, script.length - 1)] ?? 'Done.';
}

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  world = await openWorld(model, { seed: { people: ['mona', 'stranger', 'hubot'] }, settings: { SIGN_IN: 'anyone' } });
  base = `/projects/${world.project.id}`;
  page = await openOwner(world);
});
watchBrowser(() => world?.close());

const go = (path: string, on = page) => visit(on, `${world.service.url}${path}`);
const button = (name: string | RegExp, on = page) => on.getByRole('button', { name, exact: typeof name === 'string' });
const tab = (name: string) => page.getByRole('navigation', { name: 'Task', exact: true }).getByRole('link', { name });

inBrowser(
  'a task is created, started, followed, reviewed, discussed and merged, and the burndown shows it',
  async () => {
    await awayFromMidnight();
    const today = inDays(0);
    const sprint = await world.service.api<{ id: string }>(world.token, 'POST', `${base}/sprints`, {
      name: 'First sprint',
      startDate: today,
      endDate: today,
    });
    await go(base);
    await page.getByRole('heading', { name: 'Board' }).waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Slugs keep their accents');
    await dialog.getByLabel('Description').fill('**Why**: names have them.');
    await dialog.getByLabel('Agent').selectOption({ label: 'Developer' });
    await dialog.getByLabel('Sprint').selectOption({ label: 'First sprint' });
    await button('Create task').click();
    await page.getByRole('link', { name: 'Slugs keep their accents' }).click();
    await page.getByRole('heading', { name: 'Slugs keep their accents' }).waitFor();
    expect(await page.locator('.markdown strong').first().textContent()).toBe('Why');
    await tab('Runs').click();
    await button('Start').click();
    await page.getByRole('list', { name: 'Runs' }).getByRole('link', { name: 'Run' }).click();
    await page.getByText(/pull request http/).waitFor();
    await page.getByText('Run ended').waitFor();
    await page.getByLabel('Show', { exact: true }).selectOption({ label: 'Edits' });
    await page.getByRole('button', { name: /Edit\s*src\/slugify.js/ }).waitFor();
    await page.getByRole('link', { name: 'Slugs keep their accents' }).click();
    await tab('Changes').click();
    await page.getByText("keeps the letters under accents'", { exact: false }).first().waitFor();
    await button('Split').click();
    await page.waitForURL(/view=split/);
    await page.reload();
    await page.locator('.diff-split').first().waitFor();
    await tab('Chat').click();
    await page.getByLabel('Your message').fill('What did you do?');
    await button('Send').click();
    await page.locator('.message.agent strong', { hasText: 'accents' }).waitFor();
    // The browser keeps an answer once it is complete. Until then, the button is busy.
    await button('Send').and(page.locator('[data-loading=false]')).waitFor();
    await page.reload();
    await page.locator('.message.agent strong', { hasText: 'accents' }).waitFor();
    await world.service.api(world.token, 'POST', `/sprints/${sprint.id}/start`);
    const left = async () =>
      (await world.get<{ actual: number }[]>(`/sprints/${sprint.id}/burndown`)).map((point) => point.actual);
    expect(await left()).toEqual([1]);
    await button('Merge').click();
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: /^Merge( anyway)?$/ })
      .click();
    await page.getByText('Done', { exact: true }).waitFor();
    await go(`/sprints/${sprint.id}?tab=chart`);
    await page.getByText('1 of 1 (100%)').waitFor();
    await page.getByText('View as table').click();
    expect(await page.getByRole('cell').allTextContents()).toEqual(['Start', '1', '1', today, '0', '0']);
    await button('Complete sprint').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Complete sprint' }).click();
    await page.getByRole('link', { name: 'Digest' }).click();
    await page.getByRole('region', { name: 'Digest' }).getByText('1 done · 0 carried over').waitFor();
  },
);

const agree = (name: string) => page.getByRole('alertdialog').getByRole('button', { name }).click();

/** Starts a plan and answers its questions, one of them twice. */
async function answerQuestions(): Promise<void> {
  await page.getByLabel('What do you want to achieve?').fill('Greet people by name');
  await button('Start planning').click();
  await page
    .getByRole('alertdialog')
    .getByText(/^Each question calls the model \S+, which costs money\./)
    .waitFor();
  await agree('Start planning');
  await page.waitForURL(/plan\/wiz_/);
  await page.getByRole('heading', { name: 'Greet people by name', level: 1 }).and(page.locator(':focus')).waitFor();
  let answered = 0;
  const reply = async (text: string) => {
    const form = page.locator('form').filter({ has: button('Submit answer') });
    await form.getByLabel('Your own answer').fill(text);
    await button('Submit answer').click();
    await page.locator('li p', { hasText: text }).waitFor();
  };
  const next = async () => {
    await button(/^(Submit answer|Generate requirements)$/).waitFor();
    return (await button('Submit answer').count()) > 0;
  };
  for (; await next(); answered++) await reply(`Reply number ${answered}.`);
  expect(answered).toBeGreaterThanOrEqual(3);
  await button('Edit answer').first().click();
  await page.getByText(`A new answer removes what follows from this one: ${answered - 1} later answers.`).waitFor();
  await button('Cancel').click();
  await button('Edit answer').first().click();
  await reply('On second thought.');
  for (let again = 0; await next(); again++) await reply(`Once more ${again}.`);
}

inBrowser('the wizard leads from a goal to a sprint, also after going back', async () => {
  await go(`${base}/plan`);
  await answerQuestions();
  await button('Generate requirements').click();
  await page.getByLabel('Do not ask again in this plan').check();
  await agree('Generate requirements');
  await page.getByRole('heading', { name: 'Greeting by name' }).first().waitFor();
  await page.reload();
  await button('Generate plan').click();
  await page.getByText('Everything else needs it').waitFor();
  await button('Generate tasks').click();
  await page.getByLabel('Title of task 1').fill('x'.repeat(201));
  await page.getByText('The title of task 1 has 201 of at most 200 characters.').waitFor();
  await page.getByLabel('Title of task 1').fill('Greet by name, politely');
  await button('Remove task 2').click();
  // A new task is written at once, and without a title it is refused at its field, in words of the page.
  await button('Add task').click();
  await page.getByLabel('Title of task 3').and(page.locator(':focus')).waitFor();
  await button('Save tasks').click();
  await page
    .getByLabel('Title of task 3')
    .and(page.locator('[aria-invalid=true]'))
    .and(page.locator(':focus'))
    .waitFor();
  await page.getByRole('listitem').getByText('Title of task 3 must have 1 to 200 characters.').waitFor();
  expect(await page.getByText('tasks.2.title').count()).toBe(0);
  // The refusal is also in Chromium's log.
  complaints.length = 0;
  await button('Remove task 3').click();
  // A task can wait for another one, which then cannot wait for it.
  await page.getByText('Greet by name, politely', { exact: true }).waitFor();
  await button('Depends on (task 2)').click();
  const other = page.getByRole('menuitemcheckbox', { name: '1. Greet by name, politely' });
  await other.click();
  await page.getByText('Nothing', { exact: true }).nth(1).waitFor();
  await other.click();
  await page.keyboard.press('Escape');
  await page.getByText('Greet by name, politely', { exact: true }).waitFor();
  await button('Depends on (task 1)').click();
  await page
    .getByRole('menuitemcheckbox', { name: /^2\. Other languages/ })
    .getByText('It depends on this task.')
    .waitFor();
  await page.keyboard.press('Escape');
  await button('Edit plan').click();
  await page.getByLabel('Goal of phase 1').fill('Greet everybody');
  await button('Save').click();
  await page.getByText('What these tasks follow from has changed since they were written.').waitFor();
  await page.getByLabel('Sprint name').fill('Greetings');
  await button('Create sprint with 2 tasks').click();
  await page.waitForURL(/\/sprints\/sprint_/);
  await page.getByRole('link', { name: 'Greet by name, politely' }).waitFor();
  await page.getByRole('link', { name: 'Other languages' }).waitFor();
  const tasks = await world.get<{ title: string }[]>(`${base}/tasks?search=describe`);
  expect(tasks).toEqual([]);
});

inBrowser('two people see what the other does, without a reload', async () => {
  await world.service.api(world.token, 'POST', `${base}/members`, { login: 'stranger', role: 'member' });
  const other = await openOther(world, 'stranger');
  for (const each of [page, other]) await go(base, each);
  const task = await world.service.api<{ id: string }>(world.token, 'POST', `${base}/tasks`, { title: 'Seen by both' });
  for (const each of [page, other]) await each.getByRole('link', { name: 'Seen by both' }).waitFor();
  const ready = (on: Page) => on.locator('[data-status=ready]').getByRole('link', { name: 'Seen by both' });
  await button('Actions for Seen by both').click();
  await page.getByRole('menuitem', { name: 'Move to Ready' }).click();
  await ready(page).waitFor();
  await ready(other).waitFor();
  await world.service.api(world.token, 'PATCH', `/tasks/${task.id}`, { title: 'Seen by both, renamed' });
  await other.getByRole('link', { name: 'Seen by both, renamed' }).waitFor();
  // Members see what they may not do before they try.
  await go(`${base}/settings`, other);
  await other.getByText('Only admins and owners of the project can change these settings.').waitFor();
  expect(await other.getByLabel('Name').isDisabled()).toBe(true);
  await go(`${base}/repositories`, other);
  await other.getByText('Only admins and owners of the project can connect repositories.').waitFor();
  await other.context().close();
});

inBrowser('a message tells people that they are not members or not signed in', async () => {
  const stranger = await openOther(world, 'hubot');
  await go('/', stranger);
  await stranger.getByText('0 of 5 done').waitFor();
  await go('/projects', stranger);
  await stranger.getByText('No projects yet').waitFor();
  await go(base, stranger);
  await stranger.getByRole('heading', { name: 'You are not a member of this project' }).waitFor();
  await stranger.context().close();
  // Chromium logs refused requests to the console, which a page cannot prevent.
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('status of 403')));
  const nobody = await openPerson();
  await go(`${base}?search=x`, nobody);
  await nobody.waitForURL(/\/login\?return_to=/);
  await nobody.getByRole('link', { name: 'Sign in with GitHub' }).click();
  await nobody.getByRole('button', { name: /mona/ }).click();
  await nobody.waitForURL(`${world.service.url}${base}?search=x`);
  await nobody.context().close();
});

inBrowser('a refused move is explained and undone', async () => {
  const task = await world.service.api<{ id: string }>(world.token, 'POST', `${base}/tasks`, { title: 'Immovable' });
  await go(`${base}?search=Immovable`);
  const card = page.getByRole('link', { name: 'Immovable' });
  await card.waitFor();
  await page.locator('.card').dragTo(page.locator('[data-status=in_review]'));
  await page.getByText('A task moves to In review when its agent opens a pull request.').waitFor();
  await page.locator('.card').dragTo(page.locator('[data-status=in_progress]'));
  await page.getByText('Assign an agent to the task before you start it.').waitFor();
  await page.locator('.card').dragTo(page.locator('[data-status=ready]'));
  await until('the move', async () => (await world.get<{ status: string }>(`/tasks/${task.id}`)).status === 'ready');
  expect(await page.locator('[data-status=ready]').getByRole('link', { name: 'Immovable' }).count()).toBe(1);
});

inBrowser('merging by dragging asks for confirmation, as the button does', async () => {
  const { id } = await world.service.api<{ id: string }>(world.token, 'POST', `${base}/tasks`, {
    title: 'To be merged',
  });
  await world.sql(
    `with reviewed as (update tasks set status = 'in_review' where id = $1 returning id)
     insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     select reviewed.id, r.id, 9999, 'https://github.com/mona/sample/pull/9999', 'open', 'agent/x', 'x'
     from reviewed cross join repositories r`,
    [id],
  );
  await page.setViewportSize({ width: 1800, height: 800 });
  await go(`${base}?search=To be merged`);
  await page.locator('.card').waitFor();
  await page.locator('.card').dragTo(page.locator('[data-status=done]'));
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  await page.locator('[data-status=in_review]').getByRole('link', { name: 'To be merged' }).waitFor();
});

inBrowser('pressing Enter three times creates one task, and editing does not overwrite changes by others', async () => {
  const pressed = Promise.withResolvers<void>();
  await page.route('**/api/v1/projects/*/tasks', async (route) => {
    if (route.request().method() === 'POST') await pressed.promise;
    await route.continue();
  });
  // No notice of an earlier test is left after a load.
  await page.goto(`${world.service.url}${base}?new=one`);
  await page.getByRole('dialog').getByLabel('Title').fill('Only once');
  for (let i = 0; i < 3; i++) await page.keyboard.press('Enter');
  pressed.resolve();
  await page.getByText('Task created').waitFor();
  await page.unroute('**/api/v1/projects/*/tasks');
  const made = await world.get<{ id: string }[]>(`${base}/tasks?search=Only once`);
  expect(made).toHaveLength(1);
  const path = `/tasks/${made[0]?.id}`;
  await go(path);
  await button('Edit').click();
  await world.service.api(world.token, 'PATCH', path, { description: 'theirs' });
  await page.locator('.markdown', { hasText: 'theirs' }).waitFor();
  await page.getByRole('dialog').getByLabel('Title').fill('Only one title');
  await button('Save changes').click();
  await page.getByRole('heading', { name: 'Only one title' }).waitFor();
  expect(await world.get(path)).toMatchObject({ title: 'Only one title', description: 'theirs' });
});

inBrowser('a page that lost its connection shows what it missed once it is back', async () => {
  await go(base);
  await page.getByRole('link', { name: 'Only one title' }).waitFor();
  await world.service.stop();
  await page.getByText('Reconnecting…').waitFor();
  await world.restart();
  await world.service.api(world.token, 'POST', `${base}/tasks`, { title: 'While nobody listened' });
  await page.getByRole('link', { name: 'While nobody listened' }).waitFor();
  // Chromium logs failed connections to the console, which a page cannot prevent.
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !/ERR_|Failed to load/.test(text)));
});
