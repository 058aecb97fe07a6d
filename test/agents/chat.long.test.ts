import type { ModelRequest, Said } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { openAppWithModel, openTestApp } from '../support/app.ts';
import { serveSampleRepository } from '../support/git.ts';

const { talk, model, service } = await openAppWithModel({ MODEL_PRICES: '{"m":{"input":1,"output":1}}' });
const token = await service.token('octocat');
let task: string;
let sprint: string;
/** What the model waits for before it answers. */
let held: Promise<void> | undefined;
talk.before = async () => held;
const call = (method: string, path: string, body?: unknown, headers = {}) =>
  service.call(method, path, { token, headers, ...(body === undefined ? {} : { body }) });
const texts = ({ messages }: ModelRequest) => messages.map((m) => String(m.content));

beforeAll(async () => {
  const project = (await call('POST', '/projects', { name: 'P' })).body.id;
  sprint = (
    await call('POST', `/projects/${project}/sprints`, {
      name: 'Spring',
      startDate: '2026-01-01',
      endDate: '2026-01-02',
    })
  ).body.id;
  const made = { title: 'Greet by name', description: 'Say hello ``` to Ada', sprintId: sprint };
  task = (await call('POST', `/projects/${project}/tasks`, made)).body.id;
});
const last = () => model.requests.at(-1) as ModelRequest;

test('the agent of a task sees the task and the conversation, and gets only read-only tools', async () => {
  talk.says = () => 'The tests of the empty name.';
  const { status, body } = await call('POST', `/tasks/${task}/chat`, { message: 'What is missing?' });
  expect([status, body]).toEqual([200, { response: 'The tests of the empty name.', taskId: task }]);
  expect(texts(last()).join('\n')).toContain('Greet by name');
  expect(last().tools).toBeUndefined();
  await call('POST', `/tasks/${task}/chat`, { message: 'And then?' });
  expect(texts(last()).slice(-3)).toEqual([
    '@octocat: What is missing?',
    'The tests of the empty name.',
    '@octocat: And then?',
  ]);
});

test("an agent's effort and the length of its answers reach the model", async () => {
  talk.says = () => 'Thought about it.';
  const agent = (await call('POST', '/agents', { name: 'Thinker', reasoningEffort: 'low', maxOutputTokens: 300 })).body;
  await call('PATCH', `/tasks/${task}`, { owner: agent.id });
  expect((await call('POST', `/tasks/${task}/chat`, { message: 'Why?' })).status).toBe(200);
  expect(last()).toMatchObject({ reasoning_effort: 'low', max_completion_tokens: 300 });
  await call('PATCH', `/tasks/${task}`, { owner: null });
});

test('the Software Architect sees metrics, burndown and tasks of the sprint', async () => {
  talk.says = () => 'On the way.';
  const { status, body } = await call('POST', `/sprints/${sprint}/chat-with-dev-lead`, { message: 'How far are we?' });
  expect([status, body]).toEqual([200, { response: 'On the way.' }]);
  const said = texts(last()).join('\n');
  for (const known of ['Spring', '"totalTasks":1', 'Greet by name', 'software architect', 'no owner'])
    expect(said).toContain(known);
});

test('an answer is streamed if the request accepts a stream', async () => {
  talk.says = () => 'One two three.';
  const response = await fetch(`${service.url}/api/v1/tasks/${task}/chat`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream', 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: 'Count' }),
  });
  const events = (await response.text()).trim().split('\n\n');
  expect(events).toEqual([
    ...['One ', 'two ', 'three.'].map((text) => `event: text\ndata: ${JSON.stringify({ text })}`),
    `event: done\ndata: ${JSON.stringify({ response: 'One two three.', taskId: task })}`,
  ]);
});

test('a reply is stored even if the person leaves while it is written', async () => {
  talk.says = () => 'Nobody waited for this.';
  let release = () => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  const asked = model.requests.length;
  const left = new AbortController();
  const response = await fetch(`${service.url}/api/v1/tasks/${task}/chat`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream', 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: 'Are you there?' }),
    signal: left.signal,
  });
  await until('the model to be asked', async () => model.requests.length > asked);
  left.abort();
  await expect(response.text()).rejects.toThrow();
  // The service notices that the connection has ended before it answers a later request.
  expect((await call('GET', '/me')).status).toBe(200);
  release();
  held = undefined;
  const find = `select 1 from chat_messages where content = 'Nobody waited for this.'`;
  await until('the reply', async () => (await service.app.db.manager.query(find)).length > 0);
});

