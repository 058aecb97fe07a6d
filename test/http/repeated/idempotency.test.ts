import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../../demo/real-service.ts';
import { PooledClient } from '../../../src/db/client.ts';
import { openPresence } from '../../../src/db/presence.ts';
import { forgetOldKeys } from '../../../src/http/idempotency.ts';
import { routes } from '../../../src/routes.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { appSettings } from '../../support/github-app.ts';

let service: TestApp;
let token: string;
beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
});
afterAll(() => service.close());

const post = (path: string, body: unknown, key: string, by = token) =>
  service.call('POST', path, { token: by, body, headers: { 'Idempotency-Key': key } });
const count = async (table: string) =>
  Number((await service.app.db.manager.query(`select count(*) from ${table}`))[0].count);

test('a repeated request gets the same reply and changes nothing', async () => {
  const first = await post('/projects', { name: 'Once' }, 'a');
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
  const before = await count('projects');
  const again = await post('/projects', { name: 'Once' }, 'a');
  expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([201, first.body, 'true']);
  expect(await count('projects')).toBe(before);
  expect((await post('/projects', { name: 'Other' }, 'a')).status).toBe(422);
  expect((await post('/projects', { name: 'Once' }, 'b')).body.id).not.toBe(first.body.id);
  const other = await service.token('other');
  expect((await post('/projects', { name: 'Once' }, 'a', other)).body.id).not.toBe(first.body.id);
  expect((await post('/agents', { name: 'Once' }, 'a')).status).toBe(201);
});

test('twenty simultaneous requests create one object', async () => {
  const before = await count('projects');
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('/projects', { name: 'Race' }, 'race')));
  expect(await count('projects')).toBe(before + 1);
  expect([...new Set(answers.map((a) => a.status))].sort()).toEqual(
    [201, 409].slice(0, new Set(answers.map((a) => a.status)).size),
  );
});

test('a refusal because of the state is stored, an invalid request is not, and access is checked first', async () => {
  const { id } = (await post('/projects', { name: 'P' }, 'p')).body;
  const task = (await post(`/projects/${id}/tasks`, { title: 't' }, 't')).body;
  const refused = await post(`/tasks/${task.id}/start`, undefined, 's');
  expect(refused.status).toBe(409);
  expect(await post(`/tasks/${task.id}/start`, undefined, 's')).toMatchObject({ status: 409, body: refused.body });
  expect((await post('/projects', { name: '' }, 'mend')).status).toBe(400);
  expect((await post('/projects', { name: 'Mended' }, 'mend')).status).toBe(201);
  const stranger = await service.token('stranger');
  expect((await post(`/projects/${id}/tasks`, { title: 't' }, 't', stranger)).status).toBe(403);
  for (const key of ['', 'x'.repeat(256)]) expect((await post('/projects', { name: 'K' }, key)).status).toBe(400);
  expect((await post('/projects', { name: 'K' }, 'x'.repeat(255))).status).toBe(201);
});

test('a token is never stored: a repeated request is a 409', async () => {
  expect((await post('/me/tokens', { name: 'n' }, 'k')).status).toBe(201);
  expect((await post('/me/tokens', { name: 'n' }, 'k')).status).toBe(409);
  const kept = await service.app.db.manager.query(`select reply from idempotency_keys where request like '%tokens'`);
  expect(kept).toEqual([{ reply: null }]);
});

/** Makes a key this many minutes old; without `isKept`, its request has no reply yet. */
const age = (key: string, minutes: number, isKept = false) =>
  service.app.db.manager.query(
    `update idempotency_keys set created_at = now() - make_interval(mins => $2),
       status = case when $3 then status end, reply = case when $3 then reply end where key = $1`,
    [key, minutes, isKept],
  );

test('the key of an interrupted request becomes free after ten minutes, for the same body', async () => {
  const first = await post('/projects', { name: 'Once' }, 'cut off');
  expect(first.status).toBe(201);
  expect((await post('/projects/', { name: 'Once' }, 'cut off')).body).toEqual(first.body);
  await age('cut off', 9);
  expect((await post('/projects', { name: 'Once' }, 'cut off')).status).toBe(409);
  await age('cut off', 11);
  expect((await post('/projects', { name: 'Other' }, 'cut off')).status).toBe(422);
  const again = await post('/projects', { name: 'Once' }, 'cut off');
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null]);
});

test('a stored reply is repeated for a day, then the key is free, and a sweep deletes it', async () => {
  const { body } = await post('/projects', { name: 'Daily' }, 'day');
  const minutesOfADay = 24 * 60;
  await age('day', minutesOfADay - 1, true);
  await forgetOldKeys(service.app.db);
  const repeated = await post('/projects', { name: 'Daily' }, 'day');
  expect([repeated.body, repeated.headers.get('idempotent-replayed')]).toEqual([body, 'true']);
  await age('day', minutesOfADay + 1, true);
  const again = await post('/projects', { name: 'Another day' }, 'day');
  expect([again.status, again.body.id === body.id]).toEqual([201, false]);
  await age('day', minutesOfADay + 1, true);
  await forgetOldKeys(service.app.db);
  const left = await service.app.db.manager.query(`select count(*)::int as n from idempotency_keys where key = 'day'`);
  expect(left).toEqual([{ n: 0 }]);
});

