import { tellingOfLostProcesses } from '../../src/conversation/tools/command-tools.ts';
import { callTool, describeCall, toolSpecs } from '../../src/conversation/tools.ts';
import { type Message, ModelFailed } from '../../src/llm/model.ts';
import { call, loopContext, type Scripted, toolHost } from '../support/stand-ins/agent-loop.ts';

const everything = { hasShell: true, maySplit: true };
const names = (offered: Parameters<typeof toolSpecs>[0]) => toolSpecs(offered).map(({ name }) => name);

/** Creates a context that records the tools' calls with their arguments. */
function recorded(script: Scripted[] = [], more: Parameters<typeof loopContext>[1] = {}) {
  const calls: [string, object][] = [];
  const { host } = toolHost((tool, args) => {
    calls.push([tool, args]);
    return { ok: true, text: `${tool} ran` };
  });
  return { ...loopContext(script, { host, ...more }), calls };
}

test('the offered tools are those of the interface', () => {
  expect(names(everything)).toEqual(
    'list_files read_file search write_file edit_file apply_patch delete_file run_command start_process read_output stop_process open_repository note_plan explore ask_person create_subtasks finish give_up'.split(
      ' ',
    ),
  );
  expect(names({ ...everything, submodules: true })).toContain('set_submodule');
  const poor = names({ hasShell: false, maySplit: false });
  expect(poor).not.toEqual(expect.arrayContaining(['run_command']));
  expect(poor.filter((name) => /process|output|command|subtasks/.test(name))).toEqual([]);
  for (const { description } of toolSpecs({ ...everything, submodules: true }))
    expect(description.length).toBeLessThan(500);
});

test('until a plan is approved, no tool that changes files is offered or understood', async () => {
  const mcp = { specs: [{ name: 'docs__put', description: 'd', parameters: {} }], call: async () => never() };
  const never = () => Promise.reject(new Error('called'));
  const planning = { ...everything, plan: 'always' as const, submodules: true, mcp };
  expect(names(planning)).toEqual(
    'list_files read_file search run_command start_process read_output stop_process open_repository note_plan explore ask_person propose_plan finish give_up'.split(
      ' ',
    ),
  );
  const { context, calls } = recorded([], { offered: planning });
  const patch = '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch';
  for (const each of [
    call('write_file', { path: 'a', content: 'x' }),
    call('str_replace_editor', { command: 'create', path: 'a', file_text: 'x' }),
    call('apply_patch', { patch }),
    call('run_command', { command: `apply_patch <<'EOF'\n${patch}\nEOF` }),
    call('create_subtasks', { subtasks: [{ title: 't', description: 'd' }] }),
    call('set_submodule', { path: 'lib', commit: 'main' }),
    call('docs__put', {}),
  ])
    expect(await callTool(context, each)).toMatchObject({
      isInvalid: true,
      text: expect.stringContaining('a person has to approve a plan'),
    });
  expect(calls).toEqual([]);
  const offered = names({ ...everything, plan: 'large' });
  expect(offered).toEqual(expect.arrayContaining(['propose_plan', 'write_file', 'create_subtasks']));
});

test('a plan is proposed with its files; one that names every file is refused', async () => {
  const { context } = recorded([], { offered: { ...everything, plan: 'always' } });
  const plan = { markdown: '# Use hunter2', files: ['src/**'], checks: ['npm test'] };
  expect(await callTool(context, call('propose_plan', plan))).toMatchObject({
    kind: 'wait',
    wait: { reason: 'plan', text: '# Use ***', options: [], plan: { files: ['src/**'], checks: ['npm test'] } },
  });
  const everyFile = await callTool(context, call('propose_plan', { markdown: 'x', files: ['**/*'] }));
  expect(everyFile).toMatchObject({ ok: false, text: expect.stringContaining('match every file') });
  expect(await callTool({ ...context, offered: everything }, call('propose_plan', plan))).toMatchObject({ ok: false });
});