test('a request with the same key gets the same stream again; another body is refused', async () => {
  talk.says = () => 'Once.';
  const ask = (message: string) =>
    fetch(`${service.url}/api/v1/tasks/${task}/chat`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        Accept: 'text/event-stream',
        'Content-Type': 'application/json',
        'Idempotency-Key': 'one',
      },
      body: JSON.stringify({ message }),
    });
  const first = await (await ask('hello')).text();
  const asked = model.requests.length;
  const again = await ask('hello');
  expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual([
    'true',
    `event: done\ndata: ${JSON.stringify({ response: 'Once.', taskId: task })}\n\n`,
  ]);
  expect(first).toContain('event: done');
  expect((await ask('other')).status).toBe(422);
  expect(model.requests.length).toBe(asked);
});

test('after twenty messages the older ones are replaced by a summary, which is stored', async () => {
  talk.says = (request) => (texts(request)[0]?.startsWith('Summarize') ? 'They counted.' : 'Yes.');
  for (let i = 0; i < 15; i++)
    expect((await call('POST', `/tasks/${task}/chat`, { message: `message ${i}` })).status).toBe(200);
  const said = texts(last());
  expect(said.filter((t) => t.startsWith('@octocat: message ') || t === 'Yes.').length).toBeLessThanOrEqual(20);
  expect(said.some((t) => t.includes('They counted.'))).toBe(true);
  expect(said.at(-1)).toBe('@octocat: message 14');
  expect(said.join()).not.toContain('What is missing?');
  // Messages that the summary covers are not also sent in full.
  const whole = said.filter((t) => t.startsWith('@octocat: message '));
  const asked = model.requests.findLast((r) => texts(r)[0]?.startsWith('Summarize')) as ModelRequest;
  for (const told of whole) expect(texts(asked).join('\n')).not.toContain(`${told}\n`);
});

test('a failing model is a 502 and a missing one a 503; the message is then not part of the conversation', async () => {
  talk.says = () => '';
  expect((await call('POST', `/tasks/${task}/chat`, { message: 'lost one' })).status).toBe(502);
  const { config } = service.app;
  const name = config.OPENAI_MODEL;
  config.OPENAI_MODEL = '';
  const answer = await call('POST', `/tasks/${task}/chat`, { message: 'lost two' });
  config.OPENAI_MODEL = name;
  expect([answer.status, answer.body.message]).toEqual([503, expect.stringContaining('OPENAI_MODEL')]);
  talk.says = () => 'Back.';
  await call('POST', `/tasks/${task}/chat`, { message: 'now' });
  expect(texts(last()).at(-1)).toBe('@octocat: now');
  expect(texts(last()).join()).not.toContain('lost');
  for (const message of ['', '  ', 'x'.repeat(10_001), 'a\0b', 7])
    expect((await call('POST', `/tasks/${task}/chat`, { message })).status).toBe(400);
});

test('the agent reads the repository inside the sandbox; a refused read is reported to the model as a tool result', async () => {
  const repository = await serveSampleRepository();
  const other = await openTestApp({
    OPENAI_API_KEY: 'sk-x',
    OPENAI_MODEL: 'm',
    OPENAI_BASE_URL: model.url,
    ALLOW_PRIVATE_HOSTS: 'true',
    GITHUB_SERVER_URL: new URL(repository.url).origin,
  });
  try {
    const mine = await other.token('octocat');
    const make = async (path: string, body: object) => (await other.call('POST', path, { token: mine, body })).body;
    const project = (await make('/projects', { name: 'P' })).id;
    await make(`/projects/${project}/git-token`, { token: 'good-token' });
    await make('/repositories', { projectId: project, name: 'sample', url: repository.url });
    const { id } = await make(`/projects/${project}/tasks`, { title: 't' });
    const turns: Said[] = [
      [
        { name: 'read_file', arguments: { path: 'src/slugify.js' } },
        { name: 'read_file', arguments: { path: '../../../../etc/passwd' } },
        { name: 'write_file', arguments: { path: 'x', content: 'x' } },
        { name: 'search', arguments: { nonsense: 1 } },
      ],
      `I have read src/slugify.js, not src/made-up.js, for ${id}.`,
    ];
    const isLinked =
      /^I have read \[src\/slugify\.js\]\(http\S+\/blob\/[0-9a-f]{40}\/src\/slugify\.js\), not src\/made-up\.js, for \[t\]\(http\S+\)\.$/;
    talk.says = (request) => turns[request.messages.filter((m) => m.role === 'tool').length > 0 ? 1 : 0] as Said;
    expect((await make(`/tasks/${id}/chat`, { message: 'Read it' })).response).toMatch(isLinked);
    const days = { startDate: '2026-01-01', endDate: '2026-01-02' };
    const sprint = (await make(`/projects/${project}/sprints`, { name: 'S', ...days })).id;
    const ofSprint = await make(`/sprints/${sprint}/chat-with-dev-lead`, { message: 'Read it' });
    expect(ofSprint.response).toMatch(isLinked);
    const answers = last()
      .messages.filter((m) => m.role === 'tool')
      .map((m) => String(m.content));
    expect(answers[0]).toContain('slugify');
    expect(answers[1]).toMatch(/^Error: .*outside the workspace/);
    expect(answers[2]).toMatch(/^Error: there is no tool write_file/);
    expect(answers[3]).toMatch(/^Error: the arguments do not fit/);
    expect(last().tools?.map((t) => t.function.name)).toEqual(['list_files', 'read_file', 'search']);
  } finally {
    await other.close();
    repository.close();
  }
});

