import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type RunningService, startService } from '../../demo/real-service.ts';
import { rebuildFigures } from '../../src/agents/figures.ts';
import { openDatabase } from '../../src/db/database.ts';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { median, percentile, say } from '../figures.ts';
import { paced } from '../reads.ts';
import { settingsWithoutApp } from '../settings.ts';
import { fill, settle } from './fill.ts';
import { readPaths } from './reads.ts';

const perSecond = 50;
const [wantedMs, wantedFactor] = [50, 1.5];
/** V8 has compiled what a read needs after about as many calls. */
const warmUp = 50;
const rounds = 3;
const agent = new Agent({ keepAlive: true });

/**
 * Compares every read of the API between a database with `size` tasks and runs and one with a hundredth of them, at
 * 50 requests a second for `seconds` each. Prints the times of both, and the ratio of their medians.
 */
export async function scale(size = 1_000_000, seconds = 6): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-scale-'));
  const postgres = await startEmbedded({ dataDir: join(dataDir, 'database') });
  const sides: Side[] = [];
  try {
    for (const each of [Math.ceil(size / 100), size]) {
      const side = await openSide(postgres.url, dataDir, each);
      sides.push(side);
      // A path that is wrong shows before the large side is filled.
      for (const path of readPaths()) await reading(side, path)();
    }
    await compare(sides as [Side, Side], seconds);
  } finally {
    for (const { service } of sides) await service.stop();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Side {
  size: number;
  service: RunningService;
  token: string;
}

/** Starts a service on a new database of this size. */
async function openSide(server: string, dataDir: string, size: number): Promise<Side> {
  const began = performance.now();
  const databaseUrl = await createDatabase(server, `scale_${size}`);
  const settings = {
    ...(await settingsWithoutApp({
      databaseUrl,
      dataDir: join(dataDir, String(size)),
      hostUrl: 'https://git.example.org',
      modelUrl: 'http://127.0.0.1:1',
    })),
    RATE_LIMIT_ANONYMOUS: '0',
    ROLE: 'web',
  };
  const service = await startService(settings);
  const token = await service.token('bench');
  await fill(databaseUrl, size, 'bench');
  const filled = performance.now();
  const db = await openDatabase(databaseUrl, []);
  await rebuildFigures(db.manager);
  await db.close();
  const rebuilt = performance.now();
  await settle(databaseUrl);
  say(
    `${size} tasks and runs: filled in ${inSeconds(filled - began)} s, figures rebuilt in ${inSeconds(rebuilt - filled)} s`,
  );
  return { size, service, token };
}

const inSeconds = (ms: number) => (ms / 1000).toFixed(1);

async function createDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}

/** Reads each path on both sides in turn, so that other load on the machine affects both. */
async function compare([small, large]: [Side, Side], seconds: number): Promise<void> {
  const missed: string[] = [];
  say(
    `\n${'read'.padEnd(64)} ${`${small.size}`.padStart(15)} ${`${large.size}`.padStart(15)}  factor   (median / p99 in ms)`,
  );
  for (const path of readPaths()) {
    const [before, after] = await measureBoth([small, large], path, seconds);
    const factor = after.median / before.median;
    const isFine = after.p99 < wantedMs && factor <= wantedFactor;
    if (!isFine) missed.push(path);
    say(`${path.padEnd(64)} ${shown(before)} ${shown(after)} ${factor.toFixed(2).padStart(7)}${isFine ? '' : '  <--'}`);
  }
  say(
    missed.length === 0
      ? `\nevery read: p99 under ${wantedMs} ms, at most ${wantedFactor} times the cost`
      : `\n${missed.length} reads exceed p99 ${wantedMs} ms or ${wantedFactor} times the cost`,
  );
}

const shown = (times: Times) => `${times.median.toFixed(1).padStart(7)} /${times.p99.toFixed(1).padStart(6)}`;

/** Measures both sides in several short rounds, because a machine's speed changes from one second to the next. */
async function measureBoth(sides: [Side, Side], path: string, seconds: number): Promise<[Times, Times]> {
  const [small, large] = sides.map((side) => reading(side, path)) as [Read, Read];
  const times: [number[], number[]] = [[], []];
  for (const read of [small, large]) for (let i = 0; i < warmUp; i++) await read();
  for (let round = 0; round < rounds; round++) {
    times[0].push(...(await paced((perSecond * seconds) / rounds, 1000 / perSecond, small)));
    times[1].push(...(await paced((perSecond * seconds) / rounds, 1000 / perSecond, large)));
  }
  return [summary(times[0]), summary(times[1])];
}

type Read = () => Promise<void>;

interface Times {
  median: number;
  p99: number;
}

const summary = (times: number[]): Times => ({ median: median(times), p99: percentile(times, 0.99) });

/**
 * Returns a read that asks for a compressed reply, as browsers do, and only counts its bytes: `fetch` would use as much of
 * the processor as the service, because it decompresses and decodes.
 */
function reading({ service, token }: Side, path: string): Read {
  const url = `${service.url.replace('localhost', '127.0.0.1')}/api/v1${path}`;
  const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'br' };
  return async () => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get(url, { agent, headers }, resolve).on('error', reject),
    );
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
  };
}
