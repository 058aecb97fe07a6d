import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../migrations/list.ts';
import { PooledClient } from '../../src/db/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { jobs, tenantOf } from '../../src/jobs.ts';
import { openQueue } from '../../src/queue/queue.ts';

/**
 * Starts a PostgreSQL for many test files, with a migrated template that each of them copies. A copy takes 30 ms in
 * memory, and up to 240 ms of processor time on a worn disk.
 */
export async function startTestPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(await roomInMemory(), 'deckhand-test-'));
  const postgres = await startEmbedded({ dataDir, unsafe: true, maxConnections: 300 });
  const stop = async () => {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const admin = await openDatabase(postgres.url, [], { poolSize: 2 });
    await admin.manager.query('create database template_deckhand');
    await admin.close();
    const template = postgres.url.replace(/\/postgres$/, '/template_deckhand');
    await (await openDatabase(template, migrations, { poolSize: 2 })).close();
    const queue = await openQueue(template, jobs, {
      isWorker: false,
      tenantOf,
      Client: PooledClient,
      onError: (error) => console.error(error),
    });
    await queue.stop(1000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: postgres.url, stop };
}

/** A folder in memory if it has space for all databases (in a container it has 64 MB), otherwise the usual one. */
async function roomInMemory(): Promise<string> {
  const { bavail, bsize } = await statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > 2 ** 31 ? '/dev/shm' : tmpdir();
}
