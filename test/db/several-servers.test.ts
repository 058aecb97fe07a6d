import pg from 'pg';
import { openDatabase } from '../../src/db/database.ts';
import { readDatabaseUrl } from '../../src/host/database-url.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
afterAll(() => database.drop());

/** The address of the database behind another server, on which nothing listens. */
function behindClosedPort(attributes = '', change: (url: URL) => void = () => {}): string {
  const url = new URL(database.url);
  change(url);
  const { username, password, host, pathname } = url;
  return `postgres://${username}:${password}@127.0.0.1:1,${host}${pathname}${attributes}`;
}

test.each([
  ['postgres://a/b', { hosts: [{ host: 'a', port: 5432 }], needsWrites: false }],
  [
    'postgresql://u:p%40@a,[::1]:5433/b?target_session_attrs=read-write&sslmode=require',
    {
      single: 'postgresql://u:p%40@a/b?sslmode=require',
      hosts: [
        { host: 'a', port: 5432 },
        { host: '::1', port: 5433 },
      ],
      needsWrites: true,
    },
  ],
  ['mysql://a/b', undefined],
  ['postgres://a,,b/c', undefined],
  ['postgres://a:x,b/c', undefined],
  ['postgres://a,b/c?target_session_attrs=standby', undefined],
])('the address %s', (text, expected) => {
  const read = readDatabaseUrl(text);
  if (expected === undefined) expect(read).toBeUndefined();
  else expect(read).toMatchObject(expected);
});

test('of several servers, the first that accepts writes is used for everything', async () => {
  const db = await openDatabase(behindClosedPort('?target_session_attrs=read-write'), []);
  try {
    await db.tryWrite();
    expect(await db.withLock('one', async () => 'locked')).toBe('locked');
    expect(await db.presence()).toEqual(expect.any(String));
    const limits = await db.manager.query(`select current_setting('idle_in_transaction_session_timeout') as idle`);
    expect(limits).toEqual([{ idle: '90s' }]);
    const heard = new Promise((resolve) => db.listen('topic', (message) => message && resolve(message)));
    // What is said before the listener has connected is not heard.
    const saying = setInterval(() => db.tell('topic', 'hello').catch(() => {}), 20);
    expect(await heard).toBe('hello');
    clearInterval(saying);
  } finally {
    await db.close();
  }
});

test('if no server accepts writes, the error says what each of them answered', async () => {
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const role = `reader_${new URL(database.url).pathname.slice(6)}`;
  await admin.query(
    `create role ${role} login password 'reader'; alter role ${role} set default_transaction_read_only = on`,
  );
  const asReader = (url: URL) => Object.assign(url, { username: role, password: 'reader' });
  const refused = openDatabase(behindClosedPort('?target_session_attrs=primary', asReader), []);
  await expect(refused).rejects.toThrow(
    /^no server of DATABASE_URL accepts writes: 127\.0\.0\.1:1 cannot be used \(ECONNREFUSED\), \S+:\d+ is read-only$/,
  );
  await admin.query(`drop owned by ${role}; drop role ${role}`);
  await admin.end();
});
