import { type ModelRequest, type Said, startModel, textOf } from '../../../demo/model/model.ts';
import { openTestApp } from '../../support/app.ts';
import { longestBlock } from '../../support/machine/processor-time.ts';
import { openRuns } from '../../support/runs.ts';

let says: (request: ModelRequest) => Said = () => 'You are careful. Run the tests before you finish.';
/** Called before each model answer, which waits for it. */
let beforeAnswer = async () => {};
const model = await startModel(
  (request) => says(request),
  () => beforeAnswer(),
);
const given = openRuns({
  OPENAI_API_KEY: 'sk-x',
  OPENAI_MODEL: 'm',
  OPENAI_BASE_URL: model.url,
  RATE_LIMIT_MODEL: '0',
});
afterAll(() => model.close());

const call = (method: string, path: string, body?: unknown, token = given.token) =>
  given.service.call(method, path, { token, body });
const em = () => given.service.app.db.manager;
let made = 0;
const newAgent = async (systemPrompt = 'You are careful.') =>
  (await call('POST', '/agents', { name: `Agent ${++made}`, systemPrompt })).body;
const countOf = async (name: string) =>
  (await em().query('select count(*)::int as n from agents where name = $1', [name]))[0].n;

const failedChecks = (agentId: string) =>
  given.addRun(em(), {
    agentId,
    status: 'failed',
    failure: { category: 'checks', message: 'npm test still fails: 3 of 5', retryable: true },
    finishedAt: new Date(),
  });

test('a model writes the prompt of an agent of a project from the improvements and the evidence', async () => {
  const agent = (await call('GET', `/agents/${given.agentIds[0]}`)).body;
  await failedChecks(agent.id);
  const before = model.requests.length;
  const evolved = await call('POST', `/agents/${agent.id}/evolve`, { improvements: ['Run the tests.'] });
  expect(evolved.status).toBe(201);
  expect(evolved.body).toMatchObject({
    version: 2,
    previousVersionId: agent.id,
    rollout: 100,
    systemPrompt: 'You are careful. Run the tests before you finish.',
  });
  expect(model.requests.length).toBe(before + 1);
  const told = textOf(model.requests.at(-1) as ModelRequest);
  for (const part of [agent.systemPrompt, '- Run the tests.', 'npm test still fails: 3 of 5'])
    expect(told).toContain(part);
});

test('evidence is left out of the prompt of a personal agent, which members of other projects can read', async () => {
  const agent = await newAgent();
  await failedChecks(agent.id);
  await call('POST', `/agents/${agent.id}/evolve`, { improvements: ['Run the tests.'] });
  const told = textOf(model.requests.at(-1) as ModelRequest);
  expect(told).toContain('- Run the tests.');
  expect(told).not.toContain('npm test still fails');
});

test('a preview shows the prompt and what differs, and stores nothing', async () => {
  const agent = await newAgent('You are careful.\nBe brief.');
  says = () => '```markdown\nYou are careful.\nRun the tests.\n```';
  const shown = await call('POST', `/agents/${agent.id}/evolve`, { improvements: ['Test.'], preview: true });
  expect([shown.status, shown.body]).toEqual([
    200,
    {
      systemPrompt: 'You are careful.\nRun the tests.',
      diff: '--- version 1\n+++ version 2\n@@ -1,2 +1,2 @@\n You are careful.\n-Be brief.\n+Run the tests.\n',
    },
  ]);
  expect(await countOf(agent.name)).toBe(1);
  const actions = await em().query(`select action from audit_records where object_id = $1`, [agent.id]);
  expect(actions.map((row: { action: string }) => row.action)).toEqual(['agent.create']);
  // What was shown is what is accepted.
  const accepted = await call('POST', `/agents/${agent.id}/evolve`, { newSystemPrompt: shown.body.systemPrompt });
  expect([accepted.status, accepted.body.systemPrompt]).toEqual([201, shown.body.systemPrompt]);
  const same = { newSystemPrompt: accepted.body.systemPrompt, preview: true };
  expect((await call('POST', `/agents/${accepted.body.id}/evolve`, same)).body.diff).toBe('');
  expect((await call('POST', `/agents/${agent.id}/evolve`, same)).status).toBe(409);
});

