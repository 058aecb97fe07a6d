import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
let developer: string;
const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const create = async (body: object) => (await call('POST', `/projects/${project}/tasks`, body)).body;

beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
  developer = (await call('GET', '/agents')).body.find((a: { name: string }) => a.name === 'Developer').id;
});
afterAll(() => service.close());

test('a created task has every field of the contract', async () => {
  const { status, body } = await call('POST', `/projects/${project}/tasks`, {
    title: ' Do it ',
    owner: developer,
    status: 'ready',
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^task_/),
    title: 'Do it',
    description: '',
    status: 'ready',
    priority: 'normal',
    owner: developer,
    projectId: project,
    branchName: null,
    base: null,
    merging: null,
    attention: null,
    budget: null,
    prUrl: null,
    dependsOn: [],
    repositoryId: null,
    parentId: null,
    planFirst: null,
    sprintId: null,
    issueNumber: null,
    issueUrl: null,
    issueType: null,
    issueAssignees: [],
    failure: null,
    responsible: null,
    runCount: 0,
    undoOf: null,
    createdAt: expect.stringMatching(/Z$/),
    updatedAt: expect.stringMatching(/Z$/),
  });
  expect((await call('GET', `/tasks/${body.id}`)).body).toEqual(body);
});

test.each([
  [{ title: '' }, 'title'],
  [{ title: 'x'.repeat(201) }, 'title'],
  [{ title: 'a\0b' }, 'title'],
  [{ title: 't', description: 'x'.repeat(50_001) }, 'description'],
  [{ title: 't', status: 'done' }, 'status'],
  [{ title: 't', owner: 'agent_unknown' }, 'owner'],
  [{ title: 't', owner: null }, 'owner'],
  [{ title: 't', dependsOn: ['task_unknown'] }, 'dependsOn.0'],
  [{ title: 't', repositoryId: 'repo_unknown' }, 'repositoryId'],
  [{ title: 't', branchName: 'x' }, 'branchName'],
  [{ title: 7 }, 'title'],
])('%j is refused, naming %s', async (body, path) => {
  const answer = await call('POST', `/projects/${project}/tasks`, body);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].path).toBe(path);
});

test('references to an agent or a task of another project are refused', async () => {
  const other = (await call('POST', '/projects', { name: 'Other' })).body.id;
  const foreign = (
    await service.app.db.manager.query(`select id from agents where project_id = $1 limit 1`, [other])
  )[0].id;
  const task = (await call('POST', `/projects/${other}/tasks`, { title: 't' })).body.id;
  const answer = await call('POST', `/projects/${project}/tasks`, { title: 't', owner: foreign, dependsOn: [task] });
  expect(answer.body.errors.map((e: { path: string }) => e.path)).toEqual(['owner', 'dependsOn.0']);
});

test('lists can be filtered, and statistics count correctly', async () => {
  const [a, b] = [
    await create({ title: 'Find the Needle' }),
    await create({ title: 'hay 100%', status: 'ready', owner: developer }),
  ];
  const list = async (query: string) =>
    (await call('GET', `/projects/${project}/tasks?${query}`)).body.map((t: { id: string }) => t.id);
  expect(await list('search=needle')).toEqual([a.id]);
  expect(await list('search=100%25')).toEqual([b.id]);
  expect(await list('search=_')).toEqual([]);
  expect(await list('search=IND%20the%20need')).toEqual([a.id]);
  expect(await list('search=find%20needle')).toEqual([]);
  const described = await create({ title: 'Limits', description: "Refuse Größe-9 `parse_config()`: it isn't 日本語." });
  for (const text of ['größe', 'parse', 'PARSE_CONFIG refuse', "isn't", "' | 'refuse", '日本語', 'limits'])
    expect([text, await list(`search=${encodeURIComponent(text)}`)]).toEqual([text, [described.id]]);
  for (const text of ['config', 'pars refuse', 're', 'refuse this', '日本', '()'])
    expect([text, await list(`search=${encodeURIComponent(text)}`)]).toEqual([text, []]);
  await call('PATCH', `/tasks/${described.id}`, { description: 'Something else' });
  expect([await list('search=refuse'), await list('search=something')]).toEqual([[], [described.id]]);
  await call('DELETE', `/tasks/${described.id}`);
  expect(await list('status=ready&limit=1')).toEqual([b.id]);
  expect((await list(`owner=${developer}`)).length).toBe(2);
  expect((await call('GET', `/projects/${project}/tasks?status=nope`)).status).toBe(400);
  const stats = (await call('GET', `/projects/${project}/stats`)).body;
  expect(Object.keys(stats.byStatus)).toEqual([
    'backlog',
    'ready',
    'in_progress',
    'in_review',
    'done',
    'waiting_on_subtasks',
  ]);
  expect(stats.total).toBe(Object.values<number>(stats.byStatus).reduce((x, y) => x + y));
});

