import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import type { EntityManager } from 'typeorm';
import { migrations } from '../../migrations/list.ts';
import { type Database, isDatabaseAway, openDatabase, violatedUnique } from '../../src/db/database.ts';
import { tables } from '../../src/db/tables/list.ts';
import { Users } from '../../src/db/tables/project.ts';
import { isForPerson, waitReasons } from '../../src/domain/waiting.ts';
import { hasTitleIndex, titleIndex } from '../../src/tasks/search-store.ts';
import { createTestDatabase } from '../support/database.ts';

let db: Database;
let url: string;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await createTestDatabase();
  ({ url, drop } = database);
  db = await openDatabase(url, migrations);
});
afterAll(async () => {
  await db.close();
  await drop();
});

test('the paths of a diff are those of its files, also when another release stores them', async () => {
  const sql = (text: string, values: unknown[] = []) => db.manager.query(text, values);
  await sql(`insert into projects (id, name, slug) values ('p_paths', 'p', 'p-paths')`);
  await sql(`insert into tasks (id, project_id, title, status) values ('task_paths', 'p_paths', 't', 'ready')`);
  await sql(
    `insert into diffs (task_id, branch_name, base_branch, head_sha, files) values ('task_paths', 'b', 'main', 's', $1)`,
    [JSON.stringify([{ path: 'a.ts' }, { path: 'b.ts' }])],
  );
  const paths = async () => (await sql('select paths from diffs'))[0].paths;
  expect(await paths()).toEqual(['a.ts', 'b.ts']);
  await sql('update diffs set files = $1', [JSON.stringify([{ path: 'c.ts' }])]);
  expect(await paths()).toEqual(['c.ts']);
  await sql(`delete from projects where id = 'p_paths'`);
});

test('migrations and declared tables agree, column by column', async () => {
  const found: { table: string; column: string; type: string; nullable: boolean }[] = await db.manager.query(
    `select table_name as table, column_name as column, udt_name as type, is_nullable = 'YES' as nullable
     from information_schema.columns where table_schema = 'public'`,
  );
  const names: Record<string, string> = { boolean: 'bool', integer: 'int4', bigint: 'int8' };
  // TypeORM does not know these types.
  const undeclared = ['project_events xid', 'tasks words'];
  for (const schema of tables) {
    const metadata = db.manager.connection.getMetadata(schema);
    const declared = metadata.columns.map(
      (c) => `${c.databaseName} ${c.isArray ? '_' : ''}${names[c.type as string] ?? c.type} ${c.isNullable}`,
    );
    const actual = found
      .filter((c) => c.table === metadata.tableName && !undeclared.includes(`${c.table} ${c.column}`))
      .map((c) => `${c.column} ${c.type} ${c.nullable}`);
    expect([metadata.tableName, declared.sort()]).toEqual([metadata.tableName, actual.sort()]);
  }
});

test('the database puts exactly those waits into the inbox that are for a person', async () => {
  const [{ check }]: [{ check: string }] = await db.manager.query(
    `select pg_get_constraintdef(oid) as check from pg_constraint where conname = 'runs_wait_reason_check'`,
  );
  expect([...check.matchAll(/'(\w+)'/g)].map(([, reason]) => reason)).toEqual([...waitReasons]);
  const found: { reason: string }[] = await db.manager.query(
    `select reason from unnest($1::text[]) reason where reason_of_run('waiting', reason) is not null`,
    [[...waitReasons]],
  );
  expect(found.map(({ reason }) => reason)).toEqual(waitReasons.filter(isForPerson));
});

test('migrations can be reverted and run again', async () => {
  const database = await createTestDatabase();
  const own = await openDatabase(database.url, migrations);
  const source = own.manager.connection;
  for (const _ of migrations) await source.undoLastMigration();
  const left = await own.manager.query(
    `select table_name from information_schema.tables where table_schema = 'public'`,
  );
  expect(left.map((r: { table_name: string }) => r.table_name)).toEqual(['migrations']);
  await source.runMigrations();
  await own.close();
  await database.drop();
});

