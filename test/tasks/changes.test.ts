import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
let developer: string;
const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const create = async (body: object = {}) =>
  (await call('POST', `/projects/${project}/tasks`, { title: 't', ...body })).body;
const patch = (id: string, body: object) => call('PATCH', `/tasks/${id}`, body);
const get = async (id: string) => (await call('GET', `/tasks/${id}`)).body;
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const run = (task: string, status: string) =>
  sql(
    `insert into runs (id, task_id, project_id, kind, status) values ('run_' || gen_random_uuid(), $1, $2, 'start', $3)`,
    [task, project, status],
  );
const pull = (task: string, number: number, status: string) =>
  sql(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     select $1, id, $2::int, 'https://github.com/o/r/pull/' || $2::int, $3, 'agent/x', 'sha' from repositories limit 1`,
    [task, number, status],
  );

beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
  developer = (await call('GET', '/agents')).body[0].id;
  await call('POST', '/repositories', { projectId: project, name: 'r', url: 'https://github.com/o/r' });
});
afterAll(() => service.close());

test('a PATCH changes the given fields and no others', async () => {
  const task = await create({ title: 'before', description: 'd', owner: developer });
  expect((await patch(task.id, {})).body).toEqual(task);
  const { body } = await patch(task.id, { title: 'after', owner: null });
  expect(body).toMatchObject({ title: 'after', description: 'd', owner: null, status: 'backlog' });
  for (const bad of [
    { title: '' },
    { owner: 'agent_x' },
    { status: 'nope' },
    { prUrl: 'x' },
    { repositoryId: 'repo_x' },
    { dependsOn: ['task_x'] },
    { title: null },
  ])
    expect([bad, (await patch(task.id, bad)).status]).toEqual([bad, 400]);
  expect(await get(task.id)).toEqual(body);
});

test('a budget is replaced, removed and kept below the limits of the project and the service', async () => {
  const { id } = await create({ owner: developer });
  expect((await patch(id, { budget: { costUsd: 2.5, steps: 20 } })).body.budget).toEqual({ costUsd: 2.5, steps: 20 });
  await run(id, 'running');
  const during = await patch(id, { budget: { minutes: 7 } });
  expect([during.status, during.body.budget]).toEqual([200, { minutes: 7 }]);
  expect((await patch(id, { title: 'kept' })).body.budget).toEqual({ minutes: 7 });
  const made = await call('POST', `/projects/${project}/tasks`, { title: 'Limited', budget: { steps: 20 } });
  expect([made.status, made.body.budget]).toEqual([201, { steps: 20 }]);
  await call('PATCH', `/projects/${project}`, { budgets: { runSteps: 50 } });
  const refused = await call('POST', `/projects/${project}/tasks`, { title: 'Limited', budget: { steps: 51 } });
  expect(refused.body.errors).toEqual([
    { path: 'budget.steps', message: 'budget.steps must be at most 50, the limit of this project' },
  ]);
  const { runCostUsd } = (await call('GET', `/projects/${project}`)).body.limits;
  const tooMuch = await patch(id, { budget: { steps: 51, costUsd: runCostUsd + 1 } });
  expect([tooMuch.status, tooMuch.body.errors]).toEqual([
    400,
    [
      {
        path: 'budget.costUsd',
        message: `budget.costUsd must be at most ${runCostUsd}, the limit of this service (MAX_RUN_COST_USD)`,
      },
      { path: 'budget.steps', message: 'budget.steps must be at most 50, the limit of this project' },
    ],
  ]);
  await call('PATCH', `/projects/${project}`, { budgets: { runSteps: null } });
  for (const [key, value] of Object.entries({ steps: 1.5, tokens: 0, minutes: -1, costUsd: '8', days: 3 })) {
    const refused = await patch(id, { budget: { [key]: value } });
    expect([key, refused.status]).toEqual([key, 400]);
    expect(refused.body.errors[0].path).toMatch(/^budget/);
  }
  expect((await get(id)).budget).toEqual({ minutes: 7 });
  expect((await patch(id, { budget: null })).body.budget).toBeNull();
  expect((await patch(id, { budget: {} })).body.budget).toBeNull();
});

test('people set a status by the rules of the state machine', async () => {
  const { id } = await create();
  const to = async (status: string) => (await patch(id, { status })).body.status ?? 409;
  expect(await to('ready')).toBe('ready');
  expect(await to('ready')).toBe('ready');
  expect(await to('backlog')).toBe('backlog');
  expect((await patch(id, { status: 'in_progress' })).body).toEqual({
    statusCode: 409,
    message: 'Runs and pull requests set the status in_progress; people cannot. The task is backlog.',
  });
  expect(await to('done')).toBe('done');
  expect((await patch(id, { status: 'backlog' })).body.message).toBe(
    'Only a task that is ready can be moved to the backlog; this one is done.',
  );
  expect(await to('ready')).toBe('ready');
  await patch(id, { status: 'done' });
  await pull(id, 1, 'open');
  expect(await to('ready')).toBe('in_review');
});

test('a pull request that was merged before the task was reopened no longer counts', async () => {
  const { id } = await create();
  await pull(id, 2, 'merged');
  await patch(id, { status: 'done' });
  await patch(id, { status: 'ready' });
  expect((await sql('select counts from pull_requests where number = 2'))[0].counts).toBe(false);
});

test('with a live run only title and description may change; once there is a branch, the repository may not', async () => {
  const { id } = await create({ owner: developer });
  await run(id, 'queued');
  expect((await patch(id, { title: 'new', description: 'new', owner: developer })).status).toBe(200);
  for (const change of [{ owner: null }, { status: 'ready' }])
    expect((await patch(id, change)).body.message).toMatch(
      /^This task has an unfinished run, so (owner|status) cannot change/,
    );
  expect((await call('DELETE', `/tasks/${id}`)).status).toBe(409);
  await sql(`update runs set status = 'failed'`);
  await sql(`update tasks set branch_name = 'agent/x' where id = $1`, [id]);
  const second = (
    await call('POST', '/repositories', { projectId: project, name: 'r2', url: 'https://github.com/o/r2' })
  ).body.id;
  expect((await patch(id, { repositoryId: second })).body.message).toMatch(/so its repository cannot change/);
  expect((await call('DELETE', `/tasks/${id}`)).status).toBe(204);
  expect((await call('GET', `/tasks/${id}`)).status).toBe(404);
});

test('dependencies never form a cycle, even when two change at the same time', async () => {
  const [a, b, c] = [await create(), await create(), await create()];
  await patch(b.id, { dependsOn: [a.id] });
  await patch(c.id, { dependsOn: [b.id, b.id] });
  expect((await get(c.id)).dependsOn).toEqual([b.id]);
  for (const [id, on] of [
    [a.id, c.id],
    [a.id, a.id],
  ])
    expect((await patch(id, { dependsOn: [on] })).body.errors?.[0].path).toBe('dependsOn');
  const [x, y] = [await create(), await create()];
  const both = await Promise.all([patch(x.id, { dependsOn: [y.id] }), patch(y.id, { dependsOn: [x.id] })]);
  expect(both.map((r) => r.status).sort()).toEqual([200, 400]);
  await call('DELETE', `/tasks/${b.id}`);
  expect((await get(c.id)).dependsOn).toEqual([]);
});

test('a task has as many subtasks as an issue on GitHub, and no more', async () => {
  const parent = await create({ owner: developer });
  const add = () => call('POST', `/tasks/${parent.id}/subtasks`, { title: 'sub', description: 'd' });
  await add();
  await sql(
    `insert into tasks (id, project_id, title, description, status, parent_id)
     select 'task_' || lpad(i::text, 26, '0'), $1, 'sub ' || i, '', 'done', $2 from generate_series(1, 98) i`,
    [project, parent.id],
  );
  expect((await add()).status).toBe(201);
  expect(await add()).toMatchObject({
    status: 409,
    body: {
      message: 'A task has at most 100 subtasks. Add a task that this one depends on instead.',
    },
  });
  expect((await call('GET', `/tasks/${parent.id}/subtasks`)).body).toHaveLength(100);
});

test('a parent waits for its subtasks until the last is done or deleted', async () => {
  const parent = await create({ owner: developer, status: 'ready' });
  const add = () => call('POST', `/tasks/${parent.id}/subtasks`, { title: 'sub', description: 'd' });
  const [one, two] = [await add(), await add()];
  expect([one.status, one.body]).toEqual([
    201,
    expect.objectContaining({
      title: 'sub',
      parentId: parent.id,
      owner: developer,
      repositoryId: parent.repositoryId,
      status: 'backlog',
    }),
  ]);
  expect((await get(parent.id)).status).toBe('waiting_on_subtasks');
  expect((await call('GET', `/tasks/${parent.id}/subtasks`)).body.map((t: { id: string }) => t.id)).toEqual([
    one.body.id,
    two.body.id,
  ]);
  expect((await call('POST', `/tasks/${one.body.id}/subtasks`, { title: 'x' })).body.message).toMatch(
    /cannot have subtasks of its own/,
  );
  expect((await patch(one.body.id, { dependsOn: [parent.id] })).status).toBe(400);
  await patch(one.body.id, { status: 'done' });
  expect((await get(parent.id)).status).toBe('waiting_on_subtasks');
  await call('DELETE', `/tasks/${two.body.id}`);
  expect((await get(parent.id)).status).toBe('ready');
  await patch(one.body.id, { status: 'ready' });
  expect((await get(parent.id)).status).toBe('ready');
  await call('DELETE', `/tasks/${parent.id}`);
  expect((await call('GET', `/tasks/${one.body.id}`)).status).toBe(404);
});

test('bulk creation creates all tasks or none, in order, and resolves refs', async () => {
  const bulk = (tasks: unknown) => call('POST', `/projects/${project}/tasks/bulk`, { tasks });
  const before = (await call('GET', `/projects/${project}/stats`)).body.total;
  const made = await bulk([
    { title: 'b', dependsOn: ['a'] },
    { title: 'a', ref: 'a', owner: developer },
  ]);
  expect(made.status).toBe(201);
  const titles = (tasks: { title: string }[]) => tasks.map(({ title }) => title);
  expect(titles(made.body)).toEqual(['b', 'a']);
  const many = await bulk(Array.from({ length: 30 }, (_, i) => ({ title: `line ${i}` })));
  for (const list of ['tasks', 'backlog'])
    expect([list, titles((await call('GET', `/projects/${project}/${list}?limit=30`)).body)]).toEqual([
      list,
      titles(many.body),
    ]);
  expect(made.body[0].dependsOn).toEqual([made.body[1].id]);
  const refused: [unknown, string][] = [
    [[{ title: 'x' }, { title: '' }], 'tasks.1.title'],
    [
      [
        { title: 'x', ref: 'a' },
        { title: 'y', ref: 'a' },
      ],
      'tasks.1.ref',
    ],
    [[{ title: 'x', dependsOn: ['nowhere'] }], 'tasks.0.dependsOn.0'],
    [
      [
        { title: 'x', ref: 'a', dependsOn: ['b'] },
        { title: 'y', ref: 'b', dependsOn: ['a'] },
      ],
      'tasks.0.dependsOn',
    ],
    [[{ title: 'x', owner: 'agent_x' }], 'tasks.0.owner'],
    [[], 'tasks'],
    [Array.from({ length: 101 }, () => ({ title: 'x' })), 'tasks'],
  ];
  for (const [tasks, path] of refused) {
    const answer = await bulk(tasks);
    expect([answer.status, answer.body.errors[0].path]).toEqual([400, path]);
  }
  expect((await call('GET', `/projects/${project}/stats`)).body.total).toBe(before + 32);
});