describe('while GitHub is slow', () => {
  let github: Server;
  let busy: TestApp;
  let owner: string;
  let members: string;
  /** Called for each login that is looked up; GitHub replies when the promise resolves. */
  let lookedUp: (login: string) => Promise<unknown> = async () => {};
  const add = (login: string, key: string) =>
    busy.call('POST', members, { token: owner, body: { login }, headers: { 'Idempotency-Key': key } });
  const memberCount = async () => (await busy.call('GET', members, { token: owner })).body.length;

  beforeAll(async () => {
    github = createServer(async (req, res) => {
      const json = (body: unknown) => res.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
      const [, login] = /^\/users\/person-(\d+)$/.exec(req.url ?? '') ?? [];
      if (login === undefined) return json([]);
      await lookedUp(login);
      json({ id: 1000 + Number(login), login: `person-${login}`, name: null, avatar_url: '' });
    });
    await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(github.address() as AddressInfo).port}`;
    busy = await openTestApp(appSettings(url));
    owner = await busy.token('person-0');
    const project = (await busy.call('POST', '/projects', { token: owner, body: { name: 'P' } })).body;
    members = `/projects/${project.id}/members`;
  });
  afterAll(async () => {
    await busy.close();
    github.close();
    github.closeAllConnections();
  });

  test('fifty requests hold no connection while they wait, and none waits for another', async () => {
    const before = await memberCount();
    let waiting = 0;
    const all = new Promise<void>((resolve) => {
      lookedUp = () => {
        waiting += 1;
        // More than there are connections to the database.
        if (waiting === 50) resolve();
        return all;
      };
    });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => add(`person-${i + 1}`, `crowd ${i}`)));
    expect(answers.map((a) => a.status)).toEqual(Array(50).fill(201));
    expect(await memberCount()).toBe(before + 50);
    const tasks = members.replace('members', 'tasks');
    const made = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        busy.call('POST', tasks, { token: owner, body: { title: 't' }, headers: { 'Idempotency-Key': `task ${i}` } }),
      ),
    );
    expect(made.map((a) => a.status)).toEqual(Array(50).fill(201));
  });

  test('an attempt that lost its key to another one writes nothing', async () => {
    const before = await memberCount();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reached = new Promise<void>((resolve) => {
      lookedUp = async () => {
        lookedUp = async () => {};
        resolve();
        await held;
      };
    });
    const first = add('person-60', 'lost');
    await reached;
    expect((await add('person-60', 'lost')).status).toBe(409);
    // Simulates a database restart: the process lives but its lock is gone.
    const em = busy.app.db.manager;
    const ended = `select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where application_name = 'deckhand-presence' and datname = current_database()`;
    await em.query(ended);
    const again = await until('the key to be free', async () => {
      const answer = await add('person-60', 'lost');
      return answer.status !== 409 && answer;
    });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null]);
    release();
    const { status, body } = await first;
    expect([status, body.message]).toEqual([409, expect.stringContaining('still under way')]);
    const replayed = await add('person-60', 'lost');
    expect([replayed.body, replayed.headers.get('idempotent-replayed')]).toEqual([again.body, 'true']);
    expect(await memberCount()).toBe(before + 1);
  });
});

test('the key of a live process stays claimed; when the process dies, the next attempt takes over immediately', async () => {
  const other = openPresence(service.app.config.DATABASE_URL as string, 30);
  await post('/projects', { name: 'Elsewhere' }, 'e');
  await service.app.db.manager.query(
    `update idempotency_keys set status = null, reply = null, process = $1 where key = 'e'`,
    [await other.name()],
  );
  expect((await post('/projects', { name: 'Elsewhere' }, 'e')).status).toBe(409);
  await other.close();
  const again = await until('the key to be free', async () => {
    const answer = await post('/projects', { name: 'Elsewhere' }, 'e');
    return answer.status !== 409 && answer;
  });
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null]);
});

test('PostgreSQL ends the session of a process that gives no sign of life for its lease', async () => {
  const { DATABASE_URL: connectionString } = service.app.config;
  const session = new PooledClient({ connectionString, session: { idle_session_timeout: 30_000 } });
  await session.connect();
  const { rows } = await session.query('show idle_session_timeout');
  await session.end();
  expect(rows).toEqual([{ idle_session_timeout: '30s' }]);
});

test('operations that wait for GitHub or a model hold no transaction while they wait', () => {
  // Mail is sent by a job.
  const isOfMail = (problem = '') => problem.startsWith('Mail ');
  const asks = routes.filter(({ errors = {} }) => 502 in errors || (503 in errors && !isOfMail(errors[503])));
  expect(asks.length).toBeGreaterThan(8);
  expect(asks.filter((route) => route.waits === undefined).map((route) => route.path)).toEqual([]);
});

test('the writes of an operation that failed are rolled back together with its reply', async () => {
  const { id } = (await post('/projects', { name: 'Bulk' }, 'bulk')).body;
  const before = await count('tasks');
  const body = { tasks: [{ title: 'a' }, { title: 'b', sprintId: 'sprint_x' }] };
  expect((await post(`/projects/${id}/tasks/bulk`, body, 'half')).status).toBe(400);
  expect(await count('tasks')).toBe(before);
  expect((await post(`/projects/${id}/tasks/bulk`, { tasks: [{ title: 'a' }] }, 'half')).status).toBe(201);
  const named = { name: 'Taken' };
  expect((await post('/agents', named, 'first agent')).status).toBe(201);
  const refused = await post('/agents', named, 'second agent');
  expect([refused.status, (await post('/agents', named, 'second agent')).body]).toEqual([409, refused.body]);
});
