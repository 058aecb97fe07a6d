import { readAuditRecords } from '../../src/audit/records.ts';
import { carryOut } from '../../src/github/commands/verbs.ts';
import { obeyLabel } from '../../src/github/follow/issues.ts';
import { takeReview } from '../../src/github/follow/reviews.ts';
import { getPull } from '../../src/github/store.ts';
import { mintSession } from '../../src/projects/tokens.ts';
import { findRepository } from '../../src/repositories/store.ts';
import { commandOf, commandRecipes } from '../support/audit/command-recipes.ts';
import { openWorkshop, type Workshop } from '../support/audit/workshop.ts';

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

const patch = (path: string, body: object) => () => shop.ask('PATCH', path, body);
const get = (query = '', headers = {}) =>
  shop.service.call('GET', `/projects/${shop.project}/audit${query}`, { token: shop.token, headers });

test('a record says who changed what, and is listed before older ones', async () => {
  const task = await shop.newTask({ title: 'old' });
  await shop.ask('PATCH', `/tasks/${task}`, { title: 'new', description: '' });
  const { body, headers } = await get('?limit=2');
  const { id: userId } = await shop.ask('GET', '/me');
  expect(body[0]).toEqual({
    id: expect.stringMatching(/^audit_/),
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    actor: { id: userId, login: 'owner' },
    via: 'token',
    action: 'task.update',
    object: { type: 'task', id: task },
    detail: { title: ['old', 'new'] },
  });
  expect(body[1]).toMatchObject({ action: 'task.create', object: { id: task }, detail: { title: [null, 'old'] } });
  expect(headers.get('link')).toContain('rel="next"');
  expect((await get('?limit=1&offset=1')).body).toEqual([body[1]]);
});

