import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { gitOut } from '../../support/git.ts';
import { testSome } from '../../support/thorough.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

let world: World;
/** The model's first answers, in order. After them it writes a file and finishes. */
let faults: Said[] = [];
beforeAll(async () => {
  world = await openWorld((request) => {
    const isWritten = JSON.stringify(request.messages).includes('wrote made.txt');
    return faults.shift() ?? (isWritten ? [finish] : [write]);
  });
});
afterAll(() => world.close());

const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const answer = (message: object, finish_reason = 'tool_calls') => ({
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, finish_reason, message: { role: 'assistant', content: null, ...message } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
});
const call = (name: string, args: string) =>
  answer({ tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: args } }] });

const odd = answer({ content: [{ type: 'text', text: 'I will now' }] }, 'length');
odd.body = odd.body
  .replace('"prompt_tokens":1', '"prompt_tokens":1.5')
  .replace('"completion_tokens":1', '"completion_tokens":"x"');

/** A stream that breaks in the middle of a text and of a call. */
const half: Said = {
  headers: { 'Content-Type': 'text/event-stream' },
  body: [{ content: 'half an answer' }, { tool_calls: [{ index: 0, id: 'h', function: { name: 'write_file' } }] }]
    .map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
    .join(''),
  isReset: true,
};

const told = () => JSON.stringify(world.model.requests.at(-1)?.messages);

async function play(wrong: Said[], status: string): Promise<WorldTask> {
  faults = [...wrong];
  const number = await world.issue('/agent start');
  const task = await until(`the task of issue ${number} ${status}`, async () => {
    const all = await world.get<(WorldTask & { issueNumber: number })[]>(
      `/projects/${world.project.id}/tasks?limit=100`,
    );
    const found = all.find((t) => t.issueNumber === number);
    // Before it starts, a task is also ready for a moment, so wait for its failure.
    return found?.status === status && (status !== 'ready' || found.failure !== null) && found;
  });
  faults = [];
  return task;
}

/** A call that works. Faults between such calls are not faults in a row. */
const look = (nth: number): Said => [{ name: 'read_file', arguments: { path: 'README.md', endLine: nth } }];

test.each<[string, Said[][]]>([
  [
    'a server',
    [
      [{ status: 429, headers: { 'retry-after': '0.2' } }],
      [{ status: 429 }],
      [{ status: 500 }, { status: 500 }],
      [{ isReset: true }],
      [half],
      [
        {
          status: 400,
          headers: { 'Content-Type': 'application/json' },
          body: '{"error":{"code":"context_length_exceeded","message":"too long"}}',
        },
      ],
    ],
  ],
  [
    'a model',
    [
      // Broken JSON, an unknown tool, arguments that do not fit, a call without arguments, text in parts with invalid
      // token counts, a stop by length, and far too many calls in one turn.
      [call('write_file', '{"path": "made.txt", "conte')],
      [call('deploy', '{}')],
      [call('write_file', '{"file": "x"}')],
      [answer({ tool_calls: [{ id: 'c', type: 'function', function: { name: 'search' } }] })],
      [odd],
      [answer({ content: 'I will now' }, 'length')],
      [Array.from({ length: 300 }, () => ({ name: 'list_files', arguments: {} }))],
    ],
  ],
])('a run continues and succeeds after every single mistake of %s', async (_whose, mistakes) => {
  const before = world.model.requests.length;
  const task = await play(
    mistakes.flatMap((each, nth) => [...each, look(nth + 1)]),
    'in_review',
  );
  expect(task.failure).toBeNull();
  // Nothing of an answer that broke is part of the conversation.
  expect(told()).not.toContain('half an answer');
  // Every mistake was made, and the run then wrote its file and finished.
  expect(world.model.requests.length - before).toBeGreaterThanOrEqual(mistakes.flat().length + mistakes.length + 2);
  if (mistakes.flat().some(Array.isArray)) expect(told()).toContain('not run: over 100 calls');
});

