import { factsOf } from '../../src/conversation/facts.ts';
import { askForHandoff } from '../../src/conversation/handoff.ts';
import { openingMessages } from '../../src/conversation/prompts.ts';
import { ModelFailed } from '../../src/llm/model.ts';
import { call, finish, loopContext, type Scripted } from '../support/stand-ins/agent-loop.ts';

type Briefing = Parameters<typeof openingMessages>[0];

const briefing = (more: Partial<Briefing> = {}): Briefing => ({
  agent: { systemPrompt: 'You are careful.' } as Briefing['agent'],
  task: { title: 'Fix it', description: 'It is broken.' } as Briefing['task'],
  run: { instructions: '' },
  hasShell: true,
  repositoryName: 'sample',
  map: 'src/',
  handoffs: [],
  related: [],
  instructions: '### AGENTS.md\nUse tabs.',
  checks: ['npm test'],
  others: [],
  sections: [],
  conflicts: [],
  ...more,
});
const handoff = (i: number, summary = `Attempt ${i}.`) =>
  ({ summary, nextSteps: [`step ${i}`] }) as Briefing['handoffs'][number];

test('the prompt has the working rules, the role, the instructions of the repository, and what is data, in this order', () => {
  const [system, user] = openingMessages(briefing());
  const order = [
    '**Find.**',
    '**Reproduce.**',
    '**Change.**',
    '**Verify.**',
    '**Clean up.**',
    'sandbox',
    'careful',
    'Use tabs',
  ];
  const at = [...order, 'What is data'].map((text) => system?.content.indexOf(text) ?? -1);
  expect(at).toEqual([...at].sort((a, b) => a - b));
  expect(at[0]).toBeGreaterThan(0);
  expect(system?.content.length).toBeLessThan(2500);
  expect(user?.content).toMatch(/^# Task: Fix it\n\nIt is broken\./);
});

test('the agent gets no text of a task that is invisible to people', () => {
  const tagged = [...'Open secret'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
  const task = { ...briefing().task, description: `Greet.${tagged}` };
  expect(openingMessages(briefing({ task }))[1]?.content).not.toContain(tagged);
});

test('prompts of different agents, tasks and repositories begin alike', () => {
  const [one] = openingMessages(briefing());
  const [other] = openingMessages(briefing({ agent: { systemPrompt: '' } as Briefing['agent'], instructions: '' }));
  const common = [...(one?.content ?? '')].findIndex((letter, i) => letter !== other?.content[i]);
  expect(common).toBeGreaterThan(1000);
});

test('a run sees the handoff of each earlier run: the last five whole, of older ones the beginning', () => {
  const long = handoff(0, `Attempt 0 ${'x'.repeat(5000)} end`);
  const [, user] = openingMessages(briefing({ handoffs: [long, ...[1, 2, 3, 4, 5].map((i) => handoff(i))] }));
  expect(user?.content).toContain('Attempt 0 x');
  expect(user?.content).not.toContain('x end');
  expect(user?.content).not.toContain('step 0');
  for (const i of [1, 5]) expect(user?.content).toContain(`Attempt ${i}.\n- next: step ${i}`);
  const many = Array.from({ length: 60 }, (_, i) => handoff(i));
  expect(openingMessages(briefing({ handoffs: many }))[1]?.content).toContain('[10 older handoffs are left out]');
});

describe('the handoff of a run that failed', () => {
  const failure = { category: 'budget' as const, message: 'the budget is used up', retryable: false };
  const messages = [
    { role: 'user' as const, content: 'the task' },
    { role: 'assistant' as const, content: 'Looking.', toolCalls: [call('read_file', { path: 'a.ts' })] },
  ];
  const ask = (script: Scripted[], signal = new AbortController().signal) => {
    const given = loopContext(script);
    return { given, told: askForHandoff(given.context, messages, failure, signal) };
  };

  test('is what the model answers to one more question, which continues the conversation', async () => {
    const { given, told } = ask(['I found hunter2 in a.ts.']);
    expect(await told).toEqual({ summary: 'I found *** in a.ts.', nextSteps: [] });
    expect(given.seen[0]?.messages.slice(0, 2)).toEqual(messages);
    expect(given.seen[0]?.messages[2]?.content).toContain('the budget is used up');
    expect(given.seen[0]?.options).toEqual({ maxOutputTokens: 2000 });
  });

  test('may also be given as a call of finish', async () => {
    expect(await ask([[finish('Half done.', ['the rest'])]]).told).toEqual({
      summary: 'Half done.',
      nextSteps: ['the rest'],
    });
  });

  test.each<[string, Scripted[]]>([
    ['fails', [new ModelFailed('model', 'away')]],
    ['says nothing', ['  ']],
    ['calls another tool', [[call('read_file', { path: 'b.ts' })]]],
  ])('is missing when the model %s', async (_what, script) => {
    const { given, told } = ask(script);
    expect(await told).toBeUndefined();
    expect(given.seen).toHaveLength(1);
  });

  test('is not asked for when there was no turn, and not waited for when the worker loses the run', async () => {
    const given = loopContext([]);
    expect(
      await askForHandoff(given.context, messages.slice(0, 1), failure, new AbortController().signal),
    ).toBeUndefined();
    const lost = new Error('lost');
    await expect(ask(['x'], AbortSignal.abort(lost)).told).rejects.toBe(lost);
  });
});

test('the facts of a conversation: files by what was done with them, commands with their outcome', () => {
  const said = (id: string, name: string, args: object, result: string) => [
    { role: 'assistant' as const, content: '', toolCalls: [{ id, name, arguments: JSON.stringify(args) }] },
    { role: 'tool' as const, toolCallId: id, content: result },
  ];
  const patch = '*** Begin Patch\n*** Update File: src/d.ts\n@@\n*** End Patch';
  expect(
    factsOf([
      // Some servers use the same id for every call.
      ...said('0', 'read_file', { path: 'src/a.ts' }, '1 code'),
      ...said('0', 'read_file', { path: 'src/b.ts' }, 'Error: no such file'),
      ...said('0', 'str_replace', { file_path: './src/c.ts', old_str: 'x', new_str: 'y' }, 'replaced'),
      ...said('0', 'read_file', { path: 'src/c.ts' }, 'code'),
      // Calls as other agents write them.
      ...said('0', 'Read', { file_path: 'src/e.ts' }, 'code'),
      ...said('0', 'str_replace_editor', { command: 'insert', path: 'src/f.ts', insert_line: 1, new_str: 'x' }, 'ok'),
      ...said('0', 'execute_bash', { cmd: 'make' }, 'exit code 0'),
      ...said('0', 'apply_patch', { patch }, 'ok'),
      ...said('0', 'run_command', { command: 'npm test\nmore' }, 'exit code 1\nlots of output'),
      { role: 'assistant', content: 'Nearly there.', toolCalls: [] },
    ]),
  ).toBe(
    [
      '10 turns of the model.',
      'Files changed:\n- src/c.ts\n- src/f.ts\n- src/d.ts',
      'Files read:\n- src/a.ts\n- src/e.ts',
      'Commands:\n- make → exit code 0\n- npm test → exit code 1',
      "The model's last words: Nearly there.",
    ].join('\n\n'),
  );
});
