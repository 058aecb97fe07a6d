import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { chromiumPath, settled } from '../../demo/browser.ts';
import { complaints, inBrowser, loaded, openOwner, visit, watchBrowser } from '../support/browser.ts';
import { openWorld, type World } from '../support/world.ts';
import { inspect, type Seen } from './inspect.ts';

// The page of a run in progress. Its rows are inserted, so that no worker changes them.

let world: World;
let page: Page;
let taskId: string;
const runId = 'run_watched';

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  world = await openWorld([], { settings: { SANDBOX: 'off' } });
  page = await openOwner(world);
  const made = await world.service.api<{ id: string }>(world.token, 'POST', `/projects/${world.project.id}/tasks`, {
    title: 'Greet by name',
  });
  taskId = made.id;
  // At once, because the service fails a task in progress that has no run.
  await world.sql(
    `with started as (update tasks set status = 'in_progress' where id = $2)
     insert into runs (id, task_id, project_id, kind, status, steps, started_at, lease_until)
     values ($1, $2, $3, 'start', 'running', 0, now(), now() + interval '1 day')`,
    [runId, taskId, world.project.id],
  );
  await note('setup', '$ npm ci');
  await note('setup', 'npm ci: exit code 1, 3 s', { exitCode: 1 });
  await note('plan', '1 of 2 steps are done', { steps: plan });
  for (const turn of [1, 2, 3]) await addTurn(turn);
  await note('network', 'example.com is not in network.agent');
});
watchBrowser(() => world?.close());

const plan = [
  { text: 'Read the code', status: 'done' },
  { text: 'Change the greeting', status: 'doing' },
];

async function note(type: string, text: string, data: object = {}): Promise<void> {
  await world.sql('insert into run_events (run_id, type, text, data) values ($1, $2, $3, $4)', [
    runId,
    type,
    text,
    data,
  ]);
}

/** Adds a turn that edits a file and runs a command, with its entries in the log. */
async function addTurn(turn: number): Promise<void> {
  const toolCalls = [
    { id: 'a', name: 'edit_file', arguments: JSON.stringify({ path: 'greet.js', old: 'hello', new: `hello ${turn}` }) },
    { id: 'b', name: 'run_command', arguments: JSON.stringify({ command: 'npm test' }) },
  ];
  const messages = [
    { role: 'assistant', content: `Now I make change ${turn}.`, toolCalls },
    { role: 'tool', toolCallId: 'a', content: 'changed greet.js (1 place)' },
    { role: 'tool', toolCallId: 'b', content: `[exit code ${turn === 2 ? 7 : 0}] after 1.5 s\ntested ${turn}` },
  ];
  await note('model', 'scripted answered', { turn, calls: ['edit_file greet.js', 'run_command npm test'], ms: 2100 });
  await note('tool', 'edit_file greet.js', { turn, call: 0, ok: true, ms: 12 });
  await note('tool', 'run_command npm test', { turn, call: 1, ok: true, ms: 1500 });
  await world.sql(
    `insert into run_turns (run_id, turn, messages, input_tokens, cached_input_tokens, output_tokens, cost_usd)
     values ($1, $2, $3, 90, 0, 10, 0.5)`,
    [runId, turn - 1, JSON.stringify(messages)],
  );
  await world.sql('update runs set steps = $2, input_tokens = $2 * 100, cost_usd = $2 * 0.5 where id = $1', [
    runId,
    turn,
  ]);
}

async function open(rest = ''): Promise<void> {
  await visit(page, `${world.service.url}/tasks/${taskId}/runs/${runId}${rest}`);
  // The turns and the log arrive in separate requests.
  await page.getByRole('heading', { name: 'Turn 3' }).waitFor();
  await log().getByText('example.com').waitFor();
}

const log = () => page.getByRole('region', { name: 'Log', exact: true });
const head = (name: RegExp) => log().getByRole('button', { name });

