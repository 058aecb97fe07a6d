import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Seed } from '../../src/demo/github/emulator-seed.ts';
import { type DemoGitHub, startGitHub } from '../../src/demo/github/github.ts';
import { type Script, type ScriptedModel, startModel } from '../../src/demo/model/model.ts';
import { type RunningService, startService, until } from '../../src/demo/real-service.ts';
import { demoSettings, freePort } from '../../src/demo/settings.ts';
import { createTestDatabase } from './database.ts';
import { type OnCommit, startPostgresProxy } from './postgres-proxy.ts';

export interface World {
  github: DemoGitHub;
  model: ScriptedModel;
  service: RunningService;
  /** The project of the installation, and a token of its owner. */
  project: { id: string };
  token: string;
  settings: Record<string, string>;
  get<T>(path: string): Promise<T>;
  /** Opens an issue as its owner with a first comment; answers its number. */
  issue(comment: string, more?: { title?: string; body?: string }): Promise<number>;
  task(): Promise<WorldTask>;
  /** Waits until the newest task has that status, has run, and runs no more. */
  taskIn(status: string): Promise<WorldTask>;
  labels(number: number): Promise<string[]>;
  comments(number: number): Promise<{ id: number; user: { login: string }; body: string }[]>;
  /** Every text of every table, as a dump of the database would hold it. */
  dump(): Promise<string>;
  /** For what would take thousands of requests, or what no request tells. */
  sql<T>(text: string, values: unknown[]): Promise<T[]>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface WorldTask {
  id: string;
  status: string;
  owner: string | null;
  title: string;
  prUrl: string | null;
  branchName: string | null;
  runCount: number;
  failure: { category: string; message: string } | null;
}

/** The real service in its own process, between the GitHub emulator, real git and a scripted model. */
export async function openWorld(
  script: Script,
  options: {
    before?: (turn: number) => Promise<void>;
    settings?: Record<string, string>;
    seed?: Partial<Seed>;
    /** Lets commits of the service go wrong. */
    onCommit?: OnCommit;
  } = {},
): Promise<World> {
  const owner = options.seed?.isOrganization ? 'acme' : 'mona';
  const github = await startGitHub({ owner, repository: 'sample', people: ['mona', 'stranger'], ...options.seed });
  const model = await startModel(script, options.before);
  const database = await createTestDatabase();
  const proxy = options.onCommit && (await startPostgresProxy(database.url, options.onCommit));
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-world-'));
  const settings = {
    ...demoSettings({ github, model, port: await freePort(), dataDir }),
    DATABASE_URL: proxy?.url ?? database.url,
    JWT_SECRET: 'canary-jwt-secret-of-the-tests-0123456789',
    ENCRYPTION_KEY: '5c'.repeat(32),
    RUN_LEASE_SECONDS: '2',
    RUN_HEARTBEAT_SECONDS: '1',
    MIRROR_INTERVAL_MS: '0',
    ...options.settings,
  };
  let service = await startService(settings);
  github.deliverTo(`${service.url}/api/github/webhooks`);
  const token = await tokenBySignIn(service, github, 'mona');
  const get = <T>(path: string) => service.api<T>(token, 'GET', path);
  const project = await until('the project', async () => (await get<{ id: string }[]>('/projects'))[0]);
  await until('the repository', async () => (await get<unknown[]>('/repositories')).length > 0);
  const mona = github.as('mona');
  const repo = `/repos/${owner}/sample`;
  const world: World = {
    github,
    model,
    get service() {
      return service;
    },
    project,
    token,
    settings,
    get,
    issue: async (comment, more = {}) => {
      const { number } = await mona<{ number: number }>('POST', `${repo}/issues`, {
        title: 'Do something',
        body: 'please',
        ...more,
      });
      if (comment !== '') await mona('POST', `${repo}/issues/${number}/comments`, { body: comment });
      return number;
    },
    task: () => until('the task', async () => (await get<WorldTask[]>(`/projects/${project.id}/tasks`))[0]),
    taskIn: (status) =>
      until(`a task ${status}`, async () => {
        const [task] = await get<WorldTask[]>(`/projects/${project.id}/tasks`);
        if (task === undefined || task.status !== status) return undefined;
        const runs = await get<{ status: string }[]>(`/tasks/${task.id}/runs`);
        const isQuiet = runs.every((r) => !['queued', 'running'].includes(r.status));
        return runs.length > 0 && isQuiet && task;
      }),
    labels: async (number) => {
      const labels = await mona<{ name: string }[]>('GET', `${repo}/issues/${number}/labels`);
      return labels.map((l) => l.name).sort();
    },
    comments: (number) => mona('GET', `${repo}/issues/${number}/comments`),
    dump: () => dump(database.url),
    sql: async (text, values) => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      return client
        .query(text, values)
        .then((answer) => answer.rows)
        .finally(() => client.end());
    },
    restart: async () => {
      service = await startService(settings);
    },
    close: async () => {
      await service.stop();
      await model.close();
      await github.close();
      proxy?.close();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return world;
}

/** A token as a program gets one at the sign-in: the command that prints one takes a second more. */
async function tokenBySignIn({ url }: RunningService, github: DemoGitHub, login: string): Promise<string> {
  const begun = await fetch(`${url}/login/github`, { redirect: 'manual' });
  const query = new URL(begun.headers.get('location') ?? '').searchParams;
  const fields = ['redirect_uri', 'state', 'client_id'].map((name) => [name, query.get(name) ?? '']);
  const agreed = await fetch(`${github.url}/login/oauth/callback`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ login, scope: '', ...Object.fromEntries(fields) }),
  });
  const Cookie = begun.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const headers = { Cookie, Accept: 'application/json' };
  const answer = await fetch(agreed.headers.get('location') ?? '', { headers });
  return ((await answer.json()) as { token: string }).token;
}

async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows: tables } = await client.query(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`,
  );
  const texts = [];
  for (const { name } of tables) texts.push(JSON.stringify((await client.query(`select t::text from ${name} t`)).rows));
  await client.end();
  return texts.join('\n');
}