test('with MIGRATE=off, a database that is not up to date is refused and not changed', async () => {
  const database = await createTestDatabase('template1');
  const latest = new (migrations.at(-1) ?? (class {} as never))().name;
  const unchecked = await openDatabase(database.url, migrations.slice(0, -1));
  const off = openDatabase(database.url, migrations, { mayMigrate: false });
  await expect(off).rejects.toThrow(
    `MIGRATE: off, but the database lacks a migration of this version (first ${latest}). Run "npm run migrate"`,
  );
  expect(await unchecked.manager.query('select name from migrations')).toHaveLength(migrations.length - 1);
  await unchecked.manager.connection.query('drop table migrations');
  await expect(openDatabase(database.url, migrations, { mayMigrate: false })).rejects.toThrow(
    `lacks ${migrations.length} migrations`,
  );
  await unchecked.close();
  const current = await openDatabase(url, migrations, { mayMigrate: false });
  await current.ping();
  await current.close();
  await database.drop();
});

test('a role that may not create extensions gets every table, but no index for titles', async () => {
  expect(await hasTitleIndex(db.manager)).toBe(true);
  const database = await createTestDatabase('template1');
  const role = `limited_${new URL(database.url).pathname.slice(6)}`;
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(`create role ${role} login password 'limited'; grant create on schema public to ${role}`);
  const own = await openDatabase(
    Object.assign(new URL(database.url), { username: role, password: 'limited' }).href,
    migrations,
  );
  expect(await hasTitleIndex(own.manager)).toBe(false);
  expect(await own.manager.query('select name from migrations')).toHaveLength(migrations.length);
  await own.close();
  await admin.query(titleIndex);
  await admin.query(`drop owned by ${role}; drop role ${role}`);
  await admin.end();
  await database.drop();
});

test('a transaction that throws changes nothing', async () => {
  const insert = db.transaction(async (em) => {
    await em.insert(Users, { id: 'user_1', login: 'half' });
    throw new Error('on the way');
  });
  await expect(insert).rejects.toThrow('on the way');
  expect(await db.manager.existsBy(Users, { login: 'half' })).toBe(false);
});

test('`together` is one transaction; a nested transaction that fails is rolled back to its savepoint', async () => {
  const logins = async () =>
    (await db.manager.query(`select login from users where id like 'user_t%' order by 1`)).map(
      (row: { login: string }) => row.login,
    );
  const insert = (id: string) => db.transaction((em) => em.insert(Users, { id, login: id }));
  let isCommitted = false;
  await db.together('start', async () => {
    await insert('user_t1');
    await expect(insert('user_t1')).rejects.toThrow('users_pkey');
    await db.prepared('together', 'insert into users (id, login) values ($1, $1)', ['user_t2']);
    db.afterCommit(() => {
      isCommitted = true;
    });
    expect([await logins(), isCommitted]).toEqual([['user_t1', 'user_t2'], false]);
    await expect(db.withLock('x', async () => {})).rejects.toThrow('inside a transaction');
  });
  expect([await logins(), isCommitted]).toEqual([['user_t1', 'user_t2'], true]);
  let later = async () => {};
  const failed = db.together('first transaction', async () => {
    await db.manager.query(`insert into users (id, login) values ('user_t3', 'user_t3')`);
    await insert('user_t4');
    expect(await logins()).toEqual(['user_t1', 'user_t2', 'user_t3', 'user_t4']);
    later = AsyncLocalStorage.bind(() => insert('user_t5').then(() => {}));
    throw new Error('on the way');
  });
  await expect(failed).rejects.toThrow('on the way');
  // Code that runs after `together` has ended starts a new transaction.
  await later();
  expect(await logins()).toEqual(['user_t1', 'user_t2', 'user_t3', 'user_t5']);
});

