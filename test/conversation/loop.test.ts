import { Parked } from '../../src/conversation/ending.ts';
import { converse } from '../../src/conversation/loop.ts';
import { type Message, ModelFailed } from '../../src/llm/model.ts';
import { call, finish, loopContext, read, toolHost, upToSteps } from '../support/stand-ins/agent-loop.ts';

const opening: Message[] = [{ role: 'user', content: 'the task' }];
const start = (given: ReturnType<typeof loopContext>, before: Message[] = []) =>
  converse(given.context, [...opening, ...before]);
const failsWith = (category: string, message: string | RegExp) => ({
  failure: { category, message: expect.stringMatching(message) },
});

describe('endings', () => {
  test('finish ends the conversation; its texts are cleaned and truncated', async () => {
    const steps = Array.from({ length: 25 }, () => 'x'.repeat(600));
    const given = loopContext([[finish(`hunter2 ${'y'.repeat(20_000)}`, steps)]]);
    const { finish: made } = await start(given);
    expect(made.summary).toMatch(/^\*\*\* y+\n\[… \d+ characters cut …\]$/);
    expect(made.summary.length).toBeLessThan(10_100);
    expect(made.nextSteps.map((step) => step.length)).toEqual(Array(20).fill(500));
    expect(given.kept).toHaveLength(1);
  });

  test('create_subtasks ends the conversation with the subtasks', async () => {
    const subtasks = [{ title: 'one hunter2', description: 'd' }];
    expect(await start(loopContext([[call('create_subtasks', { subtasks })]]))).toEqual({
      finish: { summary: 'Split into 1 subtasks.', nextSteps: ['one ***'] },
      subtasks: [{ title: 'one ***', description: 'd' }],
      trees: {},
    });
  });

  test('give_up fails the run with its reason, after the turn is stored; later calls are not executed', async () => {
    const given = loopContext([
      [call('write_file', { path: 'a', content: '' }), call('give_up', { reason: 'hunter2?' }), read('b')],
    ]);
    await expect(start(given)).rejects.toMatchObject(failsWith('gave_up', /^\*\*\*\?$/));
    expect(given.called).toEqual(['write_file']);
    expect(given.kept).toMatchObject([{ changed: true }]);
    // Every call has a result, so that the model can still be asked for a handoff.
    expect(given.kept[0]?.turn.map((m) => m.content)).toEqual(['', 'fine', 'ok', expect.stringMatching(/^not run/)]);
  });

  test('calls after an ending in the same answer are not executed', async () => {
    const given = loopContext([[read('a'), finish(), call('write_file', { path: 'a', content: '' }), read('b')]]);
    await start(given);
    expect(given.called).toEqual(['read_file']);
    expect(given.kept[0]?.turn.slice(3)).toMatchObject(
      Array(2).fill({ role: 'tool', content: 'not run: an earlier call in this reply ended the run' }),
    );
  });
});

test('what people say is read before the next turn and stored with it', async () => {
  const said = [[], ['Use tabs.', 'No semicolons.'], []];
  const given = loopContext([[read('a')], [read('b')], [finish()]], {
    hear: async () => (said[given.kept.length] ?? []).map((content) => ({ role: 'user' as const, content })),
  });
  await start(given);
  expect(given.seen[1]?.messages.slice(-2).map((m) => m.content)).toEqual(said[1]);
  expect(given.kept.map(({ turn }) => turn.map((m) => m.role))).toEqual([
    ['assistant', 'tool'],
    ['user', 'user', 'assistant', 'tool'],
    ['assistant', 'tool'],
  ]);
  expect(given.seen[2]?.messages.slice(0, 5)).toEqual(given.seen[1]?.messages);
});

test.each([
  ['a question', 'ask_person', { question: 'Tabs?' }],
  ['a plan', 'propose_plan', { markdown: 'Use spaces.', files: ['a'] }],
])('%s does not wait for people while something that they said is unread', async (_what, name, args) => {
  const given = loopContext([[call(name, args), read('a')], [call(name, args)]], {
    offered: { hasShell: true, maySplit: true, plan: 'always' },
    hear: async () => (given.kept.length === 1 ? [{ role: 'user', content: 'Use tabs.' }] : []),
    hasMore: async () => given.kept.length === 0,
  });
  await expect(start(given)).rejects.toThrow(Parked);
  expect(given.seen[1]?.messages.slice(-3).map(({ content }) => content)).toEqual([
    expect.stringMatching(/^Nobody has seen this, .* call (ask_person|propose_plan) again/),
    'fine',
    'Use tabs.',
  ]);
  expect(given.kept.map(({ wait }) => wait !== undefined)).toEqual([false, true]);
});

