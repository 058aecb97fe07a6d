import { mock } from 'node:test';
import type { Said, Script } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { printPrompt } from '../../src/cli/prompt.ts';
import { readConfig } from '../../src/config.ts';
import { gitOut } from '../support/git.ts';
import { openWorld, type World } from '../support/world.ts';

/** The world of all tests. Each of them plays a different script in it. */
let world: World;
let played: Said[] = [];
/** Called before each model answer. */
let before = async () => {};
beforeAll(async () => {
  const script: Script = (_request, turn) => played[Math.min(turn, played.length - 1)] ?? 'Done.';
  const settings = { SANDBOX: 'off', MODEL_PRICES: '{"scripted":{"input":1,"output":1}}' };
  world = await openWorld(script, { before: () => before(), settings });
});
afterAll(() => world.close());
afterEach(() => {
  before = async () => {};
});

/** Plays a script on a new issue; returns its number. */
async function play(script: Said[]): Promise<number> {
  played = script;
  world.github.pushes.length = 0;
  world.model.requests.length = 0;
  const number = await world.issue('/agent start');
  // Until then the newest task is that of the previous test.
  await until('its task', async () => ((await world.task()) as { issueNumber?: number }).issueNumber === number);
  return number;
}

const budget = (budgets: object) =>
  world.service.api(world.token, 'PATCH', `/projects/${world.project.id}`, { budgets });
const write = (path: string, content = 'x\n') => ({ name: 'write_file', arguments: { path, content } });
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: ['more'] } };

test('giving up is a failure with its reason, also with a NUL and an unpaired surrogate; a retry with a hint continues and succeeds', async () => {
  const giveUp = [{ name: 'give_up', arguments: { reason: 'which file?\0 \ud800' } }];
  // The number of turns selects the answer, so the second run starts the script from the beginning.
  const odd = { name: 'finish', arguments: { summary: 'a\0b', nextSteps: ['\ud800'] } };
  const script: Said[] = [giveUp, [write('hint.txt')], [odd]];
  const number = await play(script);
  const task = await world.taskIn('ready');
  expect(task.failure).toEqual({ category: 'gave_up', message: 'which file?\ufffd \ufffd', retryable: false });
  // The second request asks for the handoff.
  expect(world.model.requests).toHaveLength(2);
  await until('the failed label', async () => (await world.labels(number)).join() === 'agent:failed,agent:ready');
  await until('the reason in the status comment', async () =>
    (await world.comments(number)).some((c) => c.user.login === 'deckhand[bot]' && c.body.includes('which file?')),
  );
  script[0] = [write('hint.txt')];
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/retry`, { text: 'hint.txt it is' });
  const retried = await world.taskIn('in_review');
  expect(retried).toMatchObject({ failure: null, runCount: 2 });
  expect(JSON.stringify(world.model.requests.at(-1))).toContain('hint.txt it is');
});

test('an agent is not offered to split a task that has nearly as many subtasks as one may have, and fails if it has them by then', async () => {
  const subtasks = Array.from({ length: 20 }, (_, n) => ({ title: `Part ${n}`, description: '' }));
  const split = [{ name: 'create_subtasks', arguments: { subtasks } }];
  const insert = (id: string, count: number) =>
    world.sql(
      `insert into tasks (id, project_id, title, description, status, parent_id, created_at)
       select 'task_' || right($1, 20) || lpad(n::text, 6, '0'), project_id, 'Part', '', 'done', id, now() - interval '1 day'
       from tasks, generate_series(1, $2::int) n where tasks.id = $1`,
      [id, count],
    );
  const once = { isDone: false };
  before = async () => {
    if (!once.isDone) await insert((await world.task()).id, 81);
    once.isDone = true;
  };
  await play([split]);
  const task = await world.taskIn('ready');
  expect(task.failure).toEqual({
    category: 'gave_up',
    message: expect.stringContaining('A task has at most 100 subtasks.'),
    retryable: false,
  });
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/retry`, {});
  await until('the second run', async () => (await world.get<object[]>(`/tasks/${task.id}/runs`)).length === 2);
  await world.taskIn('ready');
  expect(JSON.stringify(world.model.requests.at(-1)?.tools)).not.toContain('create_subtasks');
});

