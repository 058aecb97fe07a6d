import { until } from '../../demo/real-service.ts';
import { grantOwnership, takeBackGrants } from '../../src/projects/member-store.ts';
import { named } from '../support/http/event-stream.ts';
import { openProject } from '../support/project.ts';

const { service, call, project, listen } = await openProject();

test('a change of the project is reported, and missed changes after reconnecting', async () => {
  const stream = await listen(`/projects/${project}/events`);
  expect(stream.status).toBe(200);
  const task = (await call('POST', `/projects/${project}/tasks`, { title: 't' })).body;
  await until('the task', async () => named(stream.heard, 'task').length > 0);
  expect(named(stream.heard, 'task')[0]?.data).toEqual({
    id: task.id,
    status: 'backlog',
    at: expect.stringMatching(/Z$/),
  });
  const last = stream.heard.at(-1)?.id ?? '';
  await stream.stop();
  await call('PATCH', `/tasks/${task.id}`, { status: 'ready' });
  await call('POST', `/projects/${project}/sprints`, { name: 'S', startDate: '2026-01-01', endDate: '2026-01-02' });
  const again = await listen(`/projects/${project}/events`, { 'Last-Event-ID': last });
  await until('what was missed', async () => named(again.heard, 'sprint').length > 0);
  expect(again.heard.filter((h) => h.event !== undefined).map((h) => [h.event, h.data?.status])).toEqual([
    ['task', 'ready'],
    ['sprint', 'planning'],
  ]);
  await again.stop();
});

test('a stream has a heartbeat if asked for, without a place to resume from', async () => {
  const [stream, silent] = [
    await listen(`/projects/${project}/events?heartbeat=1`),
    await listen(`/projects/${project}/events`),
  ];
  await until('two heartbeats', async () => named(stream.heard, 'heartbeat').length === 2);
  expect(named(stream.heard, 'heartbeat')[0]).toEqual({ event: 'heartbeat', data: {} });
  expect(silent.heard.filter(({ event }) => event !== undefined)).toEqual([]);
  await Promise.all([stream.stop(), silent.stop()]);
  const { status, body } = await call('GET', `/projects/${project}/events?heartbeat=0`);
  expect([status, body.message]).toEqual([400, 'heartbeat must be between 1 and 60']);
});

test('a stream tells who became a member, who has another role and who was removed', async () => {
  const stream = await listen(`/projects/${project}/events`);
  const { userId } = (await call('POST', `/projects/${project}/members`, { login: 'newcomer', role: 'viewer' })).body;
  await call('PATCH', `/projects/${project}/members/${userId}`, { role: 'admin' });
  // What is refused changes nothing.
  await call('PATCH', `/projects/${project}/members/${userId}`, { role: 'emperor' });
  await call('DELETE', `/projects/${project}/members/${userId}`);
  await until('the removal', async () => named(stream.heard, 'member').length === 3);
  expect(named(stream.heard, 'member').map(({ data }) => data)).toEqual(
    ['viewer', 'admin', 'removed'].map((status) => ({ id: userId, status, at: expect.stringMatching(/Z$/) })),
  );
  // A client that resumes after it does not take the id of it for a position.
  expect(named(stream.heard, 'member').map(({ id }) => id)).toEqual([undefined, undefined, undefined]);
  await stream.stop();
});

test('a stream tells of the roles that GitHub gives and takes', async () => {
  const { userId: id } = (await call('POST', `/projects/${project}/members`, { login: 'boss', role: 'viewer' })).body;
  const { userId: other } = (await call('POST', `/projects/${project}/members`, { login: 'aide', role: 'viewer' }))
    .body;
  const em = service.app.db.manager;
  await em.query('delete from members where project_id = $1 and user_id = $2', [project, other]);
  const stream = await listen(`/projects/${project}/events`);
  for (const each of [id, id, other]) await grantOwnership(em, project, each);
  await takeBackGrants(em, project, []);
  const told = () => named(stream.heard, 'member').map(({ data }) => [data?.id, data?.status]);
  await until('the last role', async () => told().length === 4);
  expect(told()).toEqual([...[id, other].map((each) => [each, 'owner']), [other, 'removed'], [id, 'viewer']]);
  await call('DELETE', `/projects/${project}/members/${id}`);
  await stream.stop();
});

test('a stream begins only when it misses no later change', async () => {
  let opening: ReturnType<typeof listen> | undefined;
  let isOpen = false;
  await service.app.db.transaction(async (em) => {
    await em.query('lock table project_events in access exclusive mode');
    opening = listen(`/projects/${project}/events`);
    void opening.then(() => {
      isOpen = true;
    });
    await until('the stream to look where it starts', async () => {
      const [row] =
        await em.query(`select count(*)::int as n from pg_locks where not granted and relation = 'project_events'::regclass
           and database = (select oid from pg_database where datname = current_database())`);
      return row.n > 0;
    });
    // If it had begun already, its status would arrive during the next requests.
    for (let n = 0; n < 5; n++) await fetch(`${service.url}/healthz`);
    expect(isOpen).toBe(false);
  });
  const stream = await opening;
  expect(stream?.status).toBe(200);
  await stream?.stop();
});

test('if missed events are no longer stored, a reset is sent', async () => {
  for (const id of ['999999999-1795247915', '999999999999-9999999999', 'nonsense', '-1', '12']) {
    const stream = await listen(`/projects/${project}/events`, { 'Last-Event-ID': id });
    await until('the reset', async () => named(stream.heard, 'reset').length > 0);
    await stream.stop();
  }
});