test('a given prompt is used as it is, the improvements are appended, and no model is asked', async () => {
  const agent = await newAgent();
  const before = model.requests.length;
  const body = { newSystemPrompt: 'Be kind.', improvements: ['Test first.'] };
  const shown = await call('POST', `/agents/${agent.id}/evolve`, { ...body, preview: true });
  const evolved = await call('POST', `/agents/${agent.id}/evolve`, body);
  expect(evolved.body.systemPrompt).toBe('Be kind.\n\nImprovements:\n- Test first.');
  expect(shown.body.systemPrompt).toBe(evolved.body.systemPrompt);
  expect(model.requests.length).toBe(before);
});

test.each<[string, Said, string]>([
  ['nothing', '', 'no text'],
  ['an empty block', '```\n```', 'no text'],
  ['a call instead of a text', [{ name: 'run_command', arguments: { command: 'ls' } }], 'no text'],
  ['too much', 'x'.repeat(50_001), 'at most 50000'],
  ['an error', { status: 400 }, 'made to fail'],
])('when the model answers %s, the reply is a clear error and nothing is stored', async (_name, said, why) => {
  const agent = await newAgent();
  says = () => said;
  for (const preview of [true, false]) {
    const answer = await call('POST', `/agents/${agent.id}/evolve`, { improvements: ['x'], preview });
    expect([answer.status, answer.body.message]).toEqual([502, expect.stringContaining(why)]);
  }
  expect(await countOf(agent.name)).toBe(1);
});

test('an answer in another language and with strange characters is stored as it is', async () => {
  const agent = await newAgent();
  says = () => 'Du bist sorgfältig. 丁寧に。';
  const { body } = await call('POST', `/agents/${agent.id}/evolve`, { improvements: ['x'] });
  expect(body.systemPrompt).toBe('Du bist sorgfältig. 丁寧に。');
});