inBrowser(
  'the task leads to the page of its run, which shows turns, calls, plan and figures without violations',
  async () => {
    await visit(page, `${world.service.url}/tasks/${taskId}?tab=runs`);
    await page.getByRole('list', { name: 'Runs' }).getByRole('link', { name: 'Run' }).click();
    await page.waitForURL(`**/tasks/${taskId}/runs/${runId}`);
    await log().getByText('Now I make change 1.').waitFor();
    await log().getByText('example.com is not in network.agent').waitFor();
    const facts = page.getByRole('region', { name: 'Run', exact: true });
    for (const text of ['3 steps', '300 tokens', '$1.50']) await facts.getByText(text, { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Plan' }).getByText('1 of 2 done').waitFor();
    await page.getByRole('img', { name: 'In progress' }).waitFor();
    await log().getByText('hello 3').waitFor();
    await head(/Failed.*Run.*npm test.*exit code 7 · 1\.5 s/).click();
    await log().getByText('tested 2').waitFor();
    const seen: Seen = { violations: [], tooWide: [], alive: [] };
    for (const [theme, width] of [
      ['light', 1280],
      ['dark', 320],
    ] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 800 });
      await settled(page);
      await inspect(page, theme, seen, true);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
    expect(seen).toEqual({ violations: [], tooWide: [], alive: [] });
  },
);

inBrowser('a filter, a search and a turn are in the address, and the log is downloaded', async () => {
  await open();
  await page.getByLabel('Show', { exact: true }).selectOption({ label: 'Errors and refusals' });
  await page.getByRole('heading', { name: 'Turn 3' }).waitFor({ state: 'detached' });
  expect(await log().getByRole('listitem').allTextContents()).toEqual([
    expect.stringContaining('npm ci: exit code 1'),
    expect.stringContaining('Turn 2'),
    expect.stringContaining('exit code 7'),
    expect.stringContaining('example.com'),
  ]);
  await page.getByRole('searchbox', { name: 'Search' }).fill('example');
  await log().getByRole('heading', { name: 'Turn 2' }).waitFor({ state: 'detached' });
  await page.waitForURL(/show=problems&search=example/);
  await page.reload();
  await log().getByText('example.com').waitFor();
  expect(await log().getByRole('listitem').count()).toBe(1);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download JSON' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`${runId}.json`);
  const { run, turns } = JSON.parse(await readFile(await file.path(), 'utf8'));
  expect([run.id, turns.length]).toEqual([runId, 3]);
  await open('#turn-2');
  await page.locator('li.linked').getByRole('heading', { name: 'Turn 2' }).waitFor();
  await page.getByLabel('Go to turn').fill('3');
  await page.keyboard.press('Enter');
  await page.locator('li.linked').getByRole('heading', { name: 'Turn 3' }).waitFor();
});

inBrowser('the header of a narrow page has room to say that the connection is lost', async () => {
  const events = /\/projects\/[^/]+\/events(\?|$)/;
  await page.route(events, (route) => route.abort());
  await page.setViewportSize({ width: 320, height: 800 });
  await open();
  await page.getByText('Reconnecting…', { exact: true }).waitFor();
  const seen: Seen = { violations: [], tooWide: [], alive: [] };
  await inspect(page, 'lost', seen, false);
  expect(seen.tooWide).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.unroute(events);
  // Chromium logs failed connections to the console, which a page cannot prevent.
  complaints.length = 0;
});

inBrowser(
  'what the model writes, its calls and its turns appear as they happen, and people steer the run',
  async () => {
    await open();
    const status = page.locator('#content').getByRole('status').filter({ hasText: '…' });
    await status.getByText('Thinking…').waitFor();
    const delta = JSON.stringify({ turn: 3, text: 'Almost done' });
    await world.sql(`select pg_notify('changes', $1)`, [`text ${runId}\n${delta}`]);
    await log().getByText('Almost done').waitFor();
    await status.getByText('Writing…').waitFor();
    await note('model', 'scripted answered', { turn: 4, calls: ['run_command npm run lint'], ms: 900 });
    await head(/Run.*npm run lint/).waitFor();
    await status.getByText('Run npm run lint…').waitFor();
    await addTurn(4);
    await log().getByText('Now I make change 4.').waitFor();
    await status.getByText('Thinking…').waitFor();
    await page.getByText('$2.00').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByLabel('Message the agent').fill('Use tabs.');
    await page.getByRole('button', { name: 'Send' }).click();
    // On a phone, the notice covers neither the field nor the buttons below it.
    await page.getByText('The agent reads this before its next turn').waitFor();
    const [notices, steering] = [page.locator('.notices'), page.locator('.run-steering')];
    const [notice, controls] = [await notices.boundingBox(), await steering.boundingBox()];
    expect((notice?.y ?? 0) + (notice?.height ?? 0)).toBeLessThan(controls?.y ?? 0);
    await page.setViewportSize({ width: 1280, height: 800 });
    // Nor does it elsewhere.
    const [wide, below] = [await notices.boundingBox(), await steering.boundingBox()];
    expect((wide?.y ?? 0) + (wide?.height ?? 0)).toBeLessThan(below?.y ?? 0);
    await log().getByText('mona said: Use tabs.').waitFor();
    // The field has the focus, because the button that had it is disabled now.
    await page.getByLabel('Message the agent').and(page.locator(':focus')).waitFor();
    expect(await page.getByLabel('Message the agent').inputValue()).toBe('');
    await page.getByRole('button', { name: 'Pause run' }).click();
    await page.getByText("The run pauses after its agent's current turn").waitFor();
    // The button keeps the focus, and whoever opens the page later sees that the run is to pause.
    const pausing = page.getByRole('button', { name: 'Pausing after this turn' });
    await pausing.and(page.locator(':focus')).waitFor();
    await page.reload();
    await pausing.waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel run' }).click();
    await page.getByText('Run ended', { exact: true }).waitFor();
    // An ended run opens at its top, although its notes arrive after its turns.
    await page.setViewportSize({ width: 1280, height: 500 });
    await page.reload();
    await log().getByText('Now I make change 1.').waitFor();
    await loaded(page);
    await settled(page);
    await log().getByText('npm ci: exit code 1').waitFor();
    expect(await log().evaluate((element) => element.scrollTop)).toBe(0);
    expect(await page.getByRole('button', { name: 'Cancel run' }).count()).toBe(0);
  },
);