test('the log lists the calls of an answer, and then each with its outcome, without any part of a secret', async () => {
  const long = `${'x'.repeat(112)}hunter2`;
  const commands = [call('run_command', { command: long }), call('run_command', { command: 'false' })];
  const { host } = toolHost((_tool, { command }: { command?: string }) =>
    command === 'false' ? { ok: true, text: 'exit code 1', exitCode: 1 } : { ok: false, text: 'no such file' },
  );
  const logged: { text: string; data: object }[] = [];
  const given = loopContext([commands, [finish()]], {
    host,
    note: async (_type, text, data = {}) => void logged.push({ text, data }),
  });
  await start(given);
  const [first, second] = [`run_command ${'x'.repeat(112)}***`, 'run_command false'];
  expect(logged).toMatchObject([
    { text: 'scripted answered', data: { calls: [first, second], ms: expect.any(Number) } },
    { text: first, data: { ok: false, call: 0, ms: expect.any(Number) } },
    { text: second, data: { ok: true, call: 1, exitCode: 1 } },
    { text: 'scripted answered', data: { calls: ['finish'] } },
  ]);
});

test('a question is stored with its turn and leaves the worker; later calls in the answer are not run', async () => {
  const waits: unknown[] = [];
  const ask = call('ask_person', { question: 'Is it hunter2?', options: ['yes', 'no'] });
  const given = loopContext([[call('write_file', { path: 'a', content: '' }), ask, read('b'), finish()]], {
    keep: async (turn, _reply, changed, wait) => {
      given.kept.push({ turn, changed });
      waits.push(wait);
    },
  });
  await expect(start(given)).rejects.toThrow('the run waits');
  expect(waits).toEqual([{ reason: 'question', text: 'Is it ***?', options: ['yes', 'no'] }]);
  expect(given.called).toEqual(['write_file']);
  expect(given.kept).toMatchObject([{ changed: true }]);
  expect(given.kept[0]?.turn.slice(2).map((m) => m.content)).toEqual([
    'The question was asked. The next message has the answer.',
    ...Array(2).fill('not run: the run waits for people first; call it again after that'),
  ]);
});

describe('the check of an ending', () => {
  test('an objection is sent to the model, which has to end again; the evidence becomes part of the ending', async () => {
    const lengths: number[] = [];
    const given = loopContext([[finish('first')], [read('a')], [finish('second')]], {
      judge: async (ending, messages) => {
        lengths.push(messages.length);
        if (ending.finish.summary === 'first') return { accepted: false, objection: 'The checks failed.' };
        return { accepted: true, evidence: { trees: {}, checks: [] } };
      },
    });
    const ending = await start(given);
    expect(ending).toEqual({ finish: { summary: 'second', nextSteps: [] }, trees: {}, checks: [] });
    expect(given.seen[1]?.messages.slice(-2).map((m) => m.content)).toEqual([
      'The run has not ended. Read the next message.',
      'The checks failed.',
    ]);
    expect(given.notes).toContain('loop: the agent was told: The checks failed.');
    // The check receives the conversation with the turn of the ending, so that it knows what this turn used.
    expect(lengths).toEqual([3, 8]);
    expect(given.kept).toHaveLength(3);
  });

  test('an error of the check fails the run, and the turn is not stored', async () => {
    const error = new Error('git is away');
    const given = loopContext([[finish()]], { judge: () => Promise.reject(error) });
    await expect(start(given)).rejects.toBe(error);
    expect(given.kept).toEqual([]);
  });
});

