import type { ChatMessage } from '../../bench/eval/oracle/conversation.ts';
import { faultsAt } from '../../bench/eval/oracle/faults.ts';
import type { Assignment } from '../../bench/eval/oracle/policy.ts';
import { prefixCache } from '../../bench/eval/oracle/prefix-cache.ts';
import { answerTo, oracleModel, startOracle } from '../../bench/eval/oracle/server.ts';
import { changed, filesOf } from '../../bench/eval/repository/changes.ts';
import type { EvalTask, Files } from '../../bench/eval/tasks/task.ts';

const task: EvalTask = {
  id: 'doors',
  title: 'The door opens to the wrong side',
  issue: 'It should open to the left.',
  language: 'JavaScript',
  traits: ['written'],
  programs: ['node'],
  repository: async () => files,
  testCommand: 'npm test',
  gold: [
    { file: 'src/door.js', find: "return 'right';\n}\n\nfunction side", replace: "return 'left';\n}\n\nfunction side" },
    { file: 'src/door.js', find: 'const opens = false', replace: 'const opens = true' },
    { file: 'src/window.js', content: "export const pane = 'glass';\n" },
    { file: 'old.js', isRemoved: true },
  ],
  cheats: [],
  hidden: { files: {}, command: 'true' },
};
const files = filesOf({
  'src/door.js': "const opens = false;\nfunction open() {\n  return 'right';\n}\n\nfunction side() {}\n",
  'old.js': 'x\n',
});
const assignments: Assignment[] = [{ task, files }];

const names = ['list_files', 'search', 'read_file', 'edit_file', 'write_file', 'delete_file', 'run_command', 'finish'];
const tools = names.map((name) => ({ function: { name } }));

/** A loop that treats every error as an observation, with tools that work on files in memory. */
function conversationOf(model: string) {
  const messages: ChatMessage[] = [{ role: 'user', content: `# Task: ${task.title}` }];
  const now = new Map(files);
  for (let turn = 0; turn < 200; turn++) {
    const answer = answerTo({ model, messages, tools }, assignments);
    const calls = answer.calls.map((call, i) => ({ id: `${turn}-${i}`, function: call }));
    messages.push({ role: 'assistant', content: answer.text, tool_calls: calls });
    if (calls.length === 0) messages.push({ role: 'user', content: 'Call a tool.' });
    for (const { id, function: call } of calls) {
      const content = result(now, call);
      if (content === undefined) return { now, messages };
      messages.push({ role: 'tool', tool_call_id: id, content });
    }
  }
  throw new Error('the policy did not finish');
}

/** Returns what a tool answers, or undefined for a valid call of finish. */
function result(now: Files, call: { name: string; arguments: string }): string | undefined {
  const given = parsed(call.arguments);
  const answer = given === undefined ? undefined : answers[call.name];
  return answer === undefined || given === undefined ? 'Error: invalid call' : answer(given, now);
}

const answers: Record<string, (given: Record<string, string>, now: Files) => string | undefined> = {
  list_files: () => 'src/',
  search: () => 'src/door.js:1: x',
  finish: ({ summary, nextSteps }) => (summary && nextSteps ? undefined : 'Error: nextSteps is required'),
  run_command: ({ command }) => (command === 'npm test' ? '[exit code 0]' : '[exit code 127]'),
  delete_file: ({ path = '' }, now) => (now.delete(path) ? 'deleted' : 'Error: it does not exist'),
  read_file: ({ path = '', startLine }, now) =>
    startLine === undefined ? (now.get(path)?.toString('utf8') ?? 'Error: it does not exist') : 'Error: too short',
  write_file: ({ path = '', content }, now) => {
    if (content === undefined || path.includes('package.json/')) return 'Error: not possible';
    now.set(path, Buffer.from(content));
    return 'wrote it';
  },
  edit_file: ({ path = '', old = '', new: replacement }, now) => {
    const text = now.get(path)?.toString('utf8') ?? '';
    if (replacement === undefined || text.split(old).length !== 2) return 'Error: old does not occur once';
    now.set(path, Buffer.from(text.replace(old, replacement)));
    return 'changed';
  },
};

function parsed(json: string): Record<string, string> | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

test.each(['perfect', 'noisy', 'clumsy'])('the %s policy reaches the gold change with every seed', (oracle) => {
  for (let seed = 0; seed < 40; seed++)
    expect(conversationOf(oracleModel(oracle, String(seed))).now).toEqual(changed(files, task.gold));
});