test('tools of MCP servers are offered beside ours, under their exact names, with readable arguments', async () => {
  const asked: string[] = [];
  const mcp = {
    specs: [{ name: 'docs__bash', description: 'd', parameters: {} }],
    call: async (name: string, text: string) => {
      asked.push(`${name} ${text}`);
      return { ok: text !== 'no', text: 'answer' };
    },
  };
  const { context, calls } = recorded([], { offered: { ...everything, mcp } });
  expect(names(context.offered).at(-1)).toBe('docs__bash');
  expect(await callTool(context, call('docs__bash', '{"a": 1,}'))).toMatchObject({ ok: true, text: 'answer' });
  expect(await callTool(context, call('docs__bash', 'no'))).toMatchObject({ ok: false, text: 'Error: answer' });
  expect([asked, calls]).toEqual([['docs__bash {"a":1}', 'docs__bash no'], []]);
});

test('invalid calls are marked as such; a tool that refuses is not', async () => {
  const { context } = recorded();
  const odd = call('str_replace_editor', { command: 'constructor', path: 'a' });
  for (const invalid of [
    odd,
    call('constructor'),
    call(''),
    call('nothing'),
    call('read_file', {}),
    call('read_file', '{"path": "a"'),
  ])
    expect(await callTool(context, invalid, { isCut: true })).toMatchObject({
      ok: false,
      isInvalid: true,
      changed: false,
    });
  const { host } = toolHost(() => ({ ok: false, text: 'there is no file' }));
  expect(await callTool({ ...context, host }, call('read_file', { path: 'a' }))).toEqual({
    kind: 'answer',
    text: 'Error: there is no file',
    ok: false,
    changed: false,
  });
});

test('without a shell, aliases of the shell get no other tool', async () => {
  const { context, calls } = recorded([], { offered: { hasShell: false, maySplit: true } });
  expect(await callTool(context, call('bash', { command: 'ls' }))).toMatchObject({
    text: expect.stringContaining('there is no shell here'),
  });
  expect(calls).toEqual([]);
});

test.each([
  [call('Bash', { command: 'make', timeout: 90_000 }), 'run_command make'],
  [
    call('apply_patch', {
      patch: '*** Begin Patch\n*** Delete File: a.js\n*** Update File: b.js\n@@\n-a\n+b\n*** End Patch',
    }),
    'apply_patch a.js b.js',
  ],
  [call('start_process', { name: 'dev', command: 'npm start' }), 'start_process dev: npm start'],
  [call('str_replace_editor', { command: 'view', path: 'a.js' }), 'read_file a.js'],
  [call('reply_to_comment', { comment: 'c1', text: 'done' }), 'answer_comment c1'],
  [call('x__y', { name: 'n' }), 'x__y n'],
  [call('read_file', '{'), 'read_file'],
])('%j is described in a few words', (made, description) => expect(describeCall(made)).toBe(description));

test('a command in the background becomes a process; a patch for another repository goes there', async () => {
  const { context, calls } = recorded();
  await callTool(context, call('Bash', { command: 'npm run dev', run_in_background: true }));
  const patch = '*** Begin Patch\n*** Add File: ../Docs/a.md\n+a\n*** End Patch';
  await callTool(context, call('apply_patch', { patch }));
  expect(calls).toEqual([
    ['start_process', { command: 'npm run dev', name: 'npm' }],
    ['apply_patch', { patch: patch.replace('../Docs/', ''), path: '../Docs/.' }],
  ]);
  const both = `${patch.replace('*** End Patch', '')}*** Add File: b.md\n+b\n*** End Patch`;
  expect(await callTool(context, call('apply_patch', { patch: both }))).toMatchObject({ isInvalid: true });
  expect(calls).toHaveLength(2);
});

