import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { until } from '../../demo/real-service.ts';
import { freePort } from '../../demo/settings.ts';
import { assertUsable } from '../../src/db/usable.ts';
import { openTestApp } from '../support/app.ts';
import { createTestDatabase } from '../support/database.ts';

const isInstalled =
  spawnSync('pgbouncer', ['--version'], { env: { PATH: `${process.env.PATH}:/usr/sbin` } }).status === 0;
if (!isInstalled)
  process.stdout.write('Left out: the tests with PgBouncer, because it is not installed (Debian: pgbouncer).\n');

/** `nobody` on Debian. PgBouncer refuses to run as root. */
const nobody = 65_534;

/** Starts PgBouncer before the server of a database, with the settings that docs/operations.md asks for. */
async function startPgBouncer(databaseUrl: string, mode = 'session', size = 100) {
  const server = new URL(databaseUrl);
  const port = await freePort();
  const dir = await mkdtemp(join(tmpdir(), 'deckhand-pgbouncer-'));
  await chmod(dir, 0o755);
  const file = join(dir, 'pgbouncer.ini');
  const login = `user=${server.username} password='${decodeURIComponent(server.password)}'`;
  await writeFile(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${size}
`,
    { mode: 0o644 },
  );
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const env = { PATH: `${process.env.PATH}:/usr/sbin` };
  const child: ChildProcess = spawn('pgbouncer', ['-q', file], { ...user, env, stdio: 'ignore' });
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.destroy());
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    });
  await until('PgBouncer', async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
    return answers();
  });
  const through = new URL(databaseUrl);
  through.port = String(port);
  return {
    url: through.href,
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

(isInstalled ? test : test.skip)('the service works behind PgBouncer in session mode', async () => {
  const database = await createTestDatabase();
  const pooler = await startPgBouncer(database.url);
  const service = await openTestApp({ DATABASE_URL: pooler.url });
  const { db } = service.app;
  try {
    const token = await service.token('octocat');
    expect((await service.call('POST', '/projects', { token, body: { name: 'Pooled' } })).status).toBe(201);
    const limits = `select current_setting('idle_in_transaction_session_timeout') as idle`;
    expect(await db.manager.query(limits)).toEqual([{ idle: '90s' }]);

    const order: string[] = [];
    await Promise.all(
      ['one', 'two'].map((name) =>
        db.withLock('the same', async () => {
          order.push(`${name} begins`);
          await db.ping();
          order.push(`${name} ends`);
        }),
      ),
    );
    expect(order.map((said) => said.split(' ')[1])).toEqual(['begins', 'ends', 'begins', 'ends']);
    expect(await db.presence()).toEqual(expect.any(String));

    const heard = new Promise((resolve) => db.listen('topic', (message) => message && resolve(message)));
    // What is said before the listener has connected is not heard.
    const saying = setInterval(() => db.tell('topic', 'hello').catch(() => {}), 20);
    expect(await heard).toBe('hello');
    clearInterval(saying);

    await service.work();
    await service.app.queue.send(undefined, 'sweep', {});
    await until('the job', async () => (await db.manager.query('select 1 from reconciliations limit 1')).length > 0);
    await service.app.queue.check();
  } finally {
    await service.close();
  }
  // The next client of a pooled session begins with the defaults of the server.
  const next = new pg.Client({ connectionString: pooler.url });
  await next.connect();
  const { rows } = await next.query(`select current_setting('idle_session_timeout') as session,
    current_setting('idle_in_transaction_session_timeout') as transaction, (select count(*)::int from pg_locks
    where locktype = 'advisory' and pid = pg_backend_pid()) as locks`);
  expect(rows).toEqual([{ session: '0', transaction: '0', locks: 0 }]);
  await next.end();
  await pooler.stop();
  await database.drop();
});

test.each([
  ['transaction', 100],
  ['transaction', 1],
  ['statement', 100],
  ['session', 1],
])('a pooler in %s mode with %i connections is refused, with the setting to change', async (mode, size) => {
  if (!isInstalled) return;
  const database = await createTestDatabase();
  const pooler = await startPgBouncer(database.url, mode, size);
  try {
    await expect(assertUsable(pooler.url)).rejects.toThrow(/^DATABASE_URL: .*pool_mode = session/);
  } finally {
    await pooler.stop();
    await database.drop();
  }
});

test('a pooler in transaction mode is noticed while others use its connections', async () => {
  if (!isInstalled) return;
  const database = await createTestDatabase();
  const pooler = await startPgBouncer(database.url, 'transaction');
  const others = new pg.Pool({ connectionString: pooler.url, max: 5 });
  let isOver = false;
  const busy = Array.from({ length: 5 }, async () => {
    while (!isOver) await others.query('select pg_sleep(0.001)');
  });
  try {
    for (let i = 0; i < 20; i++) await expect(assertUsable(pooler.url)).rejects.toThrow(/pool_mode/);
  } finally {
    isOver = true;
    await Promise.all(busy);
    await others.end();
    await pooler.stop();
    await database.drop();
  }
});

test('sessions that are read-only, as those of a standby, are refused', async () => {
  const database = await createTestDatabase();
  const readOnly = new URL(database.url);
  readOnly.searchParams.set('options', '-c default_transaction_read_only=on');
  await expect(assertUsable(readOnly.href)).rejects.toThrow(/^DATABASE_URL: the server is a standby/);
  await assertUsable(database.url);
  await database.drop();
});