test('an agent splits a task of a full sprint into subtasks that are in no sprint', async () => {
  const dates = { startDate: '2026-11-30', endDate: '2026-12-10' };
  const sprints = `/projects/${world.project.id}/sprints`;
  const { id: sprintId } = await world.service.api<{ id: string }>(world.token, 'POST', sprints, {
    name: 'Full',
    ...dates,
  });
  let parent: string | undefined;
  before = async () => {
    if (parent !== undefined) return;
    parent = (await world.task()).id;
    await world.sql(
      `insert into tasks (id, project_id, title, description, status, sprint_id, created_at)
       select 'task_' || right($1, 20) || lpad(n::text, 6, '0'), $2, 'Part', '', 'done', $1, now() - interval '1 day'
       from generate_series(1, 1999) n`,
      [sprintId, world.project.id],
    );
    await world.sql('update tasks set sprint_id = $1 where id = $2', [sprintId, parent]);
  };
  const subtasks = [{ title: 'Part one', description: '' }];
  await play([[{ name: 'create_subtasks', arguments: { subtasks } }], [finish], [finish]]);
  const part = await until('the subtask', async () => {
    const [found] = await world.sql<{ sprintId: string | null }>(
      `select sprint_id as "sprintId" from tasks where title = 'Part one'`,
      [],
    );
    return found ?? false;
  });
  expect(part.sprintId).toBeNull();
  // The run that continues the task must not split it again.
  played = [[finish], [finish]];
  await until('the task done', async () => (await world.get<{ status: string }>(`/tasks/${parent}`)).status === 'done');
});

test('changes made before three such answers become a draft pull request', async () => {
  await play([[write('made.txt')], 'I am done.']);
  const task = await world.taskIn('in_review');
  expect(task.failure).toMatchObject({ category: 'model' });
  expect(await world.get(`/tasks/${task.id}/prs`)).toMatchObject([{ status: 'draft' }]);
  const { handoffs } = await world.get<{ handoffs: { summary: string }[] }>(`/tasks/${task.id}/handoffs`);
  // The model answers the request for a handoff with the same text as everything else.
  expect(handoffs.map(({ summary }) => summary)).toEqual([expect.stringMatching(/^The run failed.*\n\nI am done\.$/s)]);
});

test('the first finish shows the agent its own change, the second one counts; merging by the API twice merges once', async () => {
  await play([[write('made.txt', 'some words\n')], [finish]]);
  const task = await world.taskIn('in_review');
  const told = world.model.requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
  expect(told.filter((text) => text.includes('+some words'))).toHaveLength(1);
  expect(world.model.requests).toHaveLength(3);
  const merge = async () => {
    const headers = { Authorization: `Bearer ${world.token}`, 'Idempotency-Key': 'merge' };
    const answer = await fetch(`${world.service.url}/api/v1/tasks/${task.id}/merge`, { method: 'POST', headers });
    const { status } = (await answer.json()) as { status: string };
    return [answer.status, answer.headers.get('idempotent-replayed'), status];
  };
  expect(await merge()).toEqual([200, null, 'done']);
  expect(await merge()).toEqual([200, 'true', 'done']);
  // Simulates a kill before the reply was stored: merged pull requests are not merged again.
  await world.sql(`update idempotency_keys set status = null, reply = null, process = 'gone' where key = 'merge'`, []);
  expect(await merge()).toEqual([200, null, 'done']);
  await expect(world.service.api(world.token, 'POST', `/tasks/${task.id}/merge`)).rejects.toThrow(/409/);
});