describe('limits', () => {
  const spent = { steps: 0, tokens: 0, costUsd: 0, dayCostUsd: 0, minutes: 0 };
  test.each([
    ['steps', { steps: 99 }, /99 steps is used up \(limit of the service\)/],
    ['tokens', { tokens: 9999 }, /9999 tokens/],
    ['dollars', { costUsd: 9 }, /\$9 for a run/],
    ['dollars of the day', { dayCostUsd: 9 }, /\$9 a day/],
  ])('an exhausted budget of %s fails the run before the model is called', async (_what, used, message) => {
    const given = loopContext([[finish()]], { spent: async () => ({ ...spent, ...used }) });
    await expect(start(given)).rejects.toMatchObject(failsWith('budget', message));
    expect(given.seen).toEqual([]);
  });

  test('a budget that is exhausted during the run ends it after the turn', async () => {
    const given = loopContext([[read('a')], [read('b')], [read('c')]]);
    given.context.limits = upToSteps(2, 'project');
    await expect(start(given)).rejects.toMatchObject(failsWith('budget', /2 steps .*\(limit of the project\)/));
    expect(given.kept).toHaveLength(2);
  });

  test('limits that people change during the run count from the next turn', async () => {
    const given = loopContext([[read('a')], [read('b')], [read('c')], [finish()]]);
    given.context.limits = async () => upToSteps(given.kept.length < 2 ? 9 : 2, 'task')();
    await expect(start(given)).rejects.toMatchObject(failsWith('budget', /2 steps .*\(limit of the task\)/));
    expect(given.kept).toHaveLength(2);
  });

  test('at most 100 calls of one answer are executed, and the results of the others say that they were not', async () => {
    const given = loopContext([Array.from({ length: 130 }, (_, i) => read(`f${i}`)), [finish()]]);
    await start(given);
    expect(given.called).toHaveLength(100);
    expect(given.kept[0]?.turn.filter((m) => m.content === 'not run: over 100 calls')).toHaveLength(30);
  });
});

describe('a model that fails', () => {
  test.each(['auth', 'rate_limit', 'model'] as const)('%s is the category of the failed run', async (fault) => {
    const given = loopContext([new ModelFailed(fault, 'the model says no')]);
    await expect(start(given)).rejects.toMatchObject(failsWith(fault, /^the model says no$/));
    expect(given.kept).toEqual([]);
  });

  test('a server that asks to wait parks the run', async () => {
    const given = loopContext([new ModelFailed('rate_limit', 'HTTP 429', { isTransient: true, retryAfterMs: 7000 })]);
    await expect(start(given)).rejects.toMatchObject({
      name: 'ModelUnavailable',
      retryAfterMs: 7000,
      failure: { category: 'rate_limit', message: 'HTTP 429', retryable: true },
    });
    expect(given.kept).toEqual([]);
  });

  test('any other error is passed on unchanged', async () => {
    const error = new TypeError('a bug of ours');
    await expect(start(loopContext([error]))).rejects.toBe(error);
  });
});

describe('an abort', () => {
  const reason = new Error('cancelled');
  test('before a turn ends the conversation without calling the model', async () => {
    const given = loopContext([[finish()]], { signal: AbortSignal.abort(reason) });
    await expect(start(given)).rejects.toBe(reason);
    expect(given.seen).toEqual([]);
  });

  test('during a call ends the conversation before the next call, and the turn is not stored', async () => {
    const controller = new AbortController();
    const { host, called } = toolHost(() => {
      controller.abort(reason);
      return { ok: true, text: 'fine' };
    });
    const given = loopContext([[read('a'), read('b')]], { host, signal: controller.signal });
    await expect(start(given)).rejects.toBe(reason);
    expect([called, given.kept]).toEqual([['read_file'], []]);
  });
});

test('a turn is stored before the next begins, and says whether the workspace may have changed', async () => {
  const given = loopContext([[read('a')], [call('run_command', { command: 'make' })], [finish()]]);
  await start(given);
  expect(given.kept.map(({ changed }) => changed)).toEqual([false, true, false]);
  expect(given.kept[1]?.turn.map((m) => m.role)).toEqual(['assistant', 'tool']);
  expect(given.notes).toEqual(
    expect.arrayContaining(['tool: read_file a', 'tool: run_command make', 'model: scripted answered']),
  );
  expect(given.seen[0]?.tools).toEqual(expect.arrayContaining(['run_command', 'create_subtasks', 'finish', 'give_up']));
});

test('the run of a subtask has no tool for splitting, and without a sandbox there is no shell', async () => {
  const given = loopContext([[call('create_subtasks', { subtasks: [] })], [finish()]], {
    offered: { hasShell: false, maySplit: false },
  });
  await start(given);
  expect(given.seen[0]?.tools).not.toEqual(expect.arrayContaining(['run_command']));
  expect(given.kept[0]?.turn[1]?.content).toMatch(/^Error: there is no tool create_subtasks; /);
});
