import { until } from '../../demo/real-service.ts';
import { takeBackGrants } from '../../src/projects/member-store.ts';
import { queueRun } from '../../src/runs/operations.ts';
import { endDueSnoozes, tellInbox } from '../../src/tasks/inbox.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { named, openEventStream } from '../support/http/event-stream.ts';

let service: TestApp;
let token: string;
let project: string;
const call = (method: string, path: string, body?: unknown, as = token) =>
  service.call(method, path, { token: as, ...(body === undefined ? {} : { body }) });
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const addTask = async (title: string, on = project) =>
  (await call('POST', `/projects/${on}/tasks`, { title })).body.id as string;
const inbox = async (as = token) => (await call('GET', '/me/inbox', undefined, as)).body;
const listen = (path: string) => openEventStream(`${service.url}/api/v1${path}`, token);

beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
});
afterAll(() => service.close());
afterEach(() => sql('delete from tasks'));

/** Sets what a task needs, `minutes` ago. */
async function needs(id: string, reason: string, minutes = 0): Promise<void> {
  const since = `now() - interval '${minutes} minutes'`;
  if (reason === 'review')
    await sql(`update tasks set status = 'in_review', status_since = ${since} where id = $1`, [id]);
  else if (reason === 'failed')
    await sql(`update tasks set status = 'ready', failure = $2, status_since = ${since} where id = $1`, [
      id,
      { category: 'model', message: 'the model is gone', retryable: true },
    ]);
  else {
    await sql(`update tasks set status = 'in_progress' where id = $1`, [id]);
    await sql(
      `insert into runs (id, task_id, project_id, kind, status) select $1 || '_run', $1, project_id, 'start', 'running'
       from tasks where id = $1`,
      [id],
    );
    await sql(
      `update runs set status = 'waiting', wait_id = $1 || '_wait', wait_reason = $2, wait_text = $2 || ' of ' || $1,
         wait_options = '[]', waiting_since = ${since} where task_id = $1`,
      [id, reason],
    );
  }
}

test('the inbox of a viewer is empty, until they may decide', async () => {
  const viewer = await service.token('viewer');
  const { id } = (await call('GET', '/me', undefined, viewer)).body;
  await call('POST', `/projects/${project}/members`, { login: 'viewer', role: 'viewer' });
  await needs(await addTask('fails'), 'failed');
  await needs(await addTask('asks'), 'question');
  expect(await inbox(viewer)).toEqual([]);
  const stream = await openEventStream(`${service.url}/api/v1/me/inbox`, viewer);
  await call('PATCH', `/projects/${project}/members/${id}`, { role: 'member' });
  await until('an event of the inbox', async () => named(stream.heard, 'inbox').length > 0);
  await stream.stop();
  expect(await inbox(viewer)).toHaveLength(2);
});

test('the inbox has what needs a person, newest first, and nothing else', async () => {
  const reasons = ['question', 'failed', 'plan', 'review', 'push', 'paused', 'model'];
  const ids: Record<string, string> = {};
  for (const [i, reason] of reasons.entries()) {
    ids[reason] = await addTask(`needs ${reason}`);
    await needs(ids[reason], reason, 10 - i);
  }
  await addTask('needs nobody');
  const done = await addTask('is done');
  await sql(`update tasks set status = 'done' where id = $1`, [done]);
  await sql(
    `insert into runs (id, task_id, project_id, kind, status)
     values ('run_1', $1, $2, 'start', 'succeeded'), ('run_2', $1, $2, 'revise', 'succeeded')`,
    [ids.review, project],
  );
  await sql(
    `insert into handoffs (id, task_id, run_id, summary, created_at) values
       ('h1', $1, 'run_1', 'Earlier.', now() - interval '1 hour'), ('h2', $1, 'run_2', 'Did it.', now())`,
    [ids.review],
  );
  const listed = await inbox();
  expect(listed.map((entry: { reason: string }) => entry.reason)).toEqual([
    'paused',
    'push',
    'review',
    'plan',
    'failed',
    'question',
  ]);
  const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
  const entry = (reason: string, text: string) => ({
    taskId: ids[reason],
    projectId: project,
    reason,
    title: `needs ${reason}`,
    text,
    since,
  });
  expect(listed.slice(2)).toEqual([
    entry('review', 'Did it.'),
    entry('plan', `plan of ${ids.plan}`),
    entry('failed', 'the model is gone'),
    entry('question', `question of ${ids.question}`),
  ]);
  expect(Date.now() - Date.parse(listed[3].since)).toBeGreaterThan(7 * 60_000);
  await sql('update runs set wait_text = $1 where task_id = $2', ['x'.repeat(5000), ids.plan]);
  expect((await inbox())[3].text).toBe('x'.repeat(2000));
});

