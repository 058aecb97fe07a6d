import { createHmac } from 'node:crypto';
import type { Fault } from '../../../demo/github/front-extras.ts';
import { type DemoGitHub, startGitHub } from '../../../demo/github/github.ts';
import { type ScriptedModel, startModel } from '../../../demo/model/model.ts';
import { demoSettings } from '../../../demo/settings.ts';
import { syncInstallations } from '../../../src/github/app/installation.ts';
import { webhookPath } from '../../../src/github/app/manifest.ts';
import { jobs } from '../../../src/jobs.ts';
import type { JobName } from '../../../src/queue/names.ts';
import { openTestApp, type TestApp } from '../app.ts';
import { planner } from '../stand-ins/planner.ts';

/** One call to GitHub or its git: the nth of its name, because concurrent calls have no fixed order. */
export interface Point {
  name: string;
  nth: number;
}

/**
 * A service between the GitHub emulator and a planning model, which does nothing unless it is told to: the test handles
 * its jobs one after the other, and runs stay queued. So the same play makes the same calls each time.
 */
export interface Stage {
  service: TestApp;
  github: DemoGitHub;
  project: string;
  repository: string;
  agent: string;
  token: string;
  ask<T = { id: string }>(method: string, path: string, body?: unknown): Promise<T>;
  sql<T>(text: string, values?: unknown[]): Promise<T[]>;
  /** Delivers the events so far, and handles jobs, until nothing is left to do. Returns what was thrown in the end. */
  settle(): Promise<string[]>;
  /** Lets the events since then be lost. */
  loseEvents(): Promise<void>;
  /** Forgets the calls so far. With a point, its call fails once from now on. */
  begin(failing?: { at: Point; fault: Fault }): void;
  points(): Point[];
  /** Whether the call that is to fail has been made. */
  hasFailed(): boolean;
  close(): Promise<void>;
}

/** A job as the queue stores it. */
interface StoredJob {
  id: string;
  name: JobName;
  data: never;
}

/** More jobs than any play has. A play with more of them sends jobs forever. */
const maxJobs = 150;

export async function openStage(): Promise<Stage> {
  countEvents();
  const github = await startGitHub({
    owner: 'mona',
    repository: 'sample',
    people: ['mona', 'stranger'],
    isPrivate: true,
  });
  const model = await startModel(planner);
  const service = await openTestApp(settingsOf(github, model));
  const token = await service.token('mona');
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    if (answer.status > 299) throw new Error(`${method} ${path} answered ${answer.status} ${answer.body.message}`);
    return answer.body;
  };
  const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> => service.app.db.manager.query(text, values);
  const calls = callsOf(github);
  const settle = () => settleAll({ service, github, sql });
  await syncInstallations(service.app);
  // Asked only once by each process.
  await service.app.github?.bot();
  await settle();
  const [project] = await ask<{ id: string }[]>('GET', '/projects');
  const [repository] = await ask<{ id: string }[]>('GET', '/repositories');
  const [agent] = await ask<{ id: string }[]>('GET', `/agents?projectId=${project?.id}`);
  const ids = { project: project?.id ?? '', repository: repository?.id ?? '', agent: agent?.id ?? '' };
  const close = async () => {
    await service.close();
    await model.close();
    await github.close();
  };
  const loseEvents = async () => {
    delivered.set(github, github.deliveries.length);
  };
  return { service, github, token, ask, sql, settle, loseEvents, ...calls, ...ids, close };
}

function settingsOf(github: DemoGitHub, model: ScriptedModel): Record<string, string> {
  const {
    PORT: _port,
    BASE_URL: _base,
    DATA_DIR: _data,
    ...settings
  } = demoSettings({ github, model, port: 1, dataDir: '' });
  return { ...settings, GITHUB_WRITE_INTERVAL_MS: '0', MIRROR_INTERVAL_MS: '0', RATE_LIMIT_MODEL: '0' };
}

