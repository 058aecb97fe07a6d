import { startTestPostgres } from './postgres.ts';

/** Starts one PostgreSQL for all test files, unless the caller has one (bench/mutate starts Jest several hundred times). */
export default async function globalSetup() {
  if (process.env.TEST_POSTGRES_URL !== undefined) return;
  const postgres = await startTestPostgres();
  globalThis.__postgres = postgres;
  // Jest does not call the teardown when it is interrupted.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => postgres.stop().finally(() => process.exit(130)));
  process.env.TEST_POSTGRES_URL = postgres.url;
}
