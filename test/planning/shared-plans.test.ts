import { until } from '../../demo/real-service.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
let repositories: string[];
const call = (method: string, path: string, body?: unknown, as = token) =>
  service.call(method, path, { token: as, ...(body === undefined ? {} : { body }) });
const wizard = (method: string, what = '', body?: unknown) => call(method, `/projects/${project}/wizard${what}`, body);
const made = async (path: string, body: object) => (await call('POST', path, body)).body.id as string;

beforeAll(async () => {
  // Without a model, everything is written by hand.
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true', OPENAI_MODEL: '', RATE_LIMIT_MODEL: '0' });
  token = await service.token('octocat');
});
beforeEach(async () => {
  project = await made('/projects', { name: 'P' });
  const connect = (name: string) =>
    made('/repositories', { projectId: project, name, url: `https://127.0.0.1:1/o/${name}` });
  repositories = [await connect('api'), await connect('docs')];
});
afterAll(() => service.close());

const begin = async (more: object = {}) =>
  (await wizard('POST', '/initialize', { goal: 'Greet people', ...more })).body.sessionId as string;

/** Begins a session and answers all its questions. */
async function answered(more: object = {}) {
  const id = await begin(more);
  let session = (await wizard('GET', `/${id}`)).body;
  while (session.currentStep !== null) {
    const answer = { stepId: session.currentStep.id, customText: 'as usual' };
    session = (await wizard('POST', `/${id}/answer`, { answer })).body;
  }
  return session;
}

const prd = { title: 'Greeting', markdown: '# Greeting\n\nGreet everybody.' };
const plan = { phases: [{ name: 'Core', goal: 'Greet', reason: 'First' }] };
const task = (ref: string, more: object = {}) => ({ ref, title: `Do ${ref}`, ...more });

test('an edited task names its agent as people do', async () => {
  const [agent] = (await call('GET', `/agents?projectId=${project}`)).body;
  const { sessionId, updatedAt } = await answered();
  const edit = (name: string) =>
    wizard('PATCH', `/${sessionId}`, { prd, plan, tasks: [task('a', { owner: name })], updatedAt });
  expect((await edit('Nobody')).status).toBe(400);
  expect((await edit(agent.name.toUpperCase())).body.tasks).toMatchObject([{ ref: 'a', owner: agent.id }]);
});

test('a plan is written by hand, for two repositories, and becomes a sprint', async () => {
  const first = await answered({ repositoryIds: [repositories[1], repositories[0], repositories[1]] });
  expect(first).toMatchObject({
    repositoryId: repositories[1],
    repositoryIds: [repositories[1], repositories[0]],
    sprintId: null,
    previous: { prd: null, plan: null, tasks: null },
  });
  const { sessionId, updatedAt } = first;
  const tasks = [task('a', { repositoryId: repositories[0] }), task('b', { dependsOn: ['a'] })];
  const edited = await wizard('PATCH', `/${sessionId}`, { prd, plan, tasks, updatedAt });
  expect([edited.status, edited.body]).toEqual([
    200,
    expect.objectContaining({
      status: 'tasks_ready',
      prd,
      plan,
      tasks: [
        expect.objectContaining({ ref: 'a', description: '', owner: null, repositoryId: repositories[0] }),
        expect.objectContaining({ ref: 'b', dependsOn: ['a'], repositoryId: null, ownerReason: null }),
      ],
    }),
  ]);
  expect(Date.parse(edited.body.updatedAt)).toBeGreaterThan(Date.parse(updatedAt));
  const { sprint, tasks: created } = (await wizard('POST', `/${sessionId}/finalize`)).body;
  const where = await Promise.all(
    created.map(async ({ id }: { id: string }) => (await call('GET', `/tasks/${id}`)).body.repositoryId),
  );
  expect(where).toEqual([repositories[0], repositories[1]]);
  expect((await wizard('GET', `/${sessionId}`)).body).toMatchObject({ status: 'finalized', sprintId: sprint.id });
  const after = await wizard('PATCH', `/${sessionId}`, { prd, updatedAt: edited.body.updatedAt });
  expect(after.status).toBe(409);
  await call('DELETE', `/sprints/${sprint.id}`);
  expect((await wizard('GET', `/${sessionId}`)).body.sprintId).toBeNull();
});

