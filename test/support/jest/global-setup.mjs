import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts one PostgreSQL for all test files, unless the caller has one (bench/mutate starts Jest several hundred times). */
export default async function globalSetup() {
  if (process.env.TEST_POSTGRES_URL !== undefined) return;
  if (process.env.THOROUGH !== '1')
    process.stderr.write(
      'Of long tables of slow cases, a few are tried and the others skipped; THOROUGH=1 tries all.\n',
    );
  globalThis.__records = mkdtempSync(join(tmpdir(), 'deckhand-github-records-'));
  process.env.GITHUB_RECORDS = globalThis.__records;
  // It loads much of the program, which takes longer than many tests.
  const { startTestPostgres } = await import('../postgres.ts');
  const postgres = await startTestPostgres();
  globalThis.__postgres = postgres;
  // Jest does not call the teardown when it is interrupted.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => postgres.stop().finally(() => process.exit(130)));
  process.env.TEST_POSTGRES_URL = postgres.url;
}
