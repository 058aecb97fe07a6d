import type { ModelRequest } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { openAppWithModel } from '../support/app.ts';

const { talk, model, service } = await openAppWithModel();
/** The tokens of two members. */
const [ada, ben] = [await service.token('ada'), await service.token('ben')];
/** What the model waits for before it answers. */
let held: Promise<void> | undefined;
talk.before = async () => held;

const call = (token: string, method: string, path: string, body?: unknown, headers = {}) =>
  service.call(method, path, { token, headers, ...(body === undefined ? {} : { body }) });
const project: string = (await call(ada, 'POST', '/projects', { name: 'P' })).body.id;
await call(ada, 'POST', `/projects/${project}/members`, { login: 'ben' });
const last = () => model.requests.at(-1) as ModelRequest;
const texts = ({ messages }: ModelRequest) => messages.map((m) => String(m.content));
const makeTask = async (title = 't') =>
  (await call(ada, 'POST', `/projects/${project}/tasks`, { title })).body.id as string;

const me = async (token: string) => {
  const { id, login } = (await call(token, 'GET', '/me')).body;
  return { id, login };
};

test('two people read one conversation about a task; the model knows who said what', async () => {
  const task = await makeTask();
  talk.says = () => 'In the parser.';
  await call(ada, 'POST', `/tasks/${task}/chat`, { message: 'Where is the bug?' });
  talk.says = () => 'Yes, with a test.';
  await call(ben, 'POST', `/tasks/${task}/chat`, { message: 'Is it fixed?' });
  expect(texts(last()).slice(-3)).toEqual(['@ada: Where is the bug?', 'In the parser.', '@ben: Is it fixed?']);
  const expected = [
    { role: 'user', author: await me(ada), text: 'Where is the bug?' },
    { role: 'assistant', author: null, text: 'In the parser.' },
    { role: 'user', author: await me(ben), text: 'Is it fixed?' },
    { role: 'assistant', author: null, text: 'Yes, with a test.' },
  ].map((entry) => ({ id: expect.stringMatching(/^msg_/), at: expect.stringMatching(/Z$/), ...entry }));
  for (const token of [ada, ben]) {
    const { status, body } = await call(token, 'GET', `/tasks/${task}/chat`);
    expect([status, body]).toEqual([200, expected]);
  }
});

test('the chat about a sprint has a history of its own', async () => {
  const made = { name: 'S', startDate: '2026-01-01', endDate: '2026-01-02' };
  const sprint = (await call(ada, 'POST', `/projects/${project}/sprints`, made)).body.id;
  talk.says = () => 'Late.';
  await call(ben, 'POST', `/sprints/${sprint}/chat-with-dev-lead`, { message: 'How late?' });
  const { body } = await call(ada, 'GET', `/sprints/${sprint}/chat`);
  expect(body.map((m: { author: { login: string } | null; text: string }) => [m.author?.login, m.text])).toEqual([
    ['ben', 'How late?'],
    [undefined, 'Late.'],
  ]);
  expect((await call(ada, 'DELETE', `/sprints/${sprint}`)).status).toBe(204);
  expect((await call(ada, 'GET', `/sprints/${sprint}/chat`)).status).toBe(404);
});

const asBefore = (time: string) => `before=${encodeURIComponent(time)}`;
const badTimes = [
  '2026-13-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:00+20:00',
  '2026-01-01T00:00:00-16:00',
  '2026-01-01T00:00:00+02:60',
  '2026-01-01T00:00:00',
];

test('a history is read in pages, by the id of a message or by a time', async () => {
  const task = await makeTask();
  for (const n of [1, 2, 3]) {
    talk.says = () => `a${n}`;
    await call(ada, 'POST', `/tasks/${task}/chat`, { message: `q${n}` });
  }
  const read = async (query: string) => (await call(ben, 'GET', `/tasks/${task}/chat${query}`)).body;
  const textsOf = async (query: string) => (await read(query)).map((m: { text: string }) => m.text);
  const all = await read('');
  expect(all.map((m: { text: string }) => m.text)).toEqual(['q1', 'a1', 'q2', 'a2', 'q3', 'a3']);
  expect(await textsOf('?limit=3')).toEqual(['a2', 'q3', 'a3']);
  expect(await textsOf(`?limit=2&before=${all[3].id}`)).toEqual(['a1', 'q2']);
  expect(await textsOf(`?before=${all[3].at}`)).toEqual(['q1', 'a1', 'q2']);
  expect(await textsOf(`?before=${all[0].id}`)).toEqual([]);
  const other = await makeTask();
  for (const bad of ['limit=0', 'limit=101', 'limit=x', 'offset=1', 'before=x', ...badTimes.map(asBefore)])
    expect([bad, (await call(ben, 'GET', `/tasks/${task}/chat?${bad}`)).status]).toEqual([bad, 400]);
  for (const time of ['0001-01-01T00:00:00+14:00', '2000-02-29T23:59-1200'])
    expect(await textsOf(`?${asBefore(time)}`)).toEqual([]);
  expect(await textsOf(`?${asBefore('9999-12-31T23:59:59.999999999-14:00')}`)).toHaveLength(6);
  expect((await call(ben, 'GET', `/tasks/${other}/chat?before=${all[0].id}`)).status).toBe(400);
});

