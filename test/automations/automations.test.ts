import { until } from '../../demo/real-service.ts';
import { makeDueTask, pauseBroken } from '../../src/automations/fire.ts';
import { listDue } from '../../src/automations/store.ts';
import { named } from '../support/http/event-stream.ts';
import { withClockAhead } from '../support/machine/clock.ts';
import { openProject } from '../support/project.ts';

const { service, call, project, listen, createProject } = await openProject();
const path = `/projects/${project}/automations`;
const { app } = service;
const repository: string = (
  await call('POST', '/repositories', { projectId: project, name: 'r', url: 'https://git.example.com/a/b' })
).body.id;
const agentNamed = async (name: string): Promise<string> =>
  (await call('GET', `/agents?projectId=${project}`)).body.find((a: { name: string }) => a.name === name).id;
const owner = await agentNamed('Developer');

const task = {
  title: 'Update dependencies',
  description: 'All of them.',
  owner,
  repositoryId: repository,
  start: false,
};
const daily = { name: 'Nightly', on: { cron: '0 3 * * *', timezone: 'Europe/Berlin' }, task };
const create = async (body: object) => {
  const made = await call('POST', path, body);
  expect(made).toMatchObject({ status: 201 });
  return made.body;
};
const read = async (id: string) => (await call('GET', path)).body.find((a: { id: string }) => a.id === id);
const tasks = async (): Promise<{ id: string; title: string; status: string }[]> =>
  (await call('GET', `/projects/${project}/tasks`)).body;
const inbox = async (): Promise<{ reason: string; text: string; automationId?: string }[]> =>
  (await call('GET', '/me/inbox')).body;
/** Makes an automation due, and its task. */
const due = async (id: string) => {
  await app.db.manager.query(`update automations set next_at = now() - interval '1 minute' where id = $1`, [id]);
  await makeDueTask(app, id);
};

test('an automation has every field of the contract', async () => {
  const made = await create(daily);
  expect(made).toEqual({
    id: expect.stringMatching(/^auto_/),
    projectId: project,
    name: 'Nightly',
    on: { cron: '0 3 * * *', timezone: 'Europe/Berlin' },
    task: { ...task, base: null, planFirst: null },
    enabled: true,
    mostPerDay: 10,
    nextAt: expect.stringMatching(/T0[12]:00:00.000Z$/),
    last: null,
    paused: null,
    changedBy: expect.stringMatching(/^user_/),
    createdAt: expect.stringMatching(/Z$/),
    updatedAt: expect.stringMatching(/Z$/),
  });
  expect((await call('GET', path)).body).toEqual([made]);
  const off = await call('PATCH', `${path}/${made.id}`, { enabled: false, task: { start: true } });
  expect(off).toMatchObject({ status: 200, body: { enabled: false, nextAt: null, task: { ...task, start: true } } });
  const event = { event: 'issue.labeled', label: 'triage' };
  const other = await call('PATCH', `${path}/${made.id}`, { on: event, enabled: true });
  expect(other.body).toMatchObject({ on: event, nextAt: null, enabled: true });
  expect((await call('DELETE', `${path}/${made.id}`)).status).toBe(204);
  expect((await call('DELETE', `${path}/${made.id}`)).status).toBe(404);
  expect((await call('POST', `${path}/${made.id}/run`)).status).toBe(404);
});