test('a task has a priority, which its queued runs take', async () => {
  const { id, priority } = await create({ title: 'Now', priority: 'urgent' });
  expect(priority).toBe('urgent');
  const { manager: em } = service.app.db;
  const insert = `insert into runs (id, task_id, project_id, kind, status) values ('run_p', $1, $2, 'start', 'queued')`;
  await em.query(insert, [id, project]);
  const ofRun = async () => (await em.query(`select priority from runs where id = 'run_p'`))[0].priority;
  expect(await ofRun()).toBe('urgent');
  const refused = await call('PATCH', `/tasks/${id}`, { priority: 'blocker' });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining('priority must be one of urgent, high, normal, low'),
  ]);
  const changed = await call('PATCH', `/tasks/${id}`, { priority: 'low' });
  expect([changed.status, changed.body.priority, await ofRun()]).toEqual([200, 'low', 'low']);
  const { body } = await call('GET', `/projects/${project}/board?ids=${id}`);
  expect(body.tasks[0].priority).toBe('low');
  const { body: records } = await call('GET', `/projects/${project}/audit?object=${id}&action=task.create`);
  expect(records[0].detail).toMatchObject({ priority: [null, 'urgent'] });
  await em.query(`delete from runs where id = 'run_p'`);
});

test('a new task has an empty diff and no handoffs, pull requests or runs', async () => {
  const { id } = await create({ title: 'new' });
  expect((await call('GET', `/tasks/${id}/diff`)).body).toEqual({
    taskId: id,
    branchName: '',
    baseBranch: 'main',
    files: [],
  });
  expect((await call('GET', `/tasks/${id}/handoffs`)).body).toEqual({ handoffs: [] });
  expect((await call('GET', `/tasks/${id}/prs`)).body).toEqual([]);
  expect((await call('GET', `/tasks/${id}/runs`)).body).toEqual([]);
});

test('refusals of start, retry, cancel and merge say what they require', async () => {
  const { id } = await create({ title: 'no owner' });
  const refused = async (path: string, task = id) => (await call('POST', `/tasks/${task}/${path}`)).body;
  expect(await refused('start')).toEqual({
    statusCode: 409,
    message: 'The task has no owner. Assign an agent to it first.',
  });
  expect((await refused('retry')).message).toBe(
    'A task can be retried after its latest run failed or was cancelled; this one has not run yet.',
  );
  expect((await refused('cancel')).message).toBe(
    'Only a task that is in progress can be cancelled; this one is in the backlog.',
  );
  expect((await refused('merge')).message).toBe('The task has no open pull request to merge.');
  const waiting = await create({ title: 'dependent', owner: developer, dependsOn: [id] });
  expect((await refused('start', waiting.id)).message).toBe(
    `The task depends on tasks that are not done: ${id}. Finish them or remove the dependencies.`,
  );
  const lone = await create({ title: 'no repository', owner: developer });
  expect((await refused('start', lone.id)).message).toMatch(/no connected repository on GitHub/);
});

test('without a model start is 503; the task does not move and gets no repository', async () => {
  const { id } = await create({ title: 't', owner: developer });
  await call('POST', '/repositories', { projectId: project, name: 'r', url: 'https://github.com/octocat/r' });
  const first = await call('POST', `/tasks/${id}/start`);
  expect([first.status, first.body.message]).toEqual([503, expect.stringMatching(/OPENAI_MODEL/)]);
  expect((await call('GET', `/tasks/${id}`)).body).toMatchObject({
    status: 'backlog',
    runCount: 0,
    repositoryId: null,
  });
});