test('a plan is a line of the log with the steps as data', async () => {
  const noted: unknown[] = [];
  const { context } = recorded([], { note: async (...line) => void noted.push(line) });
  const steps = [
    { text: 'read', status: 'done' },
    { text: 'change', status: 'doing' },
  ];
  await callTool(context, call('note_plan', { steps }));
  expect(noted).toEqual([['plan', '1 of 2 steps are done; now: change', { steps }]]);
});

describe('explore', () => {
  const ask = call('explore', { question: 'where is it?' });

  test('answers after reading; it offers only reading, and its tokens count', async () => {
    const script: Scripted[] = [
      [call('grep', { pattern: 'x' }), call('write_file', { path: 'a', content: '' })],
      'In a.js, line 3.',
    ];
    const { context, calls, seen } = recorded(script);
    expect(await callTool(context, ask)).toEqual({
      kind: 'answer',
      text: 'In a.js, line 3.',
      ok: true,
      changed: false,
    });
    expect(calls).toEqual([['search', { pattern: 'x', regex: true }]]);
    expect(seen[0]?.tools).toEqual(['list_files', 'read_file', 'search']);
    expect(seen[1]?.messages.at(-1)?.content).toMatch(/no tool write_file/);
  });

  test('has to answer after twelve turns, in a bounded length', async () => {
    const script: Scripted[] = [...Array(11).fill([call('read_file', { path: 'a' })]), 'y'.repeat(20_000)];
    const { context, seen } = recorded(script);
    const result = await callTool(context, ask);
    expect([seen.length, seen.at(-1)?.messages.at(-1)?.content]).toEqual([
      12,
      expect.stringMatching(/^Answer the question now/),
    ]);
    expect(result).toMatchObject({ ok: true, text: expect.stringMatching(/^y{8000}\n\[… 12000 characters cut …\]$/) });
  });

  test('reads less for a model with a small window', async () => {
    const script: Scripted[] = [Array.from({ length: 5 }, () => call('read_file', { path: 'a' })), 'In a.js.'];
    const { context, calls, seen } = recorded(script);
    context.host.call = async (tool, args) => {
      calls.push([tool, args]);
      return { ok: true, text: 'x'.repeat(5000) };
    };
    context.model.window = () => 4000;
    expect(await callTool(context, ask)).toMatchObject({ ok: true, text: 'In a.js.' });
    // Two results are more than half of 4,000 tokens.
    expect(calls).toHaveLength(2);
    expect(seen.at(-1)?.messages.at(-1)?.content).toMatch(/^Answer the question now/);
  });

  test.each<[string, Scripted[], number, RegExp]>([
    ['a model that fails', [new ModelFailed('rate_limit', 'slow down')], 0, /failed: slow down/],
    ['an empty answer', [' '], 0, /without an answer/],
    ['a used-up budget', ['never asked'], 99, /stopped: .*99 steps/],
  ])('%s is an answer, not the end of the run', async (_what, script, steps, text) => {
    const spent = async () => ({ steps, tokens: 0, costUsd: 0, dayCostUsd: 0, minutes: 0 });
    const { context } = recorded(script, { spent });
    expect(await callTool(context, ask)).toMatchObject({ ok: false, text: expect.stringMatching(text) });
  });
});

test('after a takeover the agent learns once which processes are gone', async () => {
  const turn = (...toolCalls: ReturnType<typeof call>[]): Message => ({ role: 'assistant', content: '', toolCalls });
  const { host } = toolHost();
  const before = [
    turn(call('start_process', { name: 'dev', command: 'x' }), call('start_process', { name: 'old', command: 'x' })),
    turn(call('stop_process', { name: 'old' })),
  ];
  const told = tellingOfLostProcesses(host, before);
  expect((await told.call('read_file', {})).text).toBe('fine');
  expect((await told.call('run_command', {})).text).toMatch(
    /^\[another worker continues this run, .* ended: dev; start/,
  );
  expect((await told.call('run_command', {})).text).toBe('fine');
  expect(tellingOfLostProcesses(host, before.slice(1))).toBe(host);
});