test('when two people edit one plan, the second gets 409, and nothing is lost', async () => {
  const { sessionId, updatedAt } = await answered();
  const mine = await wizard('PATCH', `/${sessionId}`, { prd, updatedAt });
  const theirs = await wizard('PATCH', `/${sessionId}`, { prd: { ...prd, title: 'Other' }, updatedAt });
  expect([theirs.status, theirs.body.message]).toEqual([
    409,
    'Somebody else changed this planning session. Reload to see their changes.',
  ]);
  expect((await wizard('GET', `/${sessionId}`)).body.prd).toEqual(prd);
  const next = { ...prd, title: 'Better' };
  const again = await wizard('PATCH', `/${sessionId}`, { prd: next, plan, updatedAt: mine.body.updatedAt });
  expect(again.body).toMatchObject({ status: 'plan_ready', prd: next, previous: { prd, plan: null } });
  // Editing the requirements keeps the plan.
  const last = await wizard('PATCH', `/${sessionId}`, { prd, updatedAt: again.body.updatedAt });
  expect(last.body).toMatchObject({ status: 'plan_ready', plan, previous: { prd: next } });
  const nothing = await wizard('PATCH', `/${sessionId}`, {});
  expect([nothing.status, nothing.body]).toEqual([200, last.body]);
});

test('says which parts follow from an earlier text', async () => {
  const { sessionId, updatedAt } = await answered();
  let last = updatedAt;
  const outdatedAfter = async (parts: object) => {
    const { body } = await wizard('PATCH', `/${sessionId}`, { ...parts, updatedAt: last });
    last = body.updatedAt;
    return body.outdated;
  };
  const tasks = [task('a')];
  expect(await outdatedAfter({ prd, plan, tasks })).toEqual([]);
  expect(await outdatedAfter({ prd })).toEqual([]);
  expect(await outdatedAfter({ prd: { ...prd, title: 'Other' } })).toEqual(['plan', 'tasks']);
  expect(await outdatedAfter({ plan })).toEqual(['tasks']);
  expect(await outdatedAfter({ plan: { phases: [{ ...plan.phases[0], name: 'Base' }] }, tasks })).toEqual([]);
});

test('an edit that does not fit names the field, and nothing changes', async () => {
  const { sessionId, updatedAt } = await answered();
  const edit = async (body: object) => {
    const { status, body: reply } = await wizard('PATCH', `/${sessionId}`, { updatedAt, ...body });
    return `${status} ${reply.message}`;
  };
  expect(await edit({ plan })).toMatch(/^409 Only a planning session that has its requirements/);
  expect(await edit({ prd, updatedAt: undefined })).toBe('400 updatedAt is required');
  expect(await edit({ prd, updatedAt: 'yesterday' })).toMatch(/^400 updatedAt must be the updatedAt/);
  expect(await edit({ prd: { title: 'x', markdown: '' } })).toBe('400 prd.markdown must not be empty');
  const cycle = [task('a', { dependsOn: ['b'] }), task('b', { dependsOn: ['a'] })];
  const withTasks = (tasks: object[]) => edit({ prd, plan, tasks });
  expect(await withTasks(cycle)).toBe('400 tasks must not depend on each other in a cycle: a, b');
  expect(await withTasks(Array.from({ length: 101 }, (_, i) => task(`${i}`)))).toBe(
    '400 tasks must have 1 to 100 tasks',
  );
  const other = await made('/projects', { name: 'Q' });
  const [theirs] = (await call('GET', `/agents?projectId=${other}`)).body;
  expect(await withTasks([task('a', { owner: theirs.id })])).toBe(
    `400 tasks.0.owner must be an agent that may work in this project, not ${theirs.id}`,
  );
  expect(await withTasks([task('a', { repositoryId: 'repo_x' })])).toBe(
    '400 tasks.0.repositoryId must be a repository of this project, not repo_x',
  );
  expect((await wizard('GET', `/${sessionId}`)).body).toMatchObject({ status: 'answered', prd: null, updatedAt });
});

test('repositories are given by one id or by several, all of this project', async () => {
  const start = (body: object) => wizard('POST', '/initialize', { goal: 'g', ...body });
  const both = await start({ repositoryId: repositories[0], repositoryIds: repositories });
  expect([both.status, both.body.message]).toEqual([400, 'repositoryIds must not be given together with repositoryId']);
  expect((await start({ repositoryIds: [] })).body.message).toBe('repositoryIds must have 1 to 100 ids');
  expect((await start({ repositoryIds: [repositories[0], 'repo_x'] })).body.message).toBe(
    'repositoryIds.1 must be a repository of this project, not repo_x',
  );
  const id = await begin();
  expect((await wizard('GET', `/${id}`)).body.repositoryIds).toEqual([repositories[0]]);
});

test('a repository that is removed half-way is left out, and the plan can be continued', async () => {
  const { sessionId, updatedAt } = await answered({ repositoryIds: repositories });
  const tasks = [task('a', { repositoryId: repositories[0] })];
  const { body: before } = await wizard('PATCH', `/${sessionId}`, { prd, plan, tasks, updatedAt });
  await call('DELETE', `/repositories/${repositories[0]}`);
  const { body: after } = await wizard('GET', `/${sessionId}`);
  expect(after).toMatchObject({ repositoryId: repositories[1], repositoryIds: [repositories[1]] });
  expect(after.tasks[0].repositoryId).toBeNull();
  // A page that was loaded before still names the repository.
  const edited = await wizard('PATCH', `/${sessionId}`, { tasks: before.tasks, updatedAt: before.updatedAt });
  expect(edited.status).toBe(200);
  const { tasks: created } = (await wizard('POST', `/${sessionId}/finalize`)).body;
  expect((await call('GET', `/tasks/${created[0].id}`)).body.repositoryId).toBe(repositories[1]);
});

