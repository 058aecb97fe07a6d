import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts one PostgreSQL for all test files, unless the caller has one (bench/mutate starts Jest several hundred times). */
export default async function globalSetup(_, { testPathIgnorePatterns }) {
  if (process.env.TEST_POSTGRES_URL !== undefined) return;
  if (process.env.THOROUGH !== '1')
    process.stderr.write(
      'Of long tables of slow cases, a few are tried and the others skipped; THOROUGH=1 tries all.\n',
    );
  if (testPathIgnorePatterns.length > 0) process.stderr.write(`${leftOut()}\n`);
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

/** Says which test files this run leaves out. */
function leftOut() {
  const long = readdirSync('test', { recursive: true }).filter((file) => file.endsWith('.long.test.ts'));
  return `Left out: ${long.length} long test files (test/**/*.long.test.ts). THOROUGH=1 runs them, too; takes an hour.`;
}