test('records are found by person, action, object and time', async () => {
  const task = await shop.newTask({ title: 'sought' });
  await shop.ask('PATCH', `/tasks/${task}`, { title: 'found' });
  await shop.sql(
    `insert into audit_records (id, project_id, via, action, object_type, object_id, at)
     values ('audit_long_ago', $1, 'system', 'task.finish', 'task', $2, '2020-02-02T12:00:00Z')`,
    [shop.project, task],
  );
  const { id: userId } = await shop.ask('GET', '/me');
  const found = async (query: Record<string, string>, more = '') => {
    const { status, body } = await get(`?${new URLSearchParams({ object: task, ...query })}${more}`);
    return status === 200 ? body.map(({ action }: { action: string }) => action) : status;
  };
  const all = ['task.finish', 'task.update', 'task.create'];
  expect(await found({})).toEqual(all);
  expect(await found({ actor: userId })).toEqual(['task.update', 'task.create']);
  expect(await found({ actor: 'system' })).toEqual(['task.finish']);
  expect(await found({ action: 'task.update' })).toEqual(['task.update']);
  expect(await found({ action: 'task' })).toEqual(all);
  expect(await found({ action: 'tas' })).toEqual([]);
  expect(await found({ until: '2020-02-02T12:00:01Z' })).toEqual(['task.finish']);
  expect(await found({ until: '2020-02-02T12:00:00Z' })).toEqual([]);
  expect(await found({ since: '2020-02-02T14:00:00+02:00' })).toEqual(all);
  expect(await found({ since: '2021-01-01T00:00:00Z' }, '&limit=1&offset=1')).toEqual(['task.create']);
  for (const since of ['yesterday', '2020-02-02', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00'])
    expect(await found({ since })).toBe(400);
  expect(await found({ since: '2020-02-02T00:00:00+23:59' })).toEqual(all);
  const { body } = await get(`?object=${task}&actor=system&format=ndjson`);
  expect(body.trimEnd().split('\n')).toHaveLength(1);
});

test('the export has every record of the project, one per line, newest first', async () => {
  await shop.sql(
    `insert into audit_records (id, project_id, via, action, object_type, object_id)
     select 'audit_export_' || n, $1, 'system', 'task.finish', 'task', 'task_1' from generate_series(1, 1200) n`,
    [shop.project],
  );
  const count = (await shop.sql('select from audit_records where project_id = $1', [shop.project])).length;
  const linesOf = (text: string) => text.trimEnd().split('\n');
  const { body, headers } = await get('?limit=1', { Accept: 'application/x-ndjson' });
  expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  const records = linesOf(body).map((line) => JSON.parse(line));
  expect(records).toHaveLength(count);
  expect(records[0]).toEqual((await get('?limit=1')).body[0]);
  expect([records[0].id, records[1199].id]).toEqual(['audit_export_1200', 'audit_export_1']);
  expect(linesOf((await get('?format=ndjson')).body)).toHaveLength(count);
  const portions = [];
  for await (const portion of readAuditRecords(shop.service.app.db.manager, shop.project))
    portions.push(portion.length);
  expect(portions.slice(0, 2)).toEqual([50, 50]);
});

test('records contain no credential and no long text', async () => {
  const token = `ghp_${'a1'.repeat(18)}`;
  const task = await shop.newTask();
  const description = `${'x'.repeat(180)} ${token} ${'y'.repeat(1000)}`;
  const [record] = await shop.recordsOf(patch(`/tasks/${task}`, { description }));
  const [before, after] = record?.detail.description ?? [];
  expect(before).toBe('');
  expect(String(after)).toHaveLength(200);
  expect(String(after)).toMatch(/^x{180} \[a credential was /);
});

test('a change of status is part of the operation on that task', async () => {
  const { task } = await shop.reviewedTask();
  const merged = await shop.recordsOf(() => shop.ask('POST', `/tasks/${task}/merge`));
  expect(merged).toMatchObject([{ action: 'task.merge', via: 'token', detail: { status: ['in_review', 'done'] } }]);
});

test('tasks whose status changes because of another operation get records of the system', async () => {
  const { project } = await shop.newProject();
  const [sprint, agents] = [
    await shop.newSprint(project),
    await shop.ask<{ id: string }[]>('GET', `/agents?projectId=${project}`),
  ];
  const task = await shop.newTask({ sprintId: sprint, owner: agents[0]?.id }, project);
  await shop.ask('POST', `/sprints/${sprint}/start`);
  await shop.ask('POST', `/tasks/${task}/start`);
  const records = await shop.recordsOf(() => shop.ask('POST', `/sprints/${sprint}/cancel`));
  expect(
    records.map(({ via, action, object_id, actor_login }) => [via, action, object_id, actor_login]).sort(),
  ).toEqual([
    ['system', 'task.cancel', task, null],
    ['token', 'sprint.cancel', sprint, 'owner'],
  ]);
  expect(records.find((r) => r.via === 'system')).toMatchObject({
    project_id: project,
    detail: { status: ['in_progress', 'ready'] },
  });
});

test('records say whether a session, a label or a review caused them', async () => {
  const { app } = shop.service;
  const { id: userId } = await shop.ask('GET', '/me');
  const { token } = await mintSession(app, userId, 60_000);
  const task = await shop.newTask();
  const path = `/tasks/${task}`;
  const bySession = () => shop.service.call('PATCH', path, { token, body: { title: 'by session' } });
  expect(await shop.recordsOf(bySession)).toMatchObject([{ via: 'session', action: 'task.update' }]);
  const place = { repository: await findRepository(app.db.manager, shop.repository) } as Parameters<
    typeof obeyLabel
  >[1];
  const labelled = (label: string) => () => obeyLabel(app, place, { taskId: task, number: 1, label, userId });
  expect(await shop.recordsOf(labelled('agent:ready'))).toMatchObject([
    { via: 'label', action: 'task.update', object_id: task, detail: { status: ['backlog', 'ready'] } },
  ]);
  expect(await shop.recordsOf(labelled('agent:ready'))).toEqual([]);
  await shop.ask('POST', `${path}/start`);
  expect(await shop.recordsOf(labelled('agent:backlog'))).toEqual([]);
  const { task: reviewed, number } = await shop.reviewedTask();
  const at = { ...place, octokit: app.githubWithToken('ghp_x'), name: { owner: 'a', repo: 'r' } };
  const pull = await getPull(app.db.manager, shop.repository, number);
  const review = () => takeReview(app, at, pull, 5);
  expect(await shop.recordsOf(review)).toMatchObject([
    { via: 'review', action: 'task.revise', object_id: reviewed, actor_login: 'reviewer' },
  ]);
  expect(await shop.recordsOf(review)).toEqual([]);
});

test('what changes nothing leaves no record', async () => {
  const { ask, recordsOf } = shop;
  const sprint = await shop.newSprint();
  const task = await shop.newTask({ sprintId: sprint });
  const { userId } = await ask<{ userId: string }>('POST', `/projects/${shop.project}/members`, { login: 'same' });
  const session = await shop.newSession(['prd', 'plan', 'tasks']);
  const finalize = `/projects/${shop.project}/wizard/${session}/finalize`;
  await ask('POST', finalize);
  const servers = `/projects/${shop.project}/mcp-servers`;
  await ask('PUT', servers, []);
  for (const act of [
    patch(`/tasks/${task}`, {}),
    patch(`/sprints/${sprint}`, {}),
    patch(`/projects/${shop.project}/members/${userId}`, { role: 'member' }),
    () => ask('POST', `/sprints/${sprint}/tasks`, { taskId: task }),
    () => ask('POST', finalize),
    () => ask('PUT', servers, []),
    () => ask('DELETE', `/projects/${shop.project}/model-token`),
  ])
    expect(await recordsOf(act)).toEqual([]);
  const created = await commandRecipes.create?.(shop);
  const given = await commandOf(shop, 'create', created ?? { issue: 1 });
  expect(await recordsOf(() => carryOut(shop.service.app, given))).toHaveLength(1);
  expect(await recordsOf(() => carryOut(shop.service.app, given))).toEqual([]);
});

test('a change whose record cannot be stored does not happen', async () => {
  const { app } = shop.service;
  const task = await shop.newTask({ title: 'unchanged' });
  const { task: reviewed } = await shop.reviewedTask();
  const given = await commandOf(shop, 'start', { issue: 4711 });
  const state = async () =>
    shop.sql<{ row: string }>(`select t::text as row from tasks t union all select r::text from runs r order by 1`);
  const before = await state();
  await shop.sql(`create function refuse() returns trigger language plpgsql as $$ begin raise 'on purpose'; end $$`);
  await shop.sql('create trigger refused before insert on audit_records for each row execute function refuse()');
  try {
    const body = { title: 'changed' };
    expect((await shop.service.call('PATCH', `/tasks/${task}`, { token: shop.token, body })).status).toBe(500);
    for (const act of ['start', 'subtasks'])
      expect(
        (
          await shop.service.call('POST', `/tasks/${task}/${act}`, {
            token: shop.token,
            body: act === 'start' ? {} : body,
          })
        ).status,
      ).toBe(500);
    expect((await shop.service.call('POST', `/tasks/${reviewed}/merge`, { token: shop.token })).status).toBe(500);
    await expect(carryOut(app, given)).rejects.toThrow('on purpose');
  } finally {
    await shop.sql('drop function refuse cascade');
  }
  expect(await state()).toEqual(before);
});

test('a command that is refused leaves only what it has changed', async () => {
  const { app } = shop.service;
  const unknown = await commandOf(shop, 'assign', { issue: 4712, argument: 'Nobody' });
  expect(await shop.recordsOf(() => carryOut(app, unknown).catch(() => {}))).toEqual([]);
  const onPull = await commandOf(shop, 'start', { issue: 4714, isPull: true });
  const works = '`help`, `review`, `prove`, `fix` and `ask`';
  const refusal = `This pull request belongs to no task. Only ${works} work here.`;
  expect(await shop.recordsOf(async () => expect(await carryOut(app, onPull)).toBe(refusal))).toEqual([]);
  await shop.sql('update repositories set is_archived = true where id = $1', [shop.repository]);
  const started = await commandOf(shop, 'start', { issue: 4713 });
  const records = await shop.recordsOf(() => expect(carryOut(app, started)).rejects.toThrow('archived'));
  expect(records).toMatchObject([{ via: 'comment', action: 'task.create', detail: { status: [null, 'ready'] } }]);
  await shop.sql('update repositories set is_archived = false where id = $1', [shop.repository]);
});