test('the members of a project share its sessions, and can abandon them', async () => {
  const friend = await service.token('hubot');
  await call('POST', `/projects/${project}/members`, { login: 'hubot', role: 'member' });
  const older = await begin();
  const newer = await begin({ repositoryIds: repositories });
  const list = (query = '') => call('GET', `/projects/${project}/wizard${query}`, undefined, friend);
  expect((await list()).body).toEqual([
    {
      sessionId: newer,
      status: 'collecting',
      goal: 'Greet people',
      issueUrl: null,
      title: null,
      repositoryId: repositories[0],
      repositoryIds: repositories,
      sprintId: null,
      createdBy: { id: expect.any(String), login: 'octocat' },
      updatedBy: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    },
    expect.objectContaining({ sessionId: older }),
  ]);
  expect((await list('?limit=1&offset=1')).body).toEqual([expect.objectContaining({ sessionId: older })]);
  const gone = await call('DELETE', `/projects/${project}/wizard/${older}`, undefined, friend);
  expect(gone.status).toBe(204);
  expect((await wizard('DELETE', `/${older}`)).status).toBe(404);
  expect((await list()).body).toHaveLength(1);
  const stranger = await service.token('stranger');
  for (const path of ['', `/${newer}`])
    expect((await call('GET', `/projects/${project}/wizard${path}`, undefined, stranger)).status).toBe(403);
});

test('a session says who changed it last, and each change is an event of the project', async () => {
  const id = await begin();
  const { currentStep, updatedBy } = (await wizard('GET', `/${id}`)).body;
  expect(updatedBy).toBeNull();
  const answer = { stepId: currentStep.id, customText: 'Everybody' };
  const after = (await wizard('POST', `/${id}/answer`, { answer })).body;
  expect(after.updatedBy).toMatchObject({ login: 'octocat' });
  const friend = await service.token('hubot');
  await call('POST', `/projects/${project}/members`, { login: 'hubot', role: 'member' });
  let session = after;
  while (session.currentStep !== null) {
    const next = { stepId: session.currentStep.id, customText: 'as usual' };
    session = (await call('POST', `/projects/${project}/wizard/${id}/answer`, { answer: next }, friend)).body;
  }
  const list = async () => (await wizard('GET')).body[0].updatedBy?.login;
  expect(await list()).toBe('hubot');
  const edited = await wizard('PATCH', `/${id}`, { prd, updatedAt: session.updatedAt });
  expect(edited.body.updatedBy).toMatchObject({ login: 'octocat' });
  await wizard('DELETE', `/${id}`);
  const events: { status: string }[] = await service.app.db.manager.query(
    `select status from project_events where kind = 'plan' and object_id = $1 order by id`,
    [id],
  );
  const statuses = events.map(({ status }) => status);
  expect([statuses[0], statuses.at(-2), statuses.at(-1)]).toEqual(['collecting', 'prd_ready', 'deleted']);
});

test('people are shown as editors of a part while their stream is open, and each change of editors is an event', async () => {
  const id = await begin();
  const em = service.app.db.manager;
  // The process of this editor was killed.
  await service.token('hubot');
  await em.query(
    `insert into plan_editors (session_id, user_id, part, seen_at)
     select $1, id, 'plan', now() - interval '2 minutes' from users where login = 'hubot'`,
    [id],
  );
  const stop = new AbortController();
  const open = async (part: string) =>
    fetch(`${service.url}/api/v1/projects/${project}/wizard/${id}/editing?part=${part}`, {
      headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' },
      signal: stop.signal,
    });
  const editors = async () => (await wizard('GET', `/${id}`)).body.editors;
  expect(await editors()).toEqual([]);
  expect([(await open('prd')).status, (await open('tasks')).status, (await open('nothing')).status]).toEqual([
    200, 200, 400,
  ]);
  const user = { id: expect.any(String), login: 'octocat' };
  expect(await editors()).toEqual([
    { part: 'prd', user },
    { part: 'tasks', user },
  ]);
  stop.abort();
  await until('the streams to end', async () => (await em.query('select 1 from plan_editors')).length === 0);
  const events = await em.query(`select status from project_events where kind = 'plan' and object_id = $1`, [id]);
  // The beginning of the session, and three editors who came and went.
  expect(events).toHaveLength(7);
});