test.each([
  [{ on: { cron: '61 * * * *', timezone: 'UTC' } }, 'on.cron'],
  [{ on: { cron: '', timezone: 'UTC' } }, 'on.cron'],
  [{ on: { cron: '0 9 * * *', timezone: 'Mars/Olympus' } }, 'on.timezone'],
  [{ on: { cron: '0 9 * * *' } }, 'on.timezone'],
  [{ on: { timezone: 'UTC' } }, 'on.cron'],
  [{ on: { event: 'issue.closed' } }, 'on.event'],
  [{ on: { event: 'push', label: 'x' } }, 'on.label'],
  [{ on: { cron: '0 9 * * *', timezone: 'UTC', branch: 'main' } }, 'on.branch'],
  [{ on: { event: 'push', author: 'not a login' } }, 'on.author'],
  [{ on: { event: 'push', cron: '0 9 * * *', timezone: 'UTC' } }, 'on'],
  [{ on: {} }, 'on'],
  [{ on: 'daily' }, 'on'],
  [{ name: '' }, 'name'],
  [{ mostPerDay: 0 }, 'mostPerDay'],
  [{ task: { ...task, owner: 'agent_unknown' } }, 'task.owner'],
  [{ task: { ...task, repositoryId: 'repo_unknown' } }, 'task.repositoryId'],
  [{ task: { ...task, title: '{{ issue.title }}' } }, 'task.title'],
  [
    { task: { ...task, description: 'In {{repository}}: {{ isue.body }}' }, on: { event: 'issue.opened' } },
    'task.description',
  ],
  [{ task: { ...task, base: 'a..b' } }, 'task.base'],
  [{ task: { ...task, title: undefined } }, 'task.title'],
  [{ task: { ...task, extra: 1 } }, 'task.extra'],
])('%j is refused, naming %s', async (change, field) => {
  const answer = await call('POST', path, { ...daily, ...change });
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].path).toBe(field);
});

test('members read, admins write', async () => {
  const { id } = await create(daily);
  const member = await service.token('member');
  await call('POST', `/projects/${project}/members`, { login: 'member', role: 'member' });
  expect((await call('GET', path, undefined, member)).status).toBe(200);
  expect((await call('POST', path, daily, member)).status).toBe(403);
  expect((await call('PATCH', `${path}/${id}`, { enabled: false }, member)).status).toBe(403);
  expect((await call('POST', `${path}/${id}/run`, undefined, member)).status).toBe(403);
  expect((await call('DELETE', `${path}/${id}`, undefined, member)).status).toBe(403);
  const other = await createProject();
  expect((await call('DELETE', `/projects/${other}/automations/${id}`)).status).toBe(404);
  await call('DELETE', `${path}/${id}`);
});