testSome<[string, Said[], string, RegExp]>(2, [
  ['a key that is refused', [{ status: 401 }], 'auth', /refused the key/],
  [
    'three invalid calls in a row',
    ['deploy', 'launch', 'ship'].map((name) => call(name, '{}')),
    'model',
    /3 answers in a row/,
  ],
  ['a limit of more than an hour', [{ status: 429, headers: { 'retry-after': '4000' } }], 'rate_limit', /429/],
  [
    'a server that is away for more than an hour',
    [{ status: 503, headers: { 'retry-after': '4000' } }],
    'model',
    /HTTP 503/,
  ],
  [
    'an answer with an empty list of choices',
    [{ headers: { 'Content-Type': 'application/json' }, body: '{"choices":[]}' }],
    'model',
    /not a Chat Completion: choices/,
  ],
  ['a call of nothing', [answer({ tool_calls: [{ id: 'c', type: 'function' }] })], 'model', /tool_calls/],
  ['three empty answers', Array(3).fill(answer({ content: '' }, 'stop')), 'model', /an empty answer/],
])('%s: the run fails with a clear message', async (_what, wrong, category, message) => {
  const task = await play(wrong, 'ready');
  expect(task.failure).toMatchObject({ category, message: expect.stringMatching(message) });
});

test('a limit that outlasts the retries of the client parks the run, and it continues with its conversation and files', async () => {
  const busy = { status: 429, headers: { 'retry-after': '0.01' } };
  const look = { name: 'run_command', arguments: { command: 'cat made.txt' } };
  // The client repeats a request four times.
  const task = await play([[write], ...Array(5).fill(busy), [look]], 'in_review');
  const [run] = await world.get<{ id: string; status: string; steps: number }[]>(`/tasks/${task.id}/runs`);
  expect(run).toMatchObject({ status: 'succeeded', steps: 4 });
  const log = await world.get<{ type: string; text: string }[]>(`/runs/${run?.id}/events`);
  expect(log.filter(({ type }) => type === 'waiting').map(({ text }) => text)).toEqual([
    expect.stringMatching(/^waiting for 1 s: .*429/),
  ]);
  // The file of the first turn is there in the workspace of the later one.
  const results = (world.model.requests.at(-1)?.messages ?? []).filter((m) => m.role === 'tool').map((m) => m.content);
  expect(results.filter((text) => /^x$/m.test(String(text)))).toHaveLength(1);
});

test('a credential in what a model says appears neither on GitHub nor in the log', async () => {
  const canary = world.settings.JWT_SECRET ?? '';
  const words = { summary: `I found ${canary}.`, nextSteps: [canary], prTitle: `Use ${canary}`, prBody: canary };
  const look = { name: 'run_command', arguments: { command: `echo ${canary}` } };
  const finished: Said = [{ name: 'finish', arguments: words }];
  const task = await play([[write, look], finished, finished], 'in_review');
  const [run] = await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const number = /\d+$/.exec(task.prUrl ?? '')?.[0];
  const pull = await world.github.as('mona')<{ title: string }>('GET', `/repos/mona/sample/pulls/${number}`);
  expect(pull.title).toBe('Use [a credential was removed]');
  const handoffs = await world.get(`/tasks/${task.id}/handoffs`);
  const stop = new AbortController();
  const log = await fetch(`${world.service.url}/api/v1/runs/${run?.id}/events`, {
    headers: { Authorization: `Bearer ${world.token}` },
    signal: stop.signal,
  });
  let heard = '';
  for await (const chunk of log.body as unknown as AsyncIterable<Uint8Array>) {
    heard += Buffer.from(chunk).toString('utf8');
    if (heard.includes('pull request')) break;
  }
  stop.abort();
  expect(heard).toContain('run_command echo [a credential');
  const message = gitOut(world.github.folderOf('mona/sample'), 'log', '-1', '--format=%B', task.branchName ?? '');
  expect(JSON.stringify([pull, handoffs, heard, message])).not.toContain(canary);
});
