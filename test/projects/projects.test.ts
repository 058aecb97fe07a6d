import { upsertUser } from '../../src/projects/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
const tokens: Record<string, string> = {};
let project: string;
const as = (who: string, method: string, path: string, body?: unknown) =>
  service.call(method, path, { token: tokens[who] ?? '', ...(body === undefined ? {} : { body }) });

beforeAll(async () => {
  service = await openTestApp({ MAX_RUN_STEPS: '200' });
  for (const login of ['owner', 'admin', 'member', 'other']) tokens[login] = await service.token(login);
  project = (await as('owner', 'POST', '/projects', { name: ' Crème ', description: 'd' })).body.id;
  for (const role of ['admin', 'member'])
    await as('owner', 'POST', `/projects/${project}/members`, { login: role, role });
});
afterAll(() => service.close());

test('a project has the same fields for all its members', async () => {
  const { status, body } = await as('member', 'GET', `/projects/${project}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    id: project,
    name: 'Crème',
    slug: expect.stringMatching(/^creme-[a-z0-9]{6}$/),
    description: 'd',
    defaultAgentId: null,
    role: 'member',
    addedBy: { id: expect.stringMatching(/^user_/), login: 'owner' },
    budgets: { runMinutes: null, runSteps: null, runTokens: null, runCostUsd: null, dayCostUsd: null },
    limits: { runMinutes: 30, runSteps: 200, runTokens: 2_000_000, runCostUsd: 5, dayCostUsd: 50 },
    sharePrivateContext: false,
    push: 'free',
    github: null,
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

test('admins change settings; budgets are merged, and {} changes nothing', async () => {
  expect((await as('member', 'PATCH', `/projects/${project}`, { name: 'x' })).body).toEqual({
    statusCode: 403,
    message: 'Requires the admin role',
  });
  const patch = (body: object) => as('admin', 'PATCH', `/projects/${project}`, body);
  await patch({ budgets: { runSteps: 5 } });
  const { body } = await patch({ budgets: { runCostUsd: 0.5 }, sharePrivateContext: true });
  expect(body.budgets).toEqual({ runMinutes: null, runSteps: 5, runTokens: null, runCostUsd: 0.5, dayCostUsd: null });
  expect((await patch({})).body).toEqual(body);
  expect((await patch({ push: 'approved' })).body.push).toBe('approved');
  expect((await patch({ push: 'never' })).body.message).toBe('push must be free or approved');
  expect((await patch({ budgets: { runSteps: 0 } })).status).toBe(400);
  expect((await patch({ id: 'proj_x' })).body.message).toBe('id is not a known field');
});

test('a budget above the limit of the service is refused with the reason, and nothing changes', async () => {
  const path = `/projects/${project}`;
  const before = (await as('admin', 'GET', path)).body;
  const refused = await as('admin', 'PATCH', path, {
    name: 'Renamed',
    budgets: { runSteps: 201, runCostUsd: 5.01, runMinutes: 30 },
  });
  expect(refused.body).toEqual({
    statusCode: 400,
    message:
      'budgets.runSteps must be at most 200, the limit of this service (MAX_RUN_STEPS); ' +
      'budgets.runCostUsd must be at most 5, the limit of this service (MAX_RUN_COST_USD)',
    errors: [
      { path: 'budgets.runSteps', message: expect.any(String) },
      { path: 'budgets.runCostUsd', message: expect.any(String) },
    ],
  });
  expect((await as('admin', 'PATCH', path, { budgets: { runSteps: 201 } })).status).toBe(400);
  expect((await as('admin', 'GET', path)).body).toEqual(before);
  const highest = { ...before.limits };
  expect((await as('admin', 'PATCH', path, { budgets: highest })).body.budgets).toEqual(highest);
});

test('members: who may add, change and remove whom', async () => {
  const path = `/projects/${project}/members`;
  expect((await as('member', 'POST', path, { login: 'new' })).status).toBe(403);
  const added = await as('admin', 'POST', path, { login: 'new' });
  expect([added.status, added.body.role, added.body.login]).toEqual([201, 'member', 'new']);
  expect((await as('admin', 'POST', path, { login: 'NEW' })).status).toBe(409);
  expect((await as('admin', 'POST', path, { login: 'boss', role: 'owner' })).body.message).toBe(
    'Requires the owner role',
  );
  expect((await as('admin', 'POST', path, { login: 'no such login!' })).status).toBe(400);
  const one = `${path}/${added.body.userId}`;
  expect((await as('admin', 'PATCH', one, { role: 'admin' })).body.role).toBe('admin');
  expect((await as('admin', 'PATCH', one, { role: 'owner' })).status).toBe(403);
  expect((await as('member', 'DELETE', one)).status).toBe(403);
  expect((await as('admin', 'DELETE', one)).status).toBe(204);
  expect((await as('admin', 'DELETE', one)).status).toBe(404);
});

test('a new member sees who added them, and can leave with one call', async () => {
  const listed = async (who: string) =>
    (await as(who, 'GET', '/projects')).body.find((each: { id: string }) => each.id === project);
  expect((await listed('owner')).addedBy).toBeNull();
  expect(await listed('other')).toBeUndefined();
  await as('admin', 'POST', `/projects/${project}/members`, { login: 'other' });
  expect((await listed('other')).addedBy).toEqual({ id: expect.stringMatching(/^user_/), login: 'admin' });
  expect((await as('other', 'DELETE', `/projects/${project}/members/me`)).status).toBe(204);
  expect(await listed('other')).toBeUndefined();
  expect((await as('other', 'DELETE', `/projects/${project}/members/me`)).status).toBe(403);
  expect((await as('other', 'DELETE', '/projects/proj_x/members/me')).status).toBe(404);
  const alone = await as('owner', 'DELETE', `/projects/${project}/members/me`);
  expect([alone.status, alone.body.message]).toEqual([409, expect.stringContaining('only owner')]);
});

test('a project keeps an owner even if all owners leave at the same time', async () => {
  const own = (await as('owner', 'POST', '/projects', { name: 'Two' })).body.id;
  await as('owner', 'POST', `/projects/${own}/members`, { login: 'other', role: 'owner' });
  const [a, b] = (await as('owner', 'GET', `/projects/${own}/members`)).body;
  const left = await Promise.all([
    as('owner', 'DELETE', `/projects/${own}/members/${a.userId}`),
    as('other', 'DELETE', `/projects/${own}/members/${b.userId}`),
  ]);
  expect(left.map((l) => l.status).sort()).toEqual([204, 409]);
});

test('tokens of a project can be set and are never shown; only whether they are set is', async () => {
  for (const kind of ['git-token', 'model-token']) {
    const path = `/projects/${project}/${kind}`;
    expect((await as('admin', 'GET', path)).body).toEqual({ configured: false, updatedAt: null });
    expect((await as('member', 'POST', path, { token: 'ghp_canary1' })).status).toBe(403);
    expect(await as('admin', 'POST', path, { token: 'ghp_canary1' })).toMatchObject({
      status: 200,
      body: { configured: true },
    });
    // A header could not carry these.
    for (const token of ['with space', 'ghp_canary1\n', '\tghp', 'schlüssel', 'ghp\u2011x'])
      expect(await as('admin', 'POST', path, { token })).toMatchObject({
        status: 400,
        body: { message: 'token must be printable ASCII without spaces or line breaks' },
      });
    const state = await as('admin', 'GET', path);
    expect(state.body).toEqual({ configured: true, updatedAt: expect.any(String) });
    const stored = await service.app.db.manager.query('select * from project_secrets');
    expect(JSON.stringify(stored.map((r: { ciphertext: Buffer }) => r.ciphertext.toString('latin1')))).not.toContain(
      'canary1',
    );
    expect((await as('admin', 'DELETE', path)).status).toBe(204);
    expect((await as('admin', 'GET', path)).body.configured).toBe(false);
  }
});

test('only an owner can delete a project, and not while it has live runs', async () => {
  expect((await as('admin', 'DELETE', `/projects/${project}`)).body.message).toBe('Requires the owner role');
  const task = (await as('member', 'POST', `/projects/${project}/tasks`, { title: 't' })).body;
  await service.app.db.manager.query(
    `insert into runs (id, task_id, project_id, kind, status) values ('run_live', $1, $2, 'start', 'queued')`,
    [task.id, project],
  );
  expect((await as('owner', 'DELETE', `/projects/${project}`)).status).toBe(409);
  await service.app.db.manager.query(`update runs set status = 'failed'`);
  expect((await as('owner', 'DELETE', `/projects/${project}`)).status).toBe(204);
  expect((await as('owner', 'GET', `/projects/${project}`)).body.message).toBe(`Project ${project} not found`);
});

test('a person who is added in several ways at the same time becomes one user', async () => {
  for (let i = 0; i < 10; i++) {
    const person = { id: 9000 + i, login: `Newcomer${i}`, name: 'N', avatar_url: '' };
    const found = await Promise.all(
      Array.from({ length: 8 }, () => service.app.db.transaction((em) => upsertUser(em, person))),
    );
    expect(new Set(found.map((user) => user.id)).size).toBe(1);
  }
});