test('a removed member reads nothing, not even the answer that they are waiting for', async () => {
  const task = await makeTask();
  const cyd = await service.token('cyd');
  await call(ada, 'POST', `/projects/${project}/members`, { login: 'cyd' });
  talk.says = () => 'Secret plans.';
  expect((await call(cyd, 'POST', `/tasks/${task}/chat`, { message: 'Hello' })).status).toBe(200);
  let release = () => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  const asked = model.requests.length;
  const waiting = call(cyd, 'POST', `/tasks/${task}/chat`, { message: 'What next?' });
  await until('the model to be asked', async () => model.requests.length > asked);
  await call(ada, 'DELETE', `/projects/${project}/members/${(await me(cyd)).id}`);
  release();
  held = undefined;
  const refused = await waiting;
  expect([refused.status, refused.body.message]).toEqual([404, `Task ${task} not found`]);
  expect((await call(cyd, 'GET', `/tasks/${task}/chat`)).status).toBe(404);
  expect((await call(ada, 'GET', `/tasks/${task}/chat`)).body).toHaveLength(2);
});

test('answers link to the tasks and files that exist', async () => {
  const task = await makeTask('Greet [by] name');
  const foreign = await service.token('stranger');
  const elsewhere = (await call(foreign, 'POST', '/projects', { name: 'Q' })).body.id;
  const alien = (await call(foreign, 'POST', `/projects/${elsewhere}/tasks`, { title: 'alien' })).body.id;
  const url = 'https://github.com/o/r';
  const repository = (await call(ada, 'POST', '/repositories', { projectId: project, name: 'r', url })).body.id;
  const { manager } = service.app.db;
  await manager.query('update tasks set repository_id = $2 where id = $1', [task, repository]);
  const files = [
    { path: 'src/a b.js', status: 'added', additions: 1, deletions: 0, hunks: [] },
    { path: 'src/gone.js', status: 'deleted', additions: 0, deletions: 1, hunks: [] },
  ];
  await manager.query(
    `insert into diffs (task_id, branch_name, base_branch, files, truncated, head_sha) values ($1, 'b', 'main', $2, false, $3)`,
    [task, JSON.stringify(files), 'c'.repeat(40)],
  );
  talk.says = () => `See ${task} and \`src/a b.js:7\`, not ${alien}, \`src/gone.js\` or src/made-up.js.`;
  const { body } = await call(ada, 'POST', `/tasks/${task}/chat`, { message: 'Where?' });
  const blob = `https://github.com/o/r/blob/${'c'.repeat(40)}/src/a%20b.js#L7`;
  const page = `http://localhost:3000/tasks/${task}`;
  const linked = `See [Greet \\[by\\] name](${page}) and [\`src/a b.js:7\`](${blob}), not ${alien}, \`src/gone.js\` or src/made-up.js.`;
  expect(body.response).toBe(linked);
  expect((await call(ben, 'GET', `/tasks/${task}/chat`)).body[1].text).toBe(linked);
});

test('secrets reach neither the model nor the people', async () => {
  const task = await makeTask();
  const secret = 'hunter2-hunter2';
  await call(ada, 'PUT', `/projects/${project}/environment-secrets/TOKEN`, { value: secret });
  await call(ada, 'PATCH', `/tasks/${task}`, { description: `Log in with ${secret}` });
  const token = `ghp_${'a'.repeat(36)}`;
  talk.says = () => `It is ${secret}, or ${token}.`;
  const response = await fetch(`${service.url}/api/v1/tasks/${task}/chat`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ada}`, Accept: 'text/event-stream', 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: `Is ${secret} or ${token} right?` }),
  });
  const seen = [
    await response.text(),
    JSON.stringify(last()),
    JSON.stringify((await call(ben, 'GET', `/tasks/${task}/chat`)).body),
  ];
  for (const text of seen) {
    expect(text).toContain('a credential was removed');
    expect(text).not.toContain(secret);
    expect(text).not.toContain(token);
  }
});

test('an answer is an event of the project', async () => {
  const task = await makeTask();
  const leave = new AbortController();
  const stream = await fetch(`${service.url}/api/v1/projects/${project}/events`, {
    headers: { Authorization: `Bearer ${ben}` },
    signal: leave.signal,
  });
  talk.says = () => 'Heard.';
  await call(ada, 'POST', `/tasks/${task}/chat`, { message: 'Anybody there?' });
  let seen = '';
  for await (const piece of stream.body as unknown as AsyncIterable<Uint8Array>) {
    seen += new TextDecoder().decode(piece);
    if (seen.includes('event: chat') && seen.includes('"status":"task"')) break;
  }
  leave.abort();
  expect(seen).toContain(`"id":"${task}","status":"task"`);
});
