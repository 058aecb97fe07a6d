import { until } from '../../demo/real-service.ts';
import { complaints, inBrowser, openDashboard, openOwner, phone, visit } from '../support/browser.ts';

const { world, page, base, api } = await openDashboard();

/** Returns the entry of a task in the inbox. */
const entryOf = (title: string) => page.locator('.inbox-entry').filter({ hasText: title });

let isPointing = false;
/** Adds a task whose run waits for a person. `data` is what the log of the run says besides that. */
async function addWaiting(
  reason: string,
  options: string[] = [],
  title = `Task page: ${reason}`,
  data: object = {},
): Promise<string> {
  // New entries wait while the pointer is on the list.
  if (!isPointing) await page.mouse.move(0, 0);
  const [agent] = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title, owner: agent?.id });
  await world.sql(
    `with run as (
       insert into runs (id, task_id, project_id, agent_id, kind, status)
       values ('run_' || $1, $1, $2, $3, 'start', 'cancelled')
     )
     insert into run_events (run_id, type, text, data) values ('run_' || $1, 'waiting', 'waiting', $4)`,
    [id, world.project.id, agent?.id, { reason, ...data }],
  );
  // At once, because the service fails a task in progress that has no run.
  await world.sql(
    `with started as (update tasks set status = 'in_progress' where id = $1)
     update runs set status = 'waiting', wait_id = 'wait_' || $1, wait_reason = $2, wait_text = 'Look here',
       wait_options = $3, waiting_since = now() where task_id = $1`,
    [id, reason, JSON.stringify(options)],
  );
  return id;
}

/** Waits until the log of the run of `addWaiting` says something. */
const isNoted = (id: string, text: string) =>
  until(text, async () =>
    (await world.get<{ text: string }[]>(`/runs/run_${id}/events`)).some((event) => event.text.includes(text)),
  );