test('people see the tasks of the projects of which they are members', async () => {
  const mate = await service.token('mate');
  const other = (await call('POST', '/projects', { name: 'Q' }, mate)).body.id;
  await needs(await addTask('mine'), 'review');
  const theirs = (await call('POST', `/projects/${other}/tasks`, { title: 'theirs' }, mate)).body.id;
  await needs(theirs, 'failed');
  const titles = async (as: string) => (await inbox(as)).map((entry: { title: string }) => entry.title).sort();
  expect([await titles(token), await titles(mate)]).toEqual([['mine'], ['theirs']]);
  const { body } = await call('POST', `/projects/${project}/members`, { login: 'mate' });
  expect(await titles(mate)).toEqual(['mine', 'theirs']);
  await call('DELETE', `/projects/${project}/members/${body.userId}`);
  expect(await titles(mate)).toEqual(['theirs']);
});

test('status_since is when the status was reached, not when the task was edited', async () => {
  const id = await addTask('t');
  const [{ before }] = await sql('select status_since as before from tasks where id = $1', [id]);
  await call('PATCH', `/tasks/${id}`, { title: 'u' });
  expect((await sql('select status_since as now from tasks where id = $1', [id]))[0].now).toEqual(before);
  await call('PATCH', `/tasks/${id}`, { status: 'ready' });
  const [{ now }] = await sql('select status_since as now from tasks where id = $1', [id]);
  expect(now.getTime()).toBeGreaterThan(before.getTime());
});

test('the stream of the project reports what begins and ceases to need a person', async () => {
  const id = await addTask('t');
  const stream = await listen(`/projects/${project}/events`);
  const statuses = () => stream.heard.filter((h) => h.event === 'inbox').map((h) => h.data?.status);
  await needs(id, 'question');
  await sql(`update runs set status = 'queued' where task_id = $1`, [id]);
  await sql(`update runs set status = 'waiting', wait_reason = 'model' where task_id = $1`, [id]);
  await sql(`update runs set status = 'succeeded' where task_id = $1`, [id]);
  await needs(id, 'review');
  await call('PATCH', `/tasks/${id}`, { description: 'is not listed' });
  await call('PATCH', `/tasks/${id}`, { title: 'is listed' });
  await call('PATCH', `/tasks/${id}`, { status: 'done' });
  await until('the last event', async () => statuses().length > 4);
  expect(statuses()).toEqual(['question', 'done', 'review', 'review', 'done']);
  expect(stream.heard.find((h) => h.event === 'inbox')?.data).toEqual({
    id,
    status: 'question',
    at: expect.stringMatching(/Z$/),
  });
  await stream.stop();
});

test("the inbox's own stream covers all projects, also new ones", async () => {
  const stream = await listen('/me/inbox');
  expect(stream.status).toBe(200);
  let seen = 0;
  const hear = async (what: string) => {
    await until(what, async () => stream.heard.length > seen);
    seen = stream.heard.length;
    expect(stream.heard.at(-1)).toEqual({ event: 'inbox', data: {} });
  };
  const id = await addTask('t');
  await needs(id, 'review');
  await hear('the review');
  const mate = await service.token('mate');
  const other = (await call('POST', '/projects', { name: 'R' }, mate)).body.id;
  await call('POST', `/projects/${other}/members`, { login: 'octocat' }, mate);
  await hear('the membership');
  await needs(await addTask('of the other project', other), 'failed');
  await hear('the failure');
  await stream.stop();
});