test('finish without a change is done without a pull request; the command `prompt` prints what its run sent first', async () => {
  await play([[finish]]);
  const { id, ...task } = await world.taskIn('done');
  expect(task).toMatchObject({ failure: null, prUrl: null, branchName: null });
  let stdout = '';
  const output = mock.method(process.stdout, 'write', (text: string) => {
    stdout += text;
    return true;
  });
  try {
    await printPrompt(readConfig(world.settings), [id]);
  } finally {
    output.mock.restore();
  }
  const sent = world.model.requests.at(-1)?.messages.slice(0, 2) ?? [];
  for (const { role, content } of sent.slice(0, 1)) expect(stdout).toContain(`===== ${role} =====\n${content}`);
  expect(stdout).toMatch(/# Task: Do something\n\nplease/);
  expect(stdout).toMatch(/===== tools =====\n.*finish/);
  expect(stdout).toMatch(/together: [\d,]+ characters, about [\d,]+ tokens\nTokens are an estimate/);
});

test('a forbidden change is returned to the model once, then fails the run; nothing is pushed', async () => {
  const bad = [write('.github/workflows/ci.yml'), finish];
  await play([bad, [finish]]);
  const task = await world.taskIn('ready');
  expect(task.failure).toMatchObject({
    category: 'push_rejected',
    message: expect.stringContaining('.github/workflows/ci.yml'),
  });
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('refused before the push');
  expect(world.github.pushes).toEqual([]);
});

test('a run that exhausted its budget pushes a draft; a retry goes on with its conversation and marks it ready for review', async () => {
  // The number of turns selects the answer, so a run that starts over would begin with the first one.
  const script: Said[] = [[write('one.txt')], [write('two.txt')], [write('three.txt')], [finish]];
  await budget({ runSteps: 2 });
  const number = await play(script);
  const task = await world.taskIn('in_review');
  const before = world.model.requests.at(-2)?.messages ?? [];
  expect(task.failure).toMatchObject({ category: 'budget', message: expect.stringContaining('2 steps') });
  expect(gitOut(world.github.folderOf('mona/sample'), 'diff', '--name-only', `main...${task.branchName}`)).toBe(
    'one.txt\ntwo.txt',
  );
  expect(await world.get(`/tasks/${task.id}/prs`)).toMatchObject([{ status: 'draft' }]);
  await expect(world.service.api(world.token, 'POST', `/tasks/${task.id}/merge`)).rejects.toThrow(/409.*draft/);
  await budget({ runSteps: null });
  await world.github.as('mona')('POST', `/repos/mona/sample/issues/${number}/comments`, { body: 'Count to three.' });
  await world.service.api(world.token, 'PATCH', `/tasks/${task.id}`, { budget: { steps: 3 } });
  world.model.requests.length = 0;
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/retry`, { text: 'No more than three.' });
  expect(await world.taskIn('in_review')).toMatchObject({
    failure: null,
    branchName: task.branchName,
    runCount: 2,
  });
  expect(await world.get(`/tasks/${task.id}/prs`)).toMatchObject([{ status: 'open' }]);
  const { files } = await world.get<{ files: { path: string }[] }>(`/tasks/${task.id}/diff`);
  expect(files.map((f) => f.path)).toEqual(['one.txt', 'three.txt', 'two.txt']);
  const first = world.model.requests[0]?.messages ?? [];
  expect(first.slice(0, before.length)).toEqual(before);
  expect(first.at(-1)?.content).toMatch(
    /^\[A new run continues here\] .*2 steps is used up.*No more than three\..*### mona on the issue.*Count to three\./s,
  );
  const [run] = await world.get<{ kind: string; steps: number }[]>(`/tasks/${task.id}/runs`);
  // The third file, and two calls of `finish`.
  expect(run).toMatchObject({ kind: 'retry', steps: 3 });
});

test('cancel stops a run that waits for its model, and nothing is pushed', async () => {
  let isAsked = false;
  before = async () => {
    isAsked = true;
    await new Promise(() => {});
  };
  await play([[write('one.txt'), finish]]);
  await until('the model to be asked', async () => isAsked);
  const { id } = await world.task();
  expect(await world.service.api(world.token, 'POST', `/tasks/${id}/cancel`)).toMatchObject({
    status: 'ready',
    failure: null,
  });
  await world.taskIn('ready');
  const [run] = await world.get<{ status: string }[]>(`/tasks/${id}/runs`);
  expect(run?.status).toBe('cancelled');
  expect(world.github.pushes).toEqual([]);
});

/** Plays a script until the model is asked for its n-th answer, which it never gives. Returns the task. */
async function playUntilAsked(n: number, script: Said[]): Promise<string> {
  let asked = 0;
  before = async () => {
    asked++;
    if (asked >= n) await new Promise(() => {});
  };
  await play(script);
  await until('the model to be asked', async () => asked >= n);
  return (await world.task()).id;
}

const projectSpend = async () =>
  (await world.get<{ total: { costUsd: number } }>(`/projects/${world.project.id}/spend`)).total.costUsd;

test('a run that is cancelled while a tool of its first turn runs has paid for the answer that called the tool', async () => {
  const earlier = await projectSpend();
  const id = await playUntilAsked(2, [[{ name: 'explore', arguments: { question: 'where is it?' } }]]);
  const costOfRun = async () => (await world.get<{ costUsd: number }[]>(`/tasks/${id}/runs`))[0]?.costUsd ?? 0;
  // 800 tokens of input and 60 of output.
  expect(await costOfRun()).toBeCloseTo(0.00086, 6);
  await world.service.api(world.token, 'POST', `/tasks/${id}/cancel`);
  await until('the broken answer to be paid', async () => (await costOfRun()) > 0.00087);
  expect((await projectSpend()) - earlier).toBeCloseTo(await costOfRun(), 6);
});

test('deleting a task before its worker notices the cancel does not save the cost of the answer that was broken off', async () => {
  const earlier = await projectSpend();
  const id = await playUntilAsked(1, [[finish]]);
  // The worker would usually pay between two requests of the API.
  await world.sql('delete from tasks where id = $1', [id]);
  await until('the broken answer to be paid', async () => (await projectSpend()) > earlier);
});
