import { freePort } from '../demo/settings.ts';

/** Returns settings of a service without a GitHub App: git and API calls go to `hostUrl`, and rate limits are off. */
export async function settingsWithoutApp(given: {
  databaseUrl: string;
  dataDir: string;
  hostUrl: string;
  modelUrl: string;
}): Promise<Record<string, string>> {
  const port = String(await freePort());
  return {
    PORT: port,
    BASE_URL: `http://localhost:${port}`,
    METRICS_PORT: '0',
    DATABASE_URL: given.databaseUrl,
    DATA_DIR: given.dataDir,
    JWT_SECRET: 'a secret of the bench that is long enough',
    ENCRYPTION_KEY: '22'.repeat(32),
    GITHUB_API_URL: given.hostUrl,
    GITHUB_SERVER_URL: given.hostUrl,
    OPENAI_BASE_URL: given.modelUrl,
    OPENAI_API_KEY: 'none',
    OPENAI_MODEL: 'scripted',
    GITHUB_WRITE_INTERVAL_MS: '0',
    RATE_LIMIT_REQUESTS: '0',
    RATE_LIMIT_STARTS: '0',
    LOG_LEVEL: 'error',
  };
}
