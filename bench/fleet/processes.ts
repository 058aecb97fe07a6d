import { readFile } from 'node:fs/promises';
import { type RunningService, startService } from '../../demo/real-service.ts';
import { freePort } from '../../demo/settings.ts';
import type { Gate } from './gate.ts';

/** The processes of the service: one that serves requests behind a gate, and workers. */
export interface Fleet {
  web(): RunningService;
  workers: RunningService[];
  /** Starts a worker with further settings in the place of another one, which is stopped first. */
  replaceWorker(index: number, signal?: NodeJS.Signals, more?: Record<string, string>): Promise<void>;
  /** Starts another web process, leads the gate to it, and stops the previous one. */
  replaceWeb(): Promise<void>;
  /** Kills the web process and starts another one, as a supervisor does. */
  killWeb(): Promise<void>;
  /** Returns the processor time of all workers so far, in seconds: their own, and that of what they started. */
  workerSeconds(): { own: number; started: number };
  /** Returns warnings and errors of all processes so far, each with its number. */
  complaints(): Map<string, number>;
  stop(): Promise<void>;
}

const workers = 4;
const lookMs = 250;
/** Linux counts processor time in hundredths of a second (`getconf CLK_TCK`). */
const ticksPerSecond = 100;

export async function startFleet(settings: Record<string, string>, dataDir: string, gate: Gate): Promise<Fleet> {
  const all: RunningService[] = [];
  const times = new Map<number, { own: number; started: number }>();
  let count = 0;
  const start = async (role: 'web' | 'worker', more: Record<string, string> = {}) => {
    const port = await freePort();
    const own = { ROLE: role, PORT: String(port), DATA_DIR: `${dataDir}/${role}-${++count}` };
    const service = await startService({ ...settings, ...own, ...more }, { url: `http://127.0.0.1:${port}` });
    all.push(service);
    return { service, port };
  };
  let web = await start('web');
  gate.lead(web.port);
  const running = await Promise.all(Array.from({ length: workers }, () => start('worker').then((s) => s.service)));
  const look = async () => {
    for (const { process } of running) {
      const time = await processorTime(process.pid ?? 0);
      if (time !== undefined) times.set(process.pid ?? 0, time);
    }
  };
  const looking = setInterval(() => void look(), lookMs);
  return {
    web: () => web.service,
    workers: running,
    replaceWorker: async (index, signal = 'SIGTERM', more = {}) => {
      await running[index]?.stop(signal);
      running[index] = (await start('worker', more)).service;
    },
    replaceWeb: async () => {
      const before = web;
      web = await start('web');
      gate.lead(web.port);
      await before.service.stop();
    },
    killWeb: async () => {
      await web.service.stop('SIGKILL');
      web = await start('web');
      gate.lead(web.port);
    },
    workerSeconds: () => {
      const sum = (of: 'own' | 'started') => [...times.values()].reduce((seconds, time) => seconds + time[of], 0);
      return { own: sum('own'), started: sum('started') };
    },
    complaints: () => complaintsIn(all.map((service) => service.log()).join('\n')),
    stop: async () => {
      clearInterval(looking);
      await Promise.all([web.service, ...running].map((service) => service.stop()));
    },
  };
}

/** Reads the processor time of a process, and of its children that have ended. See proc_pid_stat(5). */
async function processorTime(pid: number): Promise<{ own: number; started: number } | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name of the program, in parentheses, may contain spaces. Field 14 is `utime`.
  const [user = 0, system = 0, ofChildren = 0, systemOfChildren = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  return { own: (user + system) / ticksPerSecond, started: (ofChildren + systemOfChildren) / ticksPerSecond };
}

function complaintsIn(log: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of log.split('\n')) {
    if (!line.startsWith('{')) continue;
    const { level, msg, err } = JSON.parse(line) as { level: string | number; msg: string; err?: { message?: string } };
    const what = `${level}: ${msg}${err?.message === undefined ? '' : ` (${err.message.split('\n')[0]})`}`;
    found.set(what, (found.get(what) ?? 0) + 1);
  }
  return found;
}