/** Notes the calls to GitHub and makes one of them fail. */
function callsOf(github: DemoGitHub): Pick<Stage, 'begin' | 'points' | 'hasFailed'> {
  let made: Point[] = [];
  let failing: { at: Point; fault: Fault } | undefined;
  let isHit = false;
  github.fail((method, path) => {
    const name = `${method} ${plain(path)}`;
    const nth = made.filter((point) => point.name === name).length;
    made.push({ name, nth });
    if (isHit || failing?.at.name !== name || failing.at.nth !== nth) return undefined;
    isHit = true;
    return failing.fault;
  });
  return {
    begin: (next) => {
      [made, failing, isHit] = [[], next, false];
    },
    points: () => [...made],
    hasFailed: () => isHit,
  };
}

/** Returns a path without what is different each time. */
function plain(path: string): string {
  return path
    .replace(/since=[^&]*/, 'since=#')
    .replace(/agent(%2F|\/)\w{8}/g, 'agent/#')
    .replace(/[0-9a-f]{40}|\d+/g, '#');
}

async function settleAll({ service, github, sql }: Pick<Stage, 'service' | 'github' | 'sql'>): Promise<string[]> {
  const thrown: string[] = [];
  for (let count = 0; ; ) {
    await deliverAll(service, github);
    const [job] = await sql<StoredJob>(
      `select id, name, data from pgboss.job where state = 'created' and name <> 'run'
       order by start_after, created_on, id limit 1`,
    );
    if (job === undefined) return thrown;
    if (++count > maxJobs) throw new Error(`the jobs never end; the last one is ${job.name}`);
    // As if a worker had claimed it, so that another one can be sent while it runs.
    await sql(`update pgboss.job set state = 'active' where id = $1`, [job.id]);
    const error = await handle(service, job);
    await sql('delete from pgboss.job where id = $1', [job.id]);
    if (error !== undefined) thrown.push(`${job.name}: ${error}`);
  }
}

/** Handles a job as the queue does: it fails as often as its declaration allows. Returns what the last attempt threw. */
async function handle(service: TestApp, { name, data }: StoredJob): Promise<string | undefined> {
  for (let tries = 0; ; tries++)
    try {
      await jobs[name].handle(service.app, data);
      return undefined;
    } catch (error) {
      if (tries >= Math.min(2, jobs[name].retries)) return (error as Error).message;
    }
}

const delivered = new WeakMap<DemoGitHub, number>();

/** Posts the events that GitHub has recorded, in their order. */
async function deliverAll(service: TestApp, github: DemoGitHub): Promise<void> {
  await recorded();
  for (const { event, guid, body } of github.deliveries.slice(delivered.get(github) ?? 0)) {
    const signature = createHmac('sha256', github.webhookSecret).update(body).digest('hex');
    const headers = {
      'X-GitHub-Event': event,
      'X-GitHub-Delivery': guid,
      'X-Hub-Signature-256': `sha256=${signature}`,
    };
    const post = () => fetch(`${service.url}${webhookPath}`, { method: 'POST', body, headers });
    let answer = await post();
    // On a busy machine the database does not store it in time. It may yet do so, and knows the event then.
    for (let tries = 1; answer.status === 503 && tries < 5; tries++) answer = await post();
    if (answer.status !== 202) throw new Error(`the event ${event} was answered with ${answer.status}`);
  }
  delivered.set(github, github.deliveries.length);
}

/** The events that the emulator is reporting. */
const reports = new Set<Promise<unknown>>();
let isCounting = false;

/** Notes what the emulator reports. It does so with `fetch`, and answers the call that caused an event before that. */
function countEvents(): void {
  if (isCounting) return;
  isCounting = true;
  const send = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const answer = send(input, init);
    if (!String(input).endsWith('/_emulator/webhook')) return answer;
    const report = answer.catch(() => {}).finally(() => reports.delete(report));
    reports.add(report);
    return answer;
  };
}

/** Waits until GitHub has recorded the events so far. */
async function recorded(): Promise<void> {
  while (reports.size > 0) await Promise.all(reports);
}
