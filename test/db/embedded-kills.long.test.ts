import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { isThorough } from '../support/thorough.ts';

/**
 * Kills a service and its embedded PostgreSQL at one point after the other. Each time, the next start must succeed and
 * find the data written before. A thorough run adds kills at random moments.
 */
const randomKills = 60;

const root = mkdtempSync(join(tmpdir(), 'deckhand-kills-'));
chmodSync(root, 0o755);
const begun: ChildProcess[] = [];
afterAll(async () => {
  for (const child of begun) child.kill('SIGKILL');
  for (const name of readdirSync(root)) for (const pid of processesUnder(join(root, name))) end(pid);
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

const source = new URL('../../src/db/embedded/embedded.ts', import.meta.url).href;

/** Starts the database part of a service in a separate process, which then keeps running. */
function startElsewhere(dataDir: string) {
  const script = `
    const { startEmbedded } = await import(${JSON.stringify(source)});
    const { url } = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)} });
    console.log(url);
    setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  begun.push(child);
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()));
    child.once('exit', () => reject(new Error(`it did not start: ${said}`)));
  });
  url.catch(() => {});
  const kill = () => {
    child.kill('SIGKILL');
    return gone;
  };
  return { url, kill };
}

interface Running {
  dataDir: string;
  /** Finds the PostgreSQL processes whose program or working folder is in the data folder. */
  processes(): number[];
}

/** Asks the kernel, independently of the way in which the service finds them. */
function processesUnder(dataDir: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        if (!/^(postgres|initdb)/.test(basename(readlinkSync(`/proc/${pid}/exe`)))) return false;
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${dataDir}/`) || command.includes(`${dataDir}/`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

function end(pid: number, by: NodeJS.Signals = 'SIGKILL') {
  try {
    process.kill(pid, by);
  } catch {
    // The process has ended.
  }
}

async function until<T>(what: string, look: () => T | undefined | false): Promise<T> {
  for (const began = Date.now(); ; await sleep(2)) {
    const found = look();
    if (found) return found;
    if (Date.now() - began > 120_000) throw new Error(`waited 120 s for ${what}`);
  }
}

async function ask(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows[0]?.[0];
  } finally {
    await client.end();
  }
}

const serverOf = (dataDir: string) =>
  Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);

/** The points at which to kill. Each waits for its moment and returns the pids to kill together with the service. */
const points: [string, (running: Running, url: Promise<string>) => Promise<number[]>][] = [
  [
    'while initdb starts; initdb keeps running',
    async ({ processes }) => {
      await until('initdb', () => processes().length > 0);
      return [];
    },
  ],
  [
    'while initdb creates the databases; initdb is killed, too',
    async ({ dataDir, processes }) => {
      const isHalf = () =>
        readdirSync(dataDir).some((n) => {
          try {
            return readdirSync(join(dataDir, n, 'base')).length > 1;
          } catch {
            return false;
          }
        });
      await until('the first databases', isHalf);
      return processes();
    },
  ],
  [
    'while the server starts; the server keeps running',
    async ({ processes }) => {
      await until('the server', () => processes().length > 0);
      return [];
    },
  ],
  [
    'while the server starts; the server is killed, too',
    async ({ processes }) => until('the server', () => processes().length > 0 && processes()),
  ],
  [
    'after the start; the server keeps running',
    async (_running, url) => {
      await ask(await url, 'create table if not exists kept (x int)');
      return [];
    },
  ],
  [
    'after the start; the server and all its children are killed, too',
    async ({ processes }, url) => {
      await ask(await url, 'insert into kept values (1)');
      return processes();
    },
  ],
  [
    'after the start; the server is killed, but a child of it keeps running',
    async ({ dataDir, processes }, url) => {
      await ask(await url, 'insert into kept values (1)');
      const server = serverOf(dataDir);
      // A stopped process keeps the shared memory, like one that computes or waits for a disk.
      for (const pid of processes()) if (pid !== server) end(pid, 'SIGSTOP');
      return [server];
    },
  ],
  [
    'while the server recovers; the server keeps running',
    async ({ processes }) => {
      await until('the server', () => processes().length > 1);
      return [];
    },
  ],
  [
    'while the server recovers; the server is killed, too',
    async ({ processes }) => until('the server', () => processes().length > 1 && processes()),
  ],
];

test('after a kill at any point the next start succeeds', async () => {
  const dataDir = join(root, 'points');
  for (const [name, moment] of points) {
    const { url, kill } = startElsewhere(dataDir);
    try {
      const victims = await moment({ dataDir, processes: () => processesUnder(dataDir) }, url);
      // Kill the service first, so that it has no time to clean up.
      await kill();
      for (const pid of victims) end(pid);
    } catch (error) {
      await kill();
      throw new Error(`to be killed ${name}: ${(error as Error).message}`);
    }
  }
  const last = await startEmbedded({ dataDir });
  expect(await ask(last.url, 'select count(*) from kept')).toBe('2');
  await last.stop();
  expect(processesUnder(dataDir)).toEqual([]);
  expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.password']);
});

(isThorough ? test : test.skip)(
  'kills at random moments',
  async () => {
    let dataDir = '';
    for (let i = 0; i < randomKills; i++) {
      if (i % 5 === 0) dataDir = join(root, `random-${i}`);
      const { kill, url } = startElsewhere(dataDir);
      const isLate = i % 3 === 0;
      if (isLate) await ask(await url, 'create table if not exists kept as select generate_series(1, 100000)');
      await sleep(Math.random() * (isLate ? 50 : 1500));
      const victims = processesUnder(dataDir);
      await kill();
      for (const pid of i % 4 === 0 ? [] : victims) end(pid);
      const next = await startEmbedded({ dataDir }).catch((error) => `kill ${i}: ${error.message}`);
      if (typeof next === 'string') throw new Error(next);
      expect(await ask(next.url, 'select 1')).toBe(1);
      await next.stop();
    }
  },
  600_000,
);
