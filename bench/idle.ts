import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startService, until } from '../demo/real-service.ts';
import { startEmbedded } from '../src/db/embedded/embedded.ts';
import { say } from './figures.ts';
import { settingsWithoutApp } from './settings.ts';

/** How long a worker that has started is still occupied with that. */
const settleMs = 15_000;

/** Counts the transactions of two workers that have nothing to do. */
export async function idle(seconds = 60): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'deckhand-bench-idle-'));
  const postgres = await startEmbedded({ dataDir: join(dir, 'database') });
  const nowhere = 'http://127.0.0.1:9';
  const given = { databaseUrl: postgres.url, dataDir: dir, hostUrl: nowhere, modelUrl: nowhere };
  const settings = await settingsWithoutApp(given);
  const start = (name: string) => startService({ ...settings, ROLE: 'worker', DATA_DIR: join(dir, name) });
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  const workers = [await start('one'), await start('two')];
  try {
    const areThere = () => database.query(present).then(({ rows }) => rows[0].n === workers.length);
    // Before the migrations, there is no such table.
    await until('both workers', () => areThere().catch(() => false));
    await sleep(settleMs);
    // A session reports its transactions at most once a second, and an idle one after at most ten.
    const before = await committed(database);
    await sleep(seconds * 1000);
    const all = (await committed(database)) - before;
    say(`two idle workers ${(all / seconds).toFixed(2)} transactions a second (at most 2 wanted)`);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await database.end();
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

const present = 'select count(*)::int as n from workers';

async function committed(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ n: number }>(
    `select xact_commit::int as n from pg_stat_database where datname = current_database()`,
  );
  return rows[0]?.n ?? 0;
}
