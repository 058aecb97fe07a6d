import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Seed } from '../../demo/github/emulator-seed.ts';
import { type DemoGitHub, startGitHub } from '../../demo/github/github.ts';
import { type ModelRequest, type Script, type ScriptedModel, startModel } from '../../demo/model/model.ts';
import { type RunningService, type Service, startService, until } from '../../demo/real-service.ts';
import { demoSettings, freePort } from '../../demo/settings.ts';
import { webhookUrl } from '../../src/github/app/manifest.ts';
import { createTestDatabase } from './database.ts';
import { startServiceHere } from './http/service-here.ts';
import { letGo } from './jest/let-go.ts';
import { type OnCommit, startPostgresProxy } from './stand-ins/postgres-proxy.ts';

export interface World {
  github: DemoGitHub;
  model: ScriptedModel;
  service: Service;
  /** The project of the installation. `token` belongs to its owner. */
  project: { id: string };
  token: string;
  settings: Record<string, string>;
  get<T>(path: string): Promise<T>;
  /** Opens an issue as mona and adds a comment; returns the number. */
  issue(comment: string, more?: { title?: string; body?: string }): Promise<number>;
  task(): Promise<WorldTask>;
  /** Waits until the newest task has this status and its runs have ended; there must be at least one. */
  taskIn(status: string): Promise<WorldTask>;
  labels(number: number): Promise<string[]>;
  comments(number: number): Promise<{ id: number; user: { login: string }; body: string }[]>;
  /** Returns every row of every table as text, as a dump of the database would contain it. */
  dump(): Promise<string>;
  /** Queries the database, for data that would take thousands of requests or is not in the API. */
  sql<T>(text: string, values: unknown[]): Promise<T[]>;
  /** Starts the service again after it was stopped or killed. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A world whose service is a process of its own. */
export interface SeparateWorld extends World {
  service: RunningService;
  /** Kills the service, and lets the leases of its runs expire, so that the next process need not wait for that. */
  kill(): Promise<void>;
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

interface WorldOptions {
  before?: (turn: number, request: ModelRequest) => Promise<void>;
  /** Without commands, `SANDBOX: 'off'` makes runs faster. */
  settings?: Record<string, string>;
  /** Settings that depend on where the emulator and the model are. */
  reach?: (github: DemoGitHub, model: ScriptedModel) => Record<string, string>;
  seed?: Partial<Seed>;
  /** Where GitHub has its API, as `/api/v3` on GitHub Enterprise Server. */
  apiPath?: string;
  /** Makes commits of the service fail. */
  onCommit?: OnCommit;
}

/** Opens a world with its service. */
export type Open<W extends World> = (script: Script, options?: WorldOptions) => Promise<W>;

/**
 * Starts the real service between the GitHub emulator, real git and a scripted model. The service runs in the process of
 * the test, where its program is already loaded and compiled: that takes a third less processor time.
 */
export const openWorld: Open<World> = async (script, options = {}) =>
  (await openWorldOf(startServiceHere, script, options)).world;

/** The same with a service in a separate process, for tests that kill it or look at the process. */
export const openSeparateWorld: Open<SeparateWorld> = async (script, options = {}) => {
  const { world, databaseUrl } = await openWorldOf(startService, script, options);
  const kill = async () => {
    await world.service.stop('SIGKILL');
    await query(databaseUrl, `update runs set lease_until = now() where status = 'running'`, []);
  };
  return Object.assign(world, { kill });
};

async function openWorldOf<S extends Service>(
  start: (settings: Record<string, string>) => Promise<S>,
  script: Script,
  options: WorldOptions,
): Promise<{ world: World & { service: S }; databaseUrl: string }> {
  const owner = options.seed?.isOrganization ? 'acme' : 'mona';
  const github = await startGitHub({ owner, repository: 'sample', people: ['mona', 'stranger'], ...options.seed });
  const model = await startModel(script, options.before);
  const database = await createTestDatabase();
  const proxy = options.onCommit && (await startPostgresProxy(database.url, options.onCommit));
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-world-'));
  const settings = {
    ...demoSettings({ github, model, port: await freePort(), dataDir }),
    DATABASE_URL: proxy?.url ?? database.url,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: '5c'.repeat(32),
    // Runs that wait are looked for with every heartbeat. The lease is long, so that a paused process keeps its runs.
    RUN_HEARTBEAT_SECONDS: '1',
    MIRROR_INTERVAL_MS: '0',
    GITHUB_API_URL: `${github.url}${options.apiPath ?? ''}`,
    ...options.reach?.(github, model),
    ...options.settings,
  };
  // Before the service starts, because it creates labels at its start, which GitHub reports.
  github.deliverTo(webhookUrl(settings.BASE_URL));
  let service = await start(settings);
  const token = await tokenBySignIn(service, github, 'mona');
  const get = <T>(path: string) => service.api<T>(token, 'GET', path);
  const project = await until('the project', async () => (await get<{ id: string }[]>('/projects'))[0]);
  await until('the repository', async () => (await get<unknown[]>('/repositories')).length > 0);
  const world = {
    github,
    model,
    get service() {
      return service;
    },
    project,
    token,
    settings,
    get,
    ...tasksOf(get, project.id),
    ...issuesOf(github, owner),
    dump: () => dump(database.url),
    sql: <T>(text: string, values: unknown[]) => query<T>(database.url, text, values),
    restart: async () => {
      service = await start(settings);
    },
    close: async () => {
      await service.stop();
      await model.close();
      await github.close();
      proxy?.close();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
      letGo(world);
    },
  };
  return { world, databaseUrl: database.url };
}

/** Returns functions that read tasks as the API shows them. */
function tasksOf(get: World['get'], projectId: string): Pick<World, 'task' | 'taskIn'> {
  const newest = async () => (await get<WorldTask[]>(`/projects/${projectId}/tasks`))[0];
  return {
    task: () => until('the task', newest),
    taskIn: (status) =>
      until(`a task ${status}`, async () => {
        const task = await newest();
        if (task === undefined || task.status !== status) return undefined;
        const runs = await get<{ status: string }[]>(`/tasks/${task.id}/runs`);
        const isQuiet = runs.every((r) => !['queued', 'running', 'waiting'].includes(r.status));
        return runs.length > 0 && isQuiet && task;
      }),
  };
}

/** Returns functions for the issues of the sample repository, as mona sees them. */
function issuesOf(github: DemoGitHub, owner: string): Pick<World, 'issue' | 'labels' | 'comments'> {
  const mona = github.as('mona');
  const issues = `/repos/${owner}/sample/issues`;
  return {
    issue: async (comment, more = {}) => {
      const body = { title: 'Do something', body: 'please', ...more };
      const { number } = await mona<{ number: number }>('POST', issues, body);
      if (comment !== '') await mona('POST', `${issues}/${number}/comments`, { body: comment });
      return number;
    },
    labels: async (number) => {
      const labels = await mona<{ name: string }[]>('GET', `${issues}/${number}/labels`);
      return labels.map((l) => l.name).sort();
    },
    comments: (number) => mona('GET', `${issues}/${number}/comments`),
  };
}

/** Gets a token by signing in, because the command that prints one takes a second longer. */
export async function tokenBySignIn({ url }: Service, github: DemoGitHub, login: string): Promise<string> {
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

async function query<T>(url: string, text: string, values: unknown[]): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client
    .query(text, values)
    .then((answer) => answer.rows)
    .finally(() => client.end());
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