/** Adds a person to the project. Returns their token and their id. */
async function member(login: string): Promise<{ token: string; id: string }> {
  const theirs = await service.token(login);
  await call('POST', `/projects/${project}/members`, { login });
  return { token: theirs, id: (await call('GET', '/me', undefined, theirs)).body.id };
}
const responsibleFor = async (id: string) => (await call('GET', `/tasks/${id}`)).body.responsible;

test('who starts a task is responsible for it, until a person chooses another one', async () => {
  const { app } = service;
  const [mona, hubot] = [await member('mona'), await member('hubot')];
  const stranger = (await call('GET', '/me', undefined, await service.token('stranger'))).body.id;
  const { id: agent } = (await call('GET', `/agents?projectId=${project}`)).body[0];
  const { id } = (await call('POST', `/projects/${project}/tasks`, { title: 't', owner: agent })).body;
  const start = async (startedBy: string, kind: 'start' | 'retry' | 'revise' = 'retry', isAutomatic = false) => {
    await app.db.transaction((em) => queueRun(app, em, id, { kind, startedBy, isAutomatic }));
    await sql(`update runs set status = 'failed', finished_at = now() where task_id = $1`, [id]);
    return responsibleFor(id);
  };
  expect(await start(mona.id, 'start')).toBe(mona.id);
  expect(await start(hubot.id)).toBe(hubot.id);
  // Reviewers, the service, and people outside of the project do not take over.
  expect([await start(mona.id, 'revise'), await start(mona.id, 'retry', true), await start(stranger)]).toEqual(
    Array(3).fill(hubot.id),
  );
  const choose = (responsible: unknown) => call('PATCH', `/tasks/${id}`, { responsible });
  expect((await choose(mona.id)).body.responsible).toBe(mona.id);
  expect(await start(hubot.id)).toBe(mona.id);
  const refused = await choose(stranger);
  expect([refused.status, refused.body.message]).toEqual([
    400,
    `responsible must be a member of this project who is no viewer, not ${stranger}`,
  ]);
  const found = async (who: string) =>
    (await call('GET', `/projects/${project}/tasks?responsible=${who}`)).body.map((task: { id: string }) => task.id);
  expect([await found(mona.id), await found(hubot.id)]).toEqual([[id], []]);
  expect((await call('GET', `/projects/${project}/board`)).body.tasks[0].responsible).toBe(mona.id);
  // A viewer decides nothing, so nobody would find what waits for one.
  const setRole = (role: string) => call('PATCH', `/projects/${project}/members/${mona.id}`, { role });
  await setRole('viewer');
  expect(await responsibleFor(id)).toBeNull();
  expect([await start(mona.id), (await choose(mona.id)).status]).toEqual([null, 400]);
  await setRole('member');
  expect((await choose(mona.id)).body.responsible).toBe(mona.id);
  // Nor does one who is a viewer again because GitHub no longer makes them an owner.
  await sql(`update members set is_granted = true, given_role = 'viewer', role = 'owner' where user_id = $1`, [
    mona.id,
  ]);
  await takeBackGrants(app.db.manager, project, []);
  expect(await responsibleFor(id)).toBeNull();
  await call('DELETE', `/projects/${project}/members/${mona.id}`);
  expect(await responsibleFor(id)).toBeNull();
  expect(await start(hubot.id)).toBe(hubot.id);
  expect((await choose(null)).body.responsible).toBeNull();
});

test('the inbox has the tasks for which one is responsible and those of nobody; all has every task', async () => {
  const mate = await member('mate');
  const [mine, free] = [await addTask('mine'), await addTask('free')];
  for (const id of [mine, free]) await needs(id, 'review');
  const stream = await listen('/me/inbox');
  await call('PATCH', `/tasks/${mine}`, { responsible: mate.id });
  await until('the change', async () => stream.heard.length > 0);
  await stream.stop();
  const titles = async (query: string, as: string) =>
    (await call('GET', `/me/inbox${query}`, undefined, as)).body.map((entry: { title: string }) => entry.title).sort();
  expect(await titles('', token)).toEqual(['free']);
  expect(await titles('?scope=mine', mate.token)).toEqual(['free', 'mine']);
  expect(await titles('?scope=all', token)).toEqual(['free', 'mine']);
  const wrong = await call('GET', '/me/inbox?scope=ours');
  expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('must be mine, all or snoozed')]);
});