test('an owner can be given by a name that only one agent has', async () => {
  const byName = await call('POST', `/projects/${project}/tasks`, { title: 'by name', owner: 'developer' });
  expect([byName.status, byName.body.owner]).toEqual([201, developer]);
  const bulk = { tasks: [{ title: 'a', owner: 'Developer' }] };
  expect((await call('POST', `/projects/${project}/tasks/bulk`, bulk)).body[0].owner).toBe(developer);
  await call('PATCH', `/tasks/${byName.body.id}`, { owner: null });
  const changed = await call('PATCH', `/tasks/${byName.body.id}`, { owner: 'Developer' });
  expect([changed.status, changed.body.owner]).toEqual([200, developer]);
  // Names in other projects do not count, and of two members' agents with one name neither is meant.
  const twins = [];
  for (const login of ['twin1', 'twin2']) {
    const own = await service.token(login);
    await call('POST', `/projects/${project}/members`, { login });
    const agent = (await service.call('POST', '/agents', { token: own, body: { name: 'Twin' } })).body;
    twins.push(agent.id);
    const assigned = { title: 'of a twin', owner: agent.id };
    await service.call('POST', `/projects/${project}/tasks`, { token: own, body: assigned });
  }
  const unclear = await call('PATCH', `/tasks/${byName.body.id}`, { owner: 'twin' });
  expect([unclear.status, unclear.body.errors[0].path]).toEqual([400, 'owner']);
  expect(unclear.body.message).toBe(
    `owner must name one agent, and 2 are named twin; give the id of one of them: ${twins.sort().join(', ')}`,
  );
  const unknown = await call('PATCH', `/tasks/${byName.body.id}`, { owner: 'Nobody' });
  expect(unknown.body.message).toBe('owner must be an agent that may work in this project, not Nobody');
});

test('when two people replace the same text, the second one is refused', async () => {
  const { id } = await create({ title: 'Of two', description: 'Before' });
  const edit = (change: object) => call('PATCH', `/tasks/${id}`, change);
  const replies = await Promise.all(
    ['Mine', 'Theirs'].map((description) => edit({ description, replaces: { description: 'Before' } })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(replies.find(({ status }) => status === 409)?.body.message).toBe(
    'Somebody else has changed the description since you read it. Reload to see their change.',
  );
  const description = replies.find(({ status }) => status === 200)?.body.description;
  expect((await call('GET', `/tasks/${id}`)).body.description).toBe(description);
  // The other text may have changed.
  expect((await edit({ title: 'Another', replaces: { title: 'Of two' } })).status).toBe(200);
  expect((await edit({ description: 'Last', replaces: { description } })).body).toMatchObject({
    title: 'Another',
    description: 'Last',
  });
});

test('a task says that it was edited after its failure, until it has another one', async () => {
  const other = (await call('POST', '/projects', { name: 'Edited' })).body.id;
  const { id } = (await call('POST', `/projects/${other}/tasks`, { title: 't' })).body;
  const failure = JSON.stringify({ category: 'model', message: 'no name', retryable: true });
  const fail = () =>
    service.app.db.manager.query(
      `update tasks set status = 'ready', failure = $2, status_since = clock_timestamp() where id = $1`,
      [id, failure],
    );
  const edited = async () => (await call('GET', `/tasks/${id}`)).body.editedSinceFailure;
  await call('PATCH', `/tasks/${id}`, { description: 'earlier' });
  expect(await edited()).toBeUndefined();
  await fail();
  expect(await edited()).toBeUndefined();
  await call('PATCH', `/tasks/${id}`, { priority: 'high' });
  expect(await edited()).toBeUndefined();
  await call('PATCH', `/tasks/${id}`, { description: 'Name: url-slugs' });
  expect(await edited()).toBe(true);
  await fail();
  expect(await edited()).toBeUndefined();
  await call('PATCH', `/tasks/${id}`, { budget: { steps: 40 } });
  expect(await edited()).toBe(true);
  await fail();
  expect(await edited()).toBeUndefined();
});