test('the last act of a transaction is committed with it, and needs one', async () => {
  const acts: string[] = [];
  let label = '';
  db.beforeCommit(async (em) => {
    if (label === '') return;
    acts.push(`${label}: ${await em.countBy(Users, { name: label })}`);
  });
  const insert = () => db.transaction((em) => em.insert(Users, { id: `user_${label}`, login: label, name: label }));
  label = 'together';
  await db.together('start', insert);
  label = 'later';
  await db.together('first transaction', async () => {
    await insert();
    expect(acts).toEqual(['together: 1']);
  });
  label = 'without a transaction';
  expect(await db.together('first transaction', async () => 5)).toBe(5);
  label = 'alone';
  await insert();
  label = '';
  expect(acts).toEqual(['together: 1', 'later: 1', 'alone: 1']);
});

test('what follows a commit happens at once outside of a transaction', () => {
  const done: string[] = [];
  db.afterCommit(() => done.push('now'));
  expect(done).toEqual(['now']);
});

test('what follows the commit of a transaction happens after it, in one of `together` at the end, and never after a rollback', async () => {
  const done: string[] = [];
  const act = (name: string) => (em: EntityManager) => {
    db.afterCommit(() => done.push(name), em);
    done.push(`in ${name}`);
    return Promise.resolve();
  };
  await db.transaction(act('one'));
  const failing = db.transaction(async (em) => {
    await act('failed')(em);
    throw new Error('on the way');
  });
  await expect(failing).rejects.toThrow('on the way');
  await db.together('start', async () => {
    await db.transaction(act('inner'));
    done.push('together');
  });
  expect(done).toEqual(['in one', 'one', 'in failed', 'in inner', 'together', 'inner']);
});

test('every statement after a connection broke says that the database is away', async () => {
  const errors: unknown[] = [];
  const failing = db.transaction(async (em) => {
    const [{ pid }] = await em.query('select pg_backend_pid() as pid');
    const ended = db.manager.query('select pg_terminate_backend($1)', [pid]);
    for (let i = 0; i < 3; i++) {
      await ended;
      await em.query('select 1').catch((error) => errors.push(error));
    }
    await em.findBy(Users, { id: 'user_1' });
  });
  errors.push(await failing.catch((error) => error));
  expect(errors.map(isDatabaseAway)).toEqual([true, true, true, true]);
});

test('a violated index is identified by its name', async () => {
  await db.manager.insert(Users, { id: 'user_2', login: 'octocat' });
  const error = await db.manager.insert(Users, { id: 'user_3', login: 'OctoCat' }).catch((e) => e);
  expect(violatedUnique(error)).toBe('users_login');
  expect(violatedUnique(new Error('other'))).toBeUndefined();
});

test('callers that wait for one lock do not use up the connections for another', async () => {
  const { promise: held, resolve: finish } = Promise.withResolvers<void>();
  const order: number[] = [];
  const first = db.withLock('one', () => held);
  const waiting = Array.from({ length: 40 }, (_, i) => db.withLock('one', async () => void order.push(i)));
  await db.withLock('another', async () => {});
  finish();
  await Promise.all([first, ...waiting]);
  expect(order).toEqual(Array.from({ length: 40 }, (_, i) => i));
});

test('a lock is released when its work fails', async () => {
  const failed = db.withLock('failing', async () => {
    throw new Error('on purpose');
  });
  await expect(failed).rejects.toThrow('on purpose');
  expect(await db.withLock('failing', async () => 'next')).toBe('next');
});

test('a transaction whose process no longer responds is rolled back, so that it blocks nobody for long', async () => {
  const suspended = await openDatabase(url, [], { leaseSeconds: 0.1 });
  await db.manager.insert(Users, { id: 'user_held', login: 'held' });
  const holding = suspended.transaction(async (em) => {
    await em.query(`select 1 from users where id = 'user_held' for update`);
    await db.manager.update(Users, { id: 'user_held' }, { name: 'free' });
  });
  await expect(holding).rejects.toThrow();
  await suspended.close();
});
