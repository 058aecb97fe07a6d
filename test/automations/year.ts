import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { scheduleOfCron } from '../../src/automations/times.ts';
import { openTestApp } from '../support/app.ts';

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];
const cron = '30 2 * * *';
const processes = 4;

/** Returns all times of a zone in a part of a year. */
function timesOf(zone: string, from: string, to: string): string[] {
  const schedule = scheduleOfCron(cron, zone);
  const times: string[] = [];
  for (let at = schedule.next(new Date(from)); at && at < new Date(to); at = schedule.next(at))
    times.push(at.toISOString());
  return times;
}

interface Ticking {
  child: ChildProcess;
  /** Tells the process what time it is. Resolves when it has made what is due, or is dead. */
  tell(now: string): Promise<void>;
}

async function startTicking(settings: Record<string, string>): Promise<Ticking> {
  const child = fork(join(import.meta.dirname, 'ticking-process.mjs'), {
    env: { PATH: process.env.PATH ?? '', ...settings },
    execPath: resolve('node_modules/.bin/node'),
    execArgv: [],
  });
  const waiting = new Map<string, () => void>();
  const dead = new Promise<void>((done) => child.once('exit', () => done()));
  child.on('message', ({ now }: { now: string }) => waiting.get(now)?.());
  const answer = (now: string) => Promise.race([dead, new Promise<void>((done) => waiting.set(now, done))]);
  await answer('ready');
  return {
    child,
    tell: (now) => {
      const told = answer(now);
      // It may be dead already.
      if (child.connected) child.send({ now }, () => {});
      return told;
    },
  };
}

/**
 * Lets time pass for automations in three zones, with four processes of which some are killed while they make tasks. Returns
 * the times at which each zone should have had a task, and had one.
 */
export async function livePart(from: string, to: string, kills: number) {
  const service = await openTestApp();
  const { app } = service;
  const folders: string[] = [];
  const all: Ticking[] = [];
  const start = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'deckhand-ticking-'));
    folders.push(folder);
    const { DATABASE_URL = '', BASE_URL } = app.config;
    const own = { DATA_DIR: folder, JWT_SECRET: 'a secret of the tests that is long enough' };
    const same = { DATABASE_URL, BASE_URL, ENCRYPTION_KEY: '11'.repeat(32), ...own };
    return startTicking({ ...same, SANDBOX: 'off', LOG_LEVEL: 'silent' });
  };
  try {
    await makeAutomations(service, from);
    for (let n = 0; n < processes; n += 1) all.push(await start());
    const expected = Object.fromEntries(zones.map((zone) => [zone, timesOf(zone, from, to)]));
    const moments = [...new Set(Object.values(expected).flat())].sort();
    const every = Math.floor(moments.length / kills);
    for (const [at, now] of moments.entries()) {
      const told = all.map(({ tell }) => tell(now));
      if (at % every === every - 1) await killSome(all, told, { at, now, isAll: (at + 1) % (5 * every) === 0, start });
      await Promise.all(told);
    }
    return { expected, made: await madeBy(app.db.manager) };
  } finally {
    for (const { child } of all) child.kill('SIGKILL');
    await service.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

interface Killing {
  at: number;
  now: string;
  /** Nobody is left who could take over. */
  isAll: boolean;
  start(): Promise<Ticking>;
}

/** Kills processes that make tasks at the moment, and starts others. */
async function killSome(all: Ticking[], told: Promise<void>[], { at, now, isAll, start }: Killing): Promise<void> {
  const victims = isAll ? [...all.keys()] : [at % processes];
  for (const victim of victims) all[victim]?.child.kill('SIGKILL');
  await Promise.all(told);
  for (const victim of victims) all[victim] = await start();
  await all[victims[0] as number]?.tell(now);
}

type Service = Awaited<ReturnType<typeof openTestApp>>;

async function makeAutomations(service: Service, from: string): Promise<void> {
  const token = await service.token('octocat');
  const ask = async (method: string, path: string, body?: unknown) =>
    (await service.call(method, path, { token, body })).body;
  const { id: projectId } = await ask('POST', '/projects', { name: 'P' });
  const url = 'https://git.example.com/a/b';
  const { id: repositoryId } = await ask('POST', '/repositories', { projectId, name: 'r', url });
  const [agent] = await ask('GET', `/agents?projectId=${projectId}`);
  for (const zone of zones) {
    const body = { name: zone, on: { cron, timezone: zone }, task: { title: zone, owner: agent.id, repositoryId } };
    const { id } = await ask('POST', `/projects/${projectId}/automations`, body);
    const first = scheduleOfCron(cron, zone).next(new Date(from));
    await service.app.db.manager.query('update automations set next_at = $2 where id = $1', [id, first]);
  }
}

/** Returns the times at which each automation made a task. Each task is counted, also one without its cause. */
async function madeBy(em: Service['app']['db']['manager']): Promise<Record<string, string[]>> {
  const rows: { zone: string; at: Date | null }[] = await em.query(
    `select t.title as zone, c.at from tasks t left join automation_causes c on c.task_id = t.id order by c.at`,
  );
  const byZone = Map.groupBy(rows, ({ zone }) => zone);
  return Object.fromEntries(
    zones.map((zone) => [zone, (byZone.get(zone) ?? []).map(({ at }) => at?.toISOString() ?? 'no cause')]),
  );
}