test('a snoozed entry is away until then, for one person, unless the task needs something new', async () => {
  const mate = await member('mate');
  const id = await addTask('t');
  await needs(id, 'plan', 5);
  const path = `/me/inbox/${id}/snooze`;
  const later = (ms: number) => ({ until: new Date(Date.now() + ms).toISOString() });
  const listed = async (as = token) => (await inbox(as)).length;
  const snooze = async () => (await call('POST', path, later(3_600_000))).status;
  expect([await snooze(), await listed(), await listed(mate.token)]).toEqual([204, 0, 1]);
  expect((await call('GET', '/me/inbox?scope=all')).body).toEqual([]);
  await sql(`update runs set wait_id = 'second', waiting_since = now() where task_id = $1`, [id]);
  expect(await listed()).toBe(1);
  expect([await snooze(), await listed()]).toEqual([204, 0]);
  expect([(await call('DELETE', path)).status, await listed()]).toEqual([204, 1]);
  await snooze();
  await service.app.db.transaction((em) => tellInbox(em, id));
  expect(await listed()).toBe(1);
  await snooze();
  const stream = await listen('/me/inbox');
  await sql(`update inbox_snoozes set until = now() - interval '1 second'`);
  expect(await listed()).toBe(1);
  await endDueSnoozes(service.app.db.manager);
  await until('two events', async () => stream.heard.length > 1);
  await stream.stop();
  expect(await sql('select 1 from inbox_snoozes')).toEqual([]);
});

test('what one has snoozed is listed with the time of its return, also what another person is responsible for', async () => {
  const mate = await member('mate');
  const id = await addTask('t');
  await needs(id, 'plan', 5);
  await needs(await addTask('not snoozed'), 'review');
  await call('PATCH', `/tasks/${id}`, { responsible: mate.id });
  const snoozed = async (as = token) => (await call('GET', '/me/inbox?scope=snoozed', undefined, as)).body;
  expect(await snoozed()).toEqual([]);
  const snoozedUntil = new Date(Date.now() + 3_600_000).toISOString();
  const snooze = () => call('POST', `/me/inbox/${id}/snooze`, { until: snoozedUntil });
  await snooze();
  expect(await snoozed()).toEqual([expect.objectContaining({ taskId: id, reason: 'plan', snoozedUntil })]);
  expect(await snoozed(mate.token)).toEqual([]);
  expect(await inbox(mate.token)).toEqual([
    expect.not.objectContaining({ snoozedUntil: expect.anything() }),
    expect.not.objectContaining({ snoozedUntil: expect.anything() }),
  ]);
  await sql(`update runs set wait_id = 'second', waiting_since = now() + interval '1 second' where task_id = $1`, [id]);
  expect(await snoozed()).toEqual([]);
  await snooze();
  await sql(`update inbox_snoozes set until = now() - interval '1 second'`);
  expect(await snoozed()).toEqual([]);
});

test.each([
  [{}],
  [{ until: 'tomorrow' }],
  [{ until: null }],
  [{ until: '2020-01-01T00:00:00Z' }],
  [{ until: new Date(Date.now() + 91 * 24 * 3_600_000).toISOString() }],
])('a snooze with %j is refused', async (body) => {
  const id = await addTask('t');
  const { status, body: refusal } = await call('POST', `/me/inbox/${id}/snooze`, body);
  expect([status, refusal.errors[0].path]).toEqual([400, 'until']);
});

test('only tasks that one can see are snoozed, and one that needs nobody is not changed', async () => {
  const id = await addTask('t');
  const body = { until: new Date(Date.now() + 1000_000).toISOString() };
  const outsider = await service.token('outsider');
  expect((await call('POST', `/me/inbox/${id}/snooze`, body, outsider)).status).toBe(404);
  expect((await call('POST', '/me/inbox/task_unknown/snooze', body)).status).toBe(404);
  expect((await call('POST', `/me/inbox/${id}/snooze`, body)).status).toBe(204);
  await needs(id, 'failed');
  expect(await inbox()).toHaveLength(1);
});
