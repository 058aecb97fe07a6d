import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Service, startService } from '../../../demo/real-service.ts';
import { freePort } from '../../../demo/settings.ts';
import { signToken } from '../../../src/http/access/authenticate.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startServiceHere } from '../../support/http/service-here.ts';
import { type CommitFault, startPostgresProxy } from '../../support/stand-ins/postgres-proxy.ts';

/** The fault at the next commit that inserts a task: the service is killed before it (`refused`) or after it (`lost`). */
let fault: CommitFault;
let service: Service;
let kill: () => Promise<void>;
let settings: Record<string, string>;
let sql: pg.Client;
let token: string;
let projectId: string;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  const database = await createTestDatabase();
  ends.push(database.drop);
  const proxy = await startPostgresProxy(database.url, (statements) => {
    if (fault === undefined || !statements.some((text) => /insert into "?tasks\b/i.test(text))) return undefined;
    const now = fault;
    fault = undefined;
    kill();
    return now;
  });
  ends.push(proxy.close);
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-lost-'));
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  settings = {
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: proxy.url,
    DATA_DIR: dataDir,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: '5c'.repeat(32),
    METRICS_PORT: '0',
    SANDBOX: 'off',
    ROLE: 'web',
  };
  await startToKill();
  ends.push(() => service.stop());
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  ends.push(() => sql.end());
  const tomorrow = new Date(Date.now() + 86_400_000);
  await sql.query(`insert into users (id, login, admitted_until) values ('user_mona', 'mona', 'infinity')`);
  await sql.query(
    `insert into api_tokens (id, user_id, name, prefix, expires_at) values ('tok_mona', 'user_mona', 'test', '', $1)`,
    [tomorrow],
  );
  const claims = { sub: 'user_mona', jti: 'tok_mona' };
  token = signToken(settings.JWT_SECRET ?? '', settings.BASE_URL ?? '', claims, tomorrow);
  projectId = (await service.api<{ id: string }>(token, 'POST', '/projects', { name: 'Lost' })).id;
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const post = (key: string) =>
  fetch(`${service.url}/api/v1/projects/${projectId}/tasks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ title: key }),
  });
const tasksNamed = async (title: string) =>
  (await sql.query('select id from tasks where title = $1', [title])).rows.map((row) => row.id);

/** Starts the service in a process of its own. */
async function startToKill(): Promise<void> {
  const running = await startService(settings);
  service = running;
  kill = () => running.stop('SIGKILL');
}

/** Sends a request whose reply is lost, because the service is killed. */
async function postKilled(key: string, how: CommitFault): Promise<void> {
  fault = how;
  await expect(post(key)).rejects.toThrow();
  await kill();
}

test('killed between commit and reply: the repeated request gets the stored reply', async () => {
  await postKilled('committed', 'lost');
  await startToKill();
  const made = await tasksNamed('committed');
  expect(made).toHaveLength(1);
  const again = await post('committed');
  const { id } = (await again.json()) as { id: string };
  expect([again.status, again.headers.get('idempotent-replayed'), id]).toEqual([201, 'true', made[0]]);
  expect(await tasksNamed('committed')).toEqual(made);
});

test('killed before the commit: the repeated request is handled immediately', async () => {
  await postKilled('rolled back', 'refused');
  service = await startServiceHere(settings);
  expect(await tasksNamed('rolled back')).toEqual([]);
  const again = await post('rolled back');
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null]);
  expect(await tasksNamed('rolled back')).toHaveLength(1);
});