inBrowser("a task's plan and its budget, within the limits of the project, are set on its page", async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Thrifty' });
  await api('PATCH', base, { budgets: { runSteps: 50 } });
  await visit(page, `${world.service.url}/tasks/${id}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Steps per run').fill('51');
  await dialog.getByText('Enter at most 50.').waitFor();
  await dialog.getByLabel('Steps per run').fill('20');
  await dialog.getByLabel('Cost per run (USD)').fill('1.5');
  await dialog.getByLabel('Plan').selectOption({ label: 'A person approves it' });
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Budget: $1.50, 20 steps per run').waitFor();
  expect(await world.get(`/tasks/${id}`)).toMatchObject({ budget: { costUsd: 1.5, steps: 20 }, planFirst: true });
  await api('PATCH', base, { budgets: { runSteps: null } });
});

inBrowser(
  'a new task with too high a budget is not sent, and the field is in view, also in a folded part',
  async () => {
    await visit(page, `${world.service.url}${base}`);
    await page.getByRole('button', { name: 'New task' }).click();
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await dialog.getByLabel('Title').fill('Dear');
    await dialog.getByText('Set a budget').click();
    await dialog.getByLabel('Cost per run (USD)').fill('90000');
    await dialog.getByText('Set a budget').click();
    await dialog.getByRole('button', { name: 'Create task' }).click();
    await dialog.locator('input:focus').waitFor();
    expect(await dialog.locator('input:focus').inputValue()).toBe('90000');
    await dialog.getByText(/^Enter at most/).waitFor();
    expect(await world.sql(`select from tasks where title = $1`, ['Dear'])).toEqual([]);
    await dialog.getByLabel('Cost per run (USD)').fill('');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  },
);

inBrowser('the inbox and its number on every page show what needs a person, without a reload', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Needs eyes' });
  await world.sql(
    `insert into runs (id, task_id, project_id, kind, status) values ('run_e', $1, $2, 'start', 'succeeded')`,
    [id, world.project.id],
  );
  await world.sql(
    `insert into handoffs (id, task_id, run_id, summary) values ('handoff_e', $1, 'run_e', 'Added \`eyes.js\`.')`,
    [id],
  );
  await visit(page, `${world.service.url}${base}`);
  await page.getByRole('link', { name: 'Inbox', exact: true }).waitFor();
  await world.sql(`update tasks set status = 'in_review', status_since = now() where id = $1`, [id]);
  await page.getByRole('link', { name: /^Inbox\s*\(1\)$/ }).click();
  await page.getByRole('heading', { name: 'Inbox', exact: true }).waitFor();
  const entry = entryOf('Needs eyes');
  await until('the title', async () => (await page.title()) === '(1) Inbox · Deckhand');
  await entry.getByText('just now').waitFor();
  await entry.getByText('No changed files').waitFor();
  await entry.locator('code', { hasText: /^eyes\.js$/ }).waitFor();
  await world.sql(`update tasks set status = 'ready' where id = $1`, [id]);
  await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor();
  await world.sql(
    `with started as (update tasks set status = 'in_progress' where id = $1)
     update runs set status = 'waiting', wait_id = 'wait_1', wait_reason = 'question', wait_text = 'Which colour?',
       wait_options = '[]', waiting_since = now() where id = 'run_e'`,
    [id],
  );
  await entry.getByText('Which colour?').waitFor();
  await entry.getByRole('link', { name: 'Needs eyes' }).click();
  await page.getByText('Waiting for an answer').waitFor();
  // The page would complain about the missing task in the next test.
  await visit(page, `${world.service.url}/projects`);
  await world.sql(`delete from tasks where id = $1`, [id]);
});

inBrowser(
  'on the page of a task people approve a plan, answer a question, resume a run and go back to a turn',
  async () => {
    const [agent] = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
    /** Opens the page of a new task whose run waits. */
    const waiting = async (reason: string, options: string[] = []) => {
      const id = await addWaiting(reason, options);
      await visit(page, `${world.service.url}/tasks/${id}`);
      await page.getByRole('region', { name: 'Waiting' }).getByText('Look here').waitFor();
      return id;
    };
    const plan = await waiting('plan');
    const message = page.getByLabel('Message the agent');
    await message.waitFor();
    await page.getByRole('button', { name: 'Approve plan' }).click();
    await isNoted(plan, 'mona approved the plan');
    const question = await waiting('question', ['red', 'blue']);
    // A message would not answer the question.
    expect(await message.count()).toBe(0);
    await page.getByRole('button', { name: 'blue' }).click();
    await isNoted(question, 'mona answered: blue');
    const paused = await waiting('paused');
    await page.getByRole('button', { name: 'Resume run' }).click();
    await isNoted(paused, 'mona resumed the run');
    const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Go back', owner: agent?.id });
    await world.sql(
      `insert into runs (id, task_id, project_id, kind, status, steps, finished_at)
     values ('run_back', $1, $2, 'start', 'failed', 2, now())`,
      [id, world.project.id],
    );
    await world.sql(`insert into run_contexts (run_id, opening) values ('run_back', '[]')`, []);
    await world.sql(
      `insert into run_turns (run_id, turn, messages, input_tokens, cached_input_tokens, output_tokens, cost_usd)
     select 'run_back', n, '[{"role":"assistant","content":"Some words","toolCalls":[]}]', 9, 0, 1, 0.5
     from generate_series(0, 1) n`,
      [],
    );
    // Such a link leads to the page of the run.
    await visit(page, `${world.service.url}/tasks/${id}?tab=runs&run=run_back`);
    await page.waitForURL(`**/tasks/${id}/runs/run_back`);
    await page.getByText('Some words').first().waitFor();
    const turn = page.getByRole('listitem').filter({ hasText: 'Turn 1' });
    await turn.getByRole('button', { name: 'Rewind to here' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rewind to turn 1' });
    await dialog.getByText('Its commit undoes all later changes on the branch').waitFor();
    await dialog.getByLabel('What should the agent do differently?').fill('Use tabs.');
    await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
    const rewound = await until('the new run', async () =>
      (await world.get<{ id: string; kind: string }[]>(`/tasks/${id}/runs`)).find(({ kind }) => kind === 'rewind'),
    );
    await page.waitForURL(`**/tasks/${id}/runs/${rewound.id}`);
    await page.getByText('Rewound from turn 1 of an earlier run').waitFor();
    await page.getByText('Copied from the earlier run').waitFor();
  },
);

inBrowser(
  'people decide in the inbox, and a notice says what became of a task that was decided elsewhere',
  async () => {
    await visit(page, world.service.url);
    await page.getByRole('heading', { name: 'Inbox', exact: true }).waitFor();
    const act = (title: string, name: string) => entryOf(title).getByRole('button', { name, exact: true });
    const dialog = page.getByRole('dialog');

    const plan = await addWaiting('plan', [], 'Waits: plan', { files: ['src/one.ts'], checks: ['npm run audit'] });
    await entryOf('Waits: plan').getByText('Read the plan').click();
    for (const text of ['Look here', 'src/one.ts', 'npm run audit'])
      await entryOf('Waits: plan').getByText(text).waitFor();
    await act('Waits: plan', 'Approve plan').click();
    await page.getByText('Approved the plan: Waits: plan').waitFor();
    await isNoted(plan, 'mona approved the plan');

    const question = await addWaiting('question', ['red', 'blue'], 'Waits: question');
    await act('Waits: question', 'Answer in your own words').click();
    // The dialog says what it is about.
    for (const text of ['Waits: question', 'Look here']) await dialog.getByText(text, { exact: true }).waitFor();
    await dialog.getByLabel('Your answer').fill('green');
    await dialog.getByRole('button', { name: 'Send answer' }).click();
    await page.getByText('Answered: Waits: question').waitFor();
    await isNoted(question, 'mona answered: green');

    const push = await addWaiting('push', [], 'Waits: push');
    await act('Waits: push', 'Request changes').click();
    await dialog.getByRole('button', { name: 'Request changes' }).click();
    await dialog.getByText('Say what should change.').waitFor();
    await dialog.getByLabel('What should change?').and(page.locator(':focus')).fill('Use tabs.');
    await dialog.getByRole('button', { name: 'Request changes' }).click();
    await page.getByText('Requested changes: Waits: push').waitFor();
    await isNoted(push, 'mona asked for another change: Use tabs.');

    const other = await addWaiting('question', [], 'Decided elsewhere');
    await act('Decided elsewhere', 'Answer').hover();
    // Nothing moves below the pointer.
    isPointing = true;
    const later = await addWaiting('paused', [], 'Came later');
    const button = page.getByRole('button', { name: /^Show \d+ new entr(y|ies)$/ });
    await button.waitFor();
    expect(await entryOf('Came later').count()).toBe(0);
    await until('the new entry', async () => {
      // Runs that were decided above may have ended, and need somebody again.
      if ((await button.count()) > 0) await button.press('Enter');
      return (await entryOf('Came later').count()) > 0;
    });
    await page.locator('.inbox-entry:first-child [data-entry]:focus').waitFor();
    await api('POST', `/tasks/${later}/cancel`);
    await entryOf('Came later').waitFor({ state: 'detached' });
    isPointing = false;
    await page.mouse.move(0, 0);
    await api('POST', `/tasks/${other}/cancel`);
    await entryOf('Decided elsewhere').waitFor({ state: 'detached' });
    await page.getByText('“Decided elsewhere” is now in Ready.').waitFor();
  },
);

inBrowser('a plan is changed and approved on the page of its task, which shows the difference', async () => {
  const id = await addWaiting('plan', [], 'Change my plan');
  await visit(page, `${world.service.url}/tasks/${id}`);
  await page.getByRole('button', { name: 'Edit plan' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit plan' });
  await dialog.getByText('Nothing has changed.').waitFor();
  await dialog.getByLabel('Plan (Markdown)').fill('Look there');
  await dialog.getByRole('region', { name: "Difference to the agent's plan" }).getByText('+ Look there').waitFor();
  await dialog.getByRole('button', { name: 'Approve this plan' }).click();
  await page.getByText('Approved your plan: Change my plan').waitFor();
  await isNoted(id, 'mona changed the plan and approved it:\nLook there');
  await page.getByText('changed the plan and approved it').first().waitFor();
});

inBrowser(
  'people snooze entries, take that back, choose who is responsible, and see what others have to do',
  async () => {
    const id = await addWaiting('question', [], 'Not today');
    const { userId } = await api<{ userId: string }>('POST', `${base}/members`, { login: 'stranger' });
    await visit(page, world.service.url);
    const entry = entryOf('Not today');
    await entry.getByRole('button', { name: 'Snooze Not today' }).click();
    await page.getByRole('menuitem', { name: /^Tomorrow/ }).click();
    await entry.waitFor({ state: 'detached' });
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
    await entry.getByRole('button', { name: 'Snooze Not today' }).click();
    await page.getByRole('menuitem', { name: 'Choose a day…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Snooze until' });
    await dialog.getByRole('button', { name: 'Snooze' }).click();
    await dialog.getByText('Choose a day within the next 89 days.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await visit(page, `${world.service.url}/tasks/${id}`);
    await page.getByRole('button', { name: 'Nobody responsible' }).click();
    await page.getByRole('menuitemradio', { name: 'stranger' }).click();
    await page.getByRole('button', { name: 'Responsible: stranger' }).waitFor();
    expect(await world.get(`/tasks/${id}`)).toMatchObject({ responsible: userId });
    await visit(page, world.service.url);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await entry.waitFor();
    await page.getByRole('button', { name: 'Mine', exact: true }).click();
    await entry.waitFor({ state: 'detached' });
    await api('DELETE', `${base}/members/${userId}`);
    await entry.waitFor();
    await api('POST', `/tasks/${id}/cancel`);
  },
);

inBrowser('a notice says that somebody else decided first, and a failed run can be retried in the inbox', async () => {
  await visit(page, world.service.url);
  const id = await addWaiting('paused', [], 'Waits: paused');
  const entry = entryOf('Waits: paused');
  await entry.getByRole('button', { name: 'Cancel run' }).waitFor();
  await page.route('**/resume', async (route) => {
    await api('POST', `/tasks/${id}/cancel`);
    await route.continue();
  });
  await entry.getByRole('button', { name: 'Resume run' }).click();
  await page.getByText('Somebody else was first. “Waits: paused” is now in Ready.').waitFor();
  await entry.waitFor({ state: 'detached' });
  // The browser logs the refusal.
  await until('the complaint', async () => complaints.length > 0);
  expect(complaints.splice(0)).toEqual([expect.stringMatching(/409 .*resume/)]);
  const failure = { category: 'model', message: 'the model is gone', retryable: true };
  await page.mouse.move(0, 0);
  await world.sql('update tasks set failure = $2 where id = $1', [id, failure]);
  await entry.getByText('the model is gone').waitFor();
  await entry.getByRole('button', { name: 'Retry' }).click();
  const dialog = page.getByRole('dialog', { name: 'Retry' });
  // People write the hint with the reason before them.
  await dialog.getByText('The last run failed: the model is gone', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'Retry' }).click();
  await page.getByText('Retrying: Waits: paused').waitFor();
});

inBrowser('on a phone, a field of a dialog that was opened in the inbox has the focus when it is touched', async () => {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title: 'Touched' });
  const failure = { category: 'model', message: 'the model is gone', retryable: true };
  await world.sql(`update tasks set status = 'ready', failure = $2 where id = $1`, [id, failure]);
  const touched = await openOwner(world, phone);
  await touched.goto(world.service.url);
  await touched.locator('.inbox-entry').filter({ hasText: 'Touched' }).getByRole('button', { name: 'Edit task' }).tap();
  const dialog = touched.getByRole('dialog', { name: 'Edit task' });
  await dialog.getByLabel('Title').and(touched.locator(':focus')).waitFor();
  await dialog.getByLabel('Description').tap();
  await touched.keyboard.type('Written by touch');
  expect(await dialog.getByLabel('Description').inputValue()).toBe('Written by touch');
  await dialog.getByRole('button', { name: 'Save' }).tap();
  await touched.getByText('The task was edited after this run.').waitFor();
  await touched.context().close();
  // The other page, whose inbox has it, too, asks what became of it.
  await world.sql('update tasks set failure = null where id = $1', [id]);
});

inBrowser(
  'a decision without a connection fails at once, and an answer is the draft of its question only',
  async () => {
    await visit(page, world.service.url);
    const names = ['First question', 'Second question'];
    const ids = [];
    for (const name of names) ids.push(await addWaiting('question', [], name));
    const dialog = page.getByRole('dialog', { name: 'Answer the question' });
    const openAnswer = (name = '') => entryOf(name).getByRole('button', { name: 'Answer' }).click();
    // Without a connection, no question would come any more.
    for (const name of names) await entryOf(name).waitFor();
    await openAnswer(names[0]);
    await dialog.getByLabel('Your answer').fill('blue');
    await page.context().setOffline(true);
    await dialog.getByRole('button', { name: 'Send answer' }).click();
    await dialog.getByText('You are offline, so this was not sent.').waitFor();
    await page.keyboard.press('Escape');
    await openAnswer(names[1]);
    expect(await dialog.getByLabel('Your answer').inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await page.context().setOffline(false);
    await openAnswer(names[0]);
    expect(await dialog.getByLabel('Your answer').inputValue()).toBe('blue');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    // The browser reports each request that it could not send.
    expect(complaints.filter((text) => !/ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED/.test(text))).toEqual([]);
    complaints.length = 0;
    for (const id of ids) await api('POST', `/tasks/${id}/cancel`);
  },
);