test('a message sent again with the same key is stored once', async () => {
  const key = { 'Idempotency-Key': 'ask' };
  const ask = () => call('POST', `/tasks/${task}/chat`, { message: 'Only once?' }, key);
  talk.says = () => '';
  expect((await ask()).status).toBe(502);
  talk.says = () => 'One answer.';
  const answer = await ask();
  expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null]);
  expect(texts(last()).filter((text) => text === '@octocat: Only once?')).toHaveLength(1);
  const again = await ask();
  expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([answer.body, 'true']);
  const kept = await service.app.db.manager.query(
    `select role from chat_messages where content in ('Only once?', 'One answer.')`,
  );
  expect(kept).toHaveLength(2);
});

test('what answers cost counts for the creator of the project, whose budget of a day limits them', async () => {
  const { id } = (await call('GET', '/me')).body;
  const spent = async (): Promise<number> =>
    (
      await service.app.db.manager.query(
        'select sum(cost_usd)::float8 as cost from person_spend_days where user_id = $1',
        [id],
      )
    )[0].cost;
  talk.says = () => 'Fine.';
  const [before, agent] = [await spent(), (await call('POST', '/agents', { name: 'Own' })).body];
  await call('POST', `/tasks/${task}/chat`, { message: 'How much?' });
  const after = await spent();
  expect(after).toBeGreaterThan(before);
  talk.says = () => 'You are careful.';
  const evolved = await call('POST', `/agents/${agent.id}/evolve`, { improvements: ['Be brief.'] });
  expect(evolved.status).toBe(201);
  expect(await spent()).toBeGreaterThan(after);
  await service.app.db.manager.query('update person_spend_days set cost_usd = 20 where user_id = $1', [id]);
  const requests = model.requests.length;
  const message = expect.stringMatching(/^The budget of \$20 a day .* is used up .* Try again tomorrow \(UTC\)\.$/);
  for (const [path, body] of [
    [`/tasks/${task}/chat`, { message: 'And now?' }],
    [`/sprints/${sprint}/chat-with-dev-lead`, { message: 'And now?' }],
    [`/agents/${evolved.body.id}/evolve`, { improvements: ['Be brief.'] }],
  ] as const)
    expect([path, await call('POST', path, body)]).toEqual([
      path,
      expect.objectContaining({ status: 429, body: { statusCode: 429, message } }),
    ]);
  expect(model.requests).toHaveLength(requests);
});

test('what answers cost counts for the day of the project, whose budget limits them', async () => {
  const em = service.app.db.manager;
  const spent = async (): Promise<number> =>
    (
      await em.query(
        `select coalesce(sum(s.cost_usd), 0)::float8 as cost from spend_days s join tasks t using (project_id) where t.id = $1`,
        [task],
      )
    )[0].cost;
  // The project of an installation has no creator who pays.
  await em.query('update projects set created_by = null where id = (select project_id from tasks where id = $1)', [
    task,
  ]);
  talk.says = () => 'Fine.';
  const before = await spent();
  await call('POST', `/tasks/${task}/chat`, { message: 'How much?' });
  expect(await spent()).toBeGreaterThan(before);
  await em.query(
    `update projects set budgets = '{"dayCostUsd": 0.000001}' where id = (select project_id from tasks where id = $1)`,
    [task],
  );
  const requests = model.requests.length;
  expect(await call('POST', `/tasks/${task}/chat`, { message: 'And now?' })).toMatchObject({
    status: 429,
    body: {
      message: expect.stringMatching(/^The project's budget of \$.* a day is used up .* Try again tomorrow \(UTC\)\.$/),
    },
  });
  expect(model.requests).toHaveLength(requests);
});