test('a project has at most 50 automations, also when they are created at once', async () => {
  const other = await createProject();
  const agents = (await call('GET', `/agents?projectId=${other}`)).body;
  const repo = { projectId: other, name: 'r', url: 'https://git.example.com/a/c' };
  const repositoryId = (await call('POST', '/repositories', repo)).body.id;
  const body = { ...daily, task: { ...task, owner: agents[0].id, repositoryId } };
  await app.db.manager.query(
    `insert into automations (id, project_id, name, trigger, task) select 'auto_' || n, $1, 'a', '{"event":"push"}', '{}'
     from generate_series(1, 49) n`,
    [other],
  );
  const answers = await Promise.all([1, 2, 3].map(() => call('POST', `/projects/${other}/automations`, body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  expect(answers.find(({ status }) => status === 409)?.body.message).toMatch('50 automations');
});

test('a worker whose clock is an hour ahead makes no task early', async () => {
  const { id } = await create({ ...daily, name: 'Early', task: { ...task, title: 'Early' } });
  await app.db.manager.query(`update automations set next_at = now() + interval '30 minutes' where id = $1`, [id]);
  await withClockAhead(3_600_000, async () => {
    expect(await listDue(app.db.manager)).not.toContain(id);
    await makeDueTask(app, id);
  });
  expect((await tasks()).map(({ title }) => title)).not.toContain('Early');
});

test('when it is due, it makes its task once, and the times that it missed make none', async () => {
  const { id } = await create({ ...daily, name: 'Due', task: { ...task, title: 'Due {{ date }}' } });
  const stream = await listen(`/projects/${project}/events`);
  await app.db.manager.query(`update automations set next_at = now() - interval '10 days' where id = $1`, [id]);
  await Promise.all([1, 2, 3, 4].map(() => makeDueTask(app, id)));
  await makeDueTask(app, id);
  const made = (await tasks()).filter(({ title }) => title.startsWith('Due'));
  expect(made).toEqual([
    expect.objectContaining({ title: expect.stringMatching(/^Due \d{4}-\d\d-\d\d$/), status: 'backlog' }),
  ]);
  const after = await read(id);
  expect(after.last).toEqual({ taskId: made[0]?.id, at: expect.any(String), problem: null });
  expect(Date.parse(after.nextAt)).toBeGreaterThan(Date.now());
  await until('the event', async () => named(stream.heard, 'automation').length > 0);
  expect(named(stream.heard, 'automation')[0]?.data).toMatchObject({ id, status: 'enabled' });
  await stream.stop();
  const log = (await call('GET', `/projects/${project}/audit?limit=100`)).body;
  expect(
    log
      .filter((r: { object: { id: string } }) => r.object.id === id)
      .map((r: { action: string; via: string }) => [r.action, r.via]),
  ).toEqual([
    ['automation.run', 'system'],
    ['automation.create', 'token'],
  ]);
});

test('a person can run it at any time, also when it is switched off', async () => {
  const { id } = await create({ ...daily, name: 'By hand', enabled: false });
  const ran = await call('POST', `${path}/${id}/run`);
  expect(ran).toMatchObject({ status: 202, body: { enabled: false, last: { problem: null } } });
  expect((await call('GET', `/tasks/${ran.body.last.taskId}`)).body).toMatchObject({ title: task.title, owner });
});

test('a task that cannot be started is made, and says why', async () => {
  const { id } = await create({ ...daily, name: 'Starts', task: { ...task, start: true } });
  await due(id);
  const { last, enabled } = await read(id);
  expect(enabled).toBe(true);
  expect(last.problem).toMatch('could not be started');
  const { body } = await call('GET', `/tasks/${last.taskId}`);
  expect(body).toMatchObject({ status: 'ready', failure: { message: last.problem } });
});

test('beyond mostPerDay it is switched off, and the admins are told once', async () => {
  const { id } = await create({ ...daily, name: 'Busy', mostPerDay: 2 });
  for (let n = 0; n < 4; n += 1) await due(id).catch(() => {});
  const after = await read(id);
  expect(after).toMatchObject({
    enabled: false,
    nextAt: null,
    paused: { reason: expect.stringMatching('2 tasks today') },
  });
  expect(after.last).toMatchObject({ taskId: null, problem: after.paused.reason });
  const told = (await inbox()).filter(({ automationId }) => automationId === id);
  expect(told).toEqual([
    {
      taskId: null,
      automationId: id,
      projectId: project,
      reason: 'automation',
      title: 'Busy',
      text: after.paused.reason,
      since: expect.any(String),
    },
  ]);
  const member = await service.token('member');
  const theirs = (await call('GET', '/me/inbox', undefined, member)).body;
  expect(theirs.filter((entry: object) => 'automationId' in entry)).toEqual([]);
  expect((await call('PATCH', `${path}/${id}`, { enabled: true, mostPerDay: 3 })).body).toMatchObject({ paused: null });
  expect((await inbox()).filter(({ automationId }) => automationId === id)).toEqual([]);
});

test('one whose agent was deleted is switched off, and does not stop the others', async () => {
  const doomed = await agentNamed('Reviewer').catch(() => undefined);
  const agent = doomed ?? (await call('POST', '/agents', { name: 'Doomed' })).body.id;
  const { id } = await create({ ...daily, name: 'Orphan', task: { ...task, owner: agent } });
  const { id: healthy } = await create({ ...daily, name: 'Healthy' });
  expect((await call('DELETE', `/agents/${agent}`)).status).toBe(204);
  await pauseBroken(app);
  expect(await read(id)).toMatchObject({
    enabled: false,
    last: { problem: expect.stringMatching('agent was deleted') },
  });
  expect((await inbox()).map((entry) => entry.automationId)).toContain(id);
  await due(healthy);
  expect((await read(healthy)).last.problem).toBeNull();
  // By hand it says the same.
  expect((await call('POST', `${path}/${id}/run`)).body.last.problem).toMatch('agent was deleted');
});

test('one whose repository has left the project is switched off', async () => {
  const gone = { projectId: project, name: 'gone', url: 'https://git.example.com/a/gone' };
  const repositoryId = (await call('POST', '/repositories', gone)).body.id;
  const { id } = await create({ ...daily, name: 'Gone', task: { ...task, repositoryId } });
  await call('DELETE', `/repositories/${repositoryId}`);
  await due(id);
  expect((await read(id)).last.problem).toMatch('repository is no longer connected');
});

test('one of somebody who is no admin any more is switched off until an admin takes it over', async () => {
  const admin = await service.token('leaver');
  const { body } = await call('POST', `/projects/${project}/members`, { login: 'leaver', role: 'admin' });
  const { id } = (await call('POST', path, { ...daily, name: 'Left' }, admin)).body;
  await call('PATCH', `/projects/${project}/members/${body.userId}`, { role: 'member' });
  await due(id);
  expect((await read(id)).paused.reason).toMatch('leaver who last changed the automation is no admin');
  await call('PATCH', `${path}/${id}`, { enabled: true });
  await due(id);
  expect((await read(id)).last.problem).toBeNull();
});

test('the newest version of its agent does the work', async () => {
  const { id: agent } = (await call('POST', '/agents', { name: 'Grower' })).body;
  const { id } = await create({ ...daily, name: 'Grows', task: { ...task, owner: agent } });
  const grown = await call('POST', `/agents/${agent}/evolve`, { newSystemPrompt: 'Better.' });
  expect(grown.status).toBe(201);
  await due(id);
  const { last } = await read(id);
  expect((await call('GET', `/tasks/${last.taskId}`)).body.owner).toBe(grown.body.id);
});

test('a trial says what a schedule would have done in the last week', async () => {
  const trial = (query: string) => call('GET', `${path}/trial?${query}`);
  const { body } = await trial('cron=0+*/8+*+*+*&timezone=UTC');
  expect(body).toMatchObject({ days: 7, count: 21, isAtLeast: false, mostOnADay: 3 });
  expect([body.times.length, body.next.length]).toEqual([20, 3]);
  const wrong = await trial('cron=0+9+*+*+*&timezone=Mars');
  expect([wrong.status, wrong.body.errors[0].path]).toEqual([400, 'timezone']);
  expect((await trial('event=push')).body.errors[0].path).toBe('repositoryId');
  expect((await trial('')).status).toBe(400);
});

test('a trial of a rare or a constant schedule takes little time', async () => {
  const seconds = async (cron: string) => {
    const began = performance.now();
    const query = new URLSearchParams({ cron, timezone: 'Europe/Berlin' });
    expect(await call('GET', `${path}/trial?${query}`)).toMatchObject({ status: 200 });
    return (performance.now() - began) / 1000;
  };
  // Mondays that are 29 February, days that do not exist, and each second.
  for (const cron of ['0 0 29 2 1', '0 0 * 2 1#5', '0 0 31W 4 *', '* * * * * *'])
    expect([cron, (await seconds(cron)) < 3]).toEqual([cron, true]);
});

test('text that PostgreSQL cannot store is replaced, in a change, too', async () => {
  const bad = { title: 'a \ud800', description: 'b \udfff' };
  const stored = { title: 'a \ufffd', description: 'b \ufffd' };
  const made = await create({ ...daily, task: { ...task, ...bad } });
  expect(made.task).toMatchObject(stored);
  const changed = await call('PATCH', `${path}/${made.id}`, { task: bad });
  expect(changed).toMatchObject({ status: 200, body: { task: stored } });
});