test('when two people evolve an agent at the same time, one is refused, also while the model writes', async () => {
  const agent = await newAgent();
  says = () => 'Another prompt.';
  const path = `/agents/${agent.id}/evolve`;
  const answers = await Promise.all([
    call('POST', path, { improvements: ['a'] }),
    call('POST', path, { newSystemPrompt: 'b' }),
    call('POST', path, { improvements: ['c'] }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  const versions = await em().query('select version from agents where name = $1 order by version', [agent.name]);
  expect(versions).toEqual([{ version: 1 }, { version: 2 }]);
});

/** Sends a request, and calls `act` while the model writes. */
async function whileWriting(path: string, body: object, token: string, act: () => Promise<unknown>) {
  const asked = Promise.withResolvers<void>();
  const answers = Promise.withResolvers<void>();
  beforeAnswer = () => {
    asked.resolve();
    return answers.promise;
  };
  const waiting = call('POST', path, body, token);
  await asked.promise;
  await act();
  answers.resolve();
  beforeAnswer = async () => {};
  return waiting;
}

test('a prompt that changes while the model writes is not overwritten', async () => {
  const agent = await newAgent();
  says = () => 'From the old prompt.';
  const path = `/agents/${agent.id}`;
  const edit = () => call('PATCH', path, { systemPrompt: 'Edited by hand.' });
  expect((await whileWriting(`${path}/evolve`, { improvements: ['a'] }, given.token, edit)).status).toBe(409);
  expect((await call('GET', path)).body).toMatchObject({ version: 1, systemPrompt: 'Edited by hand.' });
});

test('an agent that is deleted while the model writes is not found', async () => {
  const agent = await newAgent();
  const path = `/agents/${agent.id}`;
  const gone = await whileWriting(`${path}/evolve`, { improvements: ['a'] }, given.token, () => call('DELETE', path));
  expect([gone.status, gone.body.message]).toEqual([404, `Agent ${agent.id} not found`]);
});

test.each([
  ['removed', 404, 'DELETE', undefined],
  ['no longer an admin', 403, 'PATCH', { role: 'member' }],
] as const)('an admin who is %s while the model writes does not get the prompt', async (_how, status, method, body) => {
  const agent = given.agentIds[1] as string;
  const admin = await given.service.token('admin');
  const id = (await call('GET', '/me', undefined, admin)).body.id;
  const members = `/projects/${given.projectId}/members`;
  for (const preview of [true, false]) {
    await call('POST', members, { login: 'admin', role: 'admin' });
    const act = async () => expect((await call(method, `${members}/${id}`, body)).status).toBeLessThan(300);
    const wanted = { improvements: ['a'], preview };
    expect((await whileWriting(`/agents/${agent}/evolve`, wanted, admin, act)).status).toBe(status);
    await call('DELETE', `${members}/${id}`);
  }
  expect((await call('GET', `/agents/${agent}`)).body.isNewest).toBe(true);
});

test('invalid requests are refused', async () => {
  const agent = await newAgent();
  const path = `/agents/${agent.id}/evolve`;
  for (const body of [
    {},
    { improvements: [] },
    { improvements: ['x'], rollout: 101 },
    { improvements: ['x'], rollout: -1 },
    { improvements: ['x'], rollout: 'x' },
    { improvements: ['x'], rollout: 1.5 },
    { improvements: ['x'], rollout: null },
    { newSystemPrompt: '' },
    { newSystemPrompt: 'x'.repeat(50_001) },
    { newSystemPrompt: 'x', preview: 'yes' },
    { preview: true },
    { newSystemPrompt: 'x', surprise: 1 },
  ])
    expect([body, (await call('POST', path, body)).status]).toEqual([body, 400]);
  for (const rollout of [101, -1, 'x', 0.5, null])
    expect([rollout, (await call('PATCH', `/agents/${agent.id}`, { rollout })).status]).toEqual([rollout, 400]);
  const stranger = await given.service.token('stranger');
  expect((await call('POST', path, { newSystemPrompt: 'x' }, stranger)).status).toBe(404);
  expect(await countOf(agent.name)).toBe(1);
});

test('without a model improvements are appended', async () => {
  const plain = await openTestApp({ OPENAI_MODEL: 'm' });
  try {
    const token = await plain.token('octocat');
    const ask = (path: string, body: object) => plain.call('POST', path, { token, body });
    const { id } = (await ask('/agents', { name: 'Plain', systemPrompt: 'Be good.' })).body;
    const shown = await ask(`/agents/${id}/evolve`, { improvements: ['Test.'], preview: true });
    expect([shown.status, shown.body.systemPrompt]).toEqual([200, 'Be good.\n\nImprovements:\n- Test.']);
    expect((await ask(`/agents/${id}/evolve`, { improvements: ['Test.'] })).body.systemPrompt).toBe(
      shown.body.systemPrompt,
    );
  } finally {
    await plain.close();
  }
});

test('two long prompts are compared in a thread', async () => {
  const lines = (word: string, every: number) => Array.from({ length: 24_999 }, (_, i) => word[i % every]).join('\n');
  const agent = await newAgent(lines('ab', 2));
  let diff = '';
  const block = await longestBlock(async () => {
    const asked = { newSystemPrompt: lines('bca', 3), preview: true };
    diff = (await call('POST', `/agents/${agent.id}/evolve`, asked)).body.diff;
  });
  expect(diff).toMatch(/^--- version 1\n\+\+\+ version 2\n@@ -1,24999 \+1,24999 @@\n/);
  // In the service itself it would take half a second, the limit of a comparison.
  expect(block).toBeLessThan(100);
});

test('an agent whose model the server does not list has a warning that names the nearest one, and nothing is refused', async () => {
  const warning = (name: string) =>
    `The model server does not list ${name}. The nearest name that it lists is scripted.`;
  const made = await call('POST', '/agents', { name: 'Misspelled', model: 'scriptd' });
  expect([made.status, made.body.modelWarning]).toEqual([201, warning('scriptd')]);
  const path = `/agents/${made.body.id}`;
  expect((await call('GET', path)).body.modelWarning).toBe(warning('scriptd'));
  expect((await call('PATCH', path, { model: 'scripted' })).body.modelWarning).toBeNull();
  // Without a model of its own, it has that of the service.
  expect((await call('PATCH', path, { model: '' })).body).toMatchObject({ model: 'm', modelWarning: warning('m') });
  expect((await call('POST', `${path}/evolve`, { newSystemPrompt: 'p' })).body.modelWarning).toBe(warning('m'));
  const { projectId } = given;
  expect((await call('GET', `/agents/models?projectId=${projectId}`)).body).toEqual({ names: ['scripted'] });
});