/** Adds changes that nobody made, of the same transaction. */
const addChanges = (count: number) =>
  service.app.db.manager.query(
    `insert into project_events (project_id, kind, object_id, status)
     select $1, 'task', 'task_' || n, 'ready' from generate_series(1, $2::int) n`,
    [project, count],
  );

test('missed changes are read in portions, and after too many of them a reset is sent', async () => {
  const [{ next }] = await service.app.db.manager.query(
    'select pg_snapshot_xmax(pg_current_snapshot())::text::float8 as next',
  );
  const last = { 'Last-Event-ID': `${next}-${Math.floor(Date.now() / 1000)}` };
  await addChanges(1200);
  const stream = await listen(`/projects/${project}/events`, last);
  await until('all of them', async () => named(stream.heard, 'task').length >= 1200);
  const told = named(stream.heard, 'task');
  expect(told.map((h) => h.data?.id)).toEqual(Array.from({ length: 1200 }, (_, i) => `task_${i + 1}`));
  await stream.stop();
  // A client that lost its connection in between has not missed what it did not get.
  for (const [received, isRepeated] of [
    [30, false],
    [700, true],
    [1199, true],
  ] as const) {
    const again = await listen(`/projects/${project}/events`, { 'Last-Event-ID': told[received - 1]?.id ?? '' });
    const wanted = isRepeated ? 1200 : 1200 - received;
    await until('the rest', async () => named(again.heard, 'task').length >= wanted);
    expect(named(again.heard, 'task').at(-1)?.data?.id).toBe('task_1200');
    await again.stop();
  }
  await addChanges(3900);
  const tooMany = await listen(`/projects/${project}/events`, last);
  await until('the reset', async () => named(tooMany.heard, 'reset').length > 0);
  await call('POST', `/projects/${project}/tasks`, { title: 'after the reset' });
  await until('the next change', async () => named(tooMany.heard, 'task').length > 0);
  expect(named(tooMany.heard, 'task').map((h) => h.data?.status)).toEqual(['backlog']);
  await tooMany.stop();
});

test('a change that is committed late is sent late, to new and to resumed streams', async () => {
  const task = (await call('POST', `/projects/${project}/tasks`, { title: 'slow' })).body;
  const open = async (headers = {}) => {
    let finish = () => {};
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const change = service.app.db.transaction(async (em) => {
      await em.query(`update tasks set title = title || '!' where id = $1`, [task.id]);
      begun();
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    await isBegun;
    await call('POST', `/projects/${project}/tasks`, { title: 'fast' });
    const stream = await listen(`/projects/${project}/events`, headers);
    await call('POST', `/projects/${project}/tasks`, { title: 'seen' });
    await until('what is fast', async () => named(stream.heard, 'task').length > 0);
    finish();
    await change;
    await until('what is slow', async () => stream.heard.some((h) => h.data?.id === task.id));
    const told = named(stream.heard, 'task').map((h) => h.data?.id);
    expect(new Set(told).size).toBe(told.length);
    const last = stream.heard.at(-1)?.id ?? '';
    await stream.stop();
    return last;
  };
  const last = await open();
  expect(last).toMatch(/^\d+-\d+(-[\d.]+)?$/);
  await open({ 'Last-Event-ID': last });
});

test('a stream ends when its token is revoked or its caller leaves the project', async () => {
  await call('POST', `/projects/${project}/members`, { login: 'mate' });
  const mate = await service.token('mate');
  const other = (await call('POST', '/me/tokens', { name: 'x' })).body;
  const revoked = await listen(`/projects/${project}/events`, {}, other.token);
  const gone = await listen(`/projects/${project}/events`, {}, mate);
  const member = (await call('GET', `/projects/${project}/members`)).body.find(
    (m: { login: string }) => m.login === 'mate',
  );
  await call('DELETE', `/me/tokens/${other.id}`);
  await call('DELETE', `/projects/${project}/members/${member.userId}`);
  await until('both ends', async () => revoked.isEnded() && gone.isEnded());
  expect((await listen(`/projects/${project}/events`, {}, mate)).status).toBe(403);
});

test('a person who was removed from a project gets no event of what happens afterwards', async () => {
  const mate = await service.token('mate');
  for (let times = 0; times < 3; times++) {
    await call('POST', `/projects/${project}/members`, { login: 'mate' });
    const gone = await listen(`/projects/${project}/events`, {}, mate);
    const before = (await call('POST', `/projects/${project}/tasks`, { title: 'before' })).body.id;
    await until('what happens before', async () => gone.heard.some((h) => h.data?.id === before));
    const members = (await call('GET', `/projects/${project}/members`)).body;
    const { userId } = members.find((m: { login: string }) => m.login === 'mate');
    await call('DELETE', `/projects/${project}/members/${userId}`);
    const after = (await call('POST', `/projects/${project}/tasks`, { title: 'after' })).body.id;
    await until('the end', async () => gone.isEnded());
    expect(gone.heard.map((h) => h.data?.id)).not.toContain(after);
  }
});

test('a user may have ten streams, and one more is refused', async () => {
  const streams = [];
  for (let i = 0; i < 10; i++) streams.push(await listen(`/projects/${project}/events`));
  expect((await listen(`/projects/${project}/events`)).status).toBe(429);
  for (const stream of streams) await stream.stop();
  await until('a free place', async () => {
    const next = await listen(`/projects/${project}/events`);
    await next.stop();
    return next.status === 200;
  });
});

test('a listener whose connection breaks is notified of the changes it missed', async () => {
  const stream = await listen(`/projects/${project}/events`);
  await service.app.db.manager.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'deckhand-listener' and datname = current_database()`,
  );
  await call('POST', `/projects/${project}/tasks`, { title: 'meanwhile' });
  await until('the task', async () => named(stream.heard, 'task').length > 0);
  await stream.stop();
});