test('the same seed makes the same mistakes, another seed others', () => {
  const [first, again, other] = ['7', '7', '8'].map((seed) => conversationOf(oracleModel('clumsy', seed)).messages);
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
});

test('the noisy policy errs at about its rates', () => {
  const runs = Array.from({ length: 300 }, (_, seed) => conversationOf(oracleModel('noisy', `r${seed}`)).messages);
  const failed = runs.flat().filter((m) => m.role === 'tool' && /^Error|code 127/.test(String(m.content)));
  const calls = runs.flat().filter((m) => m.role === 'tool');
  expect(failed.length / calls.length).toBeGreaterThan(0.1);
  expect(failed.length / calls.length).toBeLessThan(0.25);
  expect(runs.flat().filter((m) => m.content === 'Call a tool.').length).toBeGreaterThan(0);
});

test('a request without work to do is answered with text', () => {
  const request = { model: 'oracle-noisy-1', messages: [{ role: 'user', content: `Summarize ${task.title}` }] };
  expect(answerTo(request, assignments)).toMatchObject({ calls: [], isCut: false });
});

test('unwanted files are removed before the work is finished again, also when the first try fails', () => {
  const refusal = 'Correct this:\n- a/x.pyc is a new binary file\n- y.pyc is a new binary file';
  const messages: ChatMessage[] = [
    { role: 'user', content: `# Task: ${task.title}` },
    { role: 'assistant', tool_calls: [{ id: 'f', function: { name: 'finish', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'f', content: 'The run has not ended.' },
    { role: 'user', content: refusal },
  ];
  const next = () => answerTo({ model: oracleModel('perfect', '1'), messages, tools }, assignments).calls[0];
  for (const [i, result] of ['[exit code 127]', '[exit code 0]'].entries()) {
    const call = next();
    expect(call?.arguments).toBe('{"command":"rm -rf -- a/x.pyc y.pyc"}');
    messages.push({ role: 'assistant', tool_calls: [{ id: `r${i}`, function: call ?? { name: '', arguments: '' } }] });
    messages.push({ role: 'tool', tool_call_id: `r${i}`, content: result });
  }
  expect(next()?.arguments).not.toContain('rm -rf');
});

test('a prompt that continues the one before is cached up to where they differ', () => {
  const cached = prefixCache();
  const prompt = 'x'.repeat(8000);
  expect(cached('a', prompt)).toBe(0);
  expect(cached('a', `${prompt}y`)).toBe(1920);
  expect(cached('b', prompt)).toBe(0);
  expect(cached('a', `z${prompt}`)).toBe(0);
});

test('a fault does not repeat forever', () => {
  const fault = faultsAt(0.5);
  for (let request = 0; request < 50; request++) {
    const answers = Array.from({ length: 20 }, () => fault(`request ${request}`));
    expect(answers).toContain(undefined);
  }
});

test('both APIs give the same answer, streamed and not', async () => {
  const server = await startOracle(assignments);
  try {
    const post = async (path: string, body: object) =>
      (await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) })).text();
    const model = oracleModel('perfect', '1');
    const chat = { model, tools, messages: [{ role: 'user', content: task.title }] };
    const flat = names.map((name) => ({ type: 'function', name }));
    const responses = { model, tools: flat, input: [{ role: 'user', content: task.title }] };
    const chatCall = JSON.parse(await post('/chat/completions', chat)).choices[0].message.tool_calls[0].function;
    const [item] = JSON.parse(await post('/responses', responses)).output;
    expect([item.name, item.arguments]).toEqual([chatCall.name, chatCall.arguments]);
    expect(await post('/chat/completions', { ...chat, stream: true })).toMatch(/"name":"list_files"[\s\S]*\[DONE\]/);
    const events = await post('/responses', { ...responses, stream: true });
    expect(events).toMatch(/event: response.function_call_arguments.done[\s\S]*event: response.completed/);
    const second = [
      ...responses.input,
      { type: 'function_call', call_id: 'c', name: item.name, arguments: item.arguments },
      { type: 'function_call_output', call_id: 'c', output: 'src/' },
    ];
    expect(JSON.parse(await post('/responses', { ...responses, input: second })).output[0].name).toBe('search');
  } finally {
    server.close();
  }
});
