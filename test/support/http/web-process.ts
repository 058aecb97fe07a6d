import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningService, startService } from '../../../demo/real-service.ts';
import { freePort } from '../../../demo/settings.ts';
import { createTestDatabase } from '../database.ts';

export interface WebProcess {
  service: RunningService;
  port: number;
  close(): Promise<void>;
}

/** Starts a service without workers in a separate process, for attacks on its listener. */
export async function startWebProcess(settings: Record<string, string> = {}): Promise<WebProcess> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-web-'));
  const port = await freePort();
  const service = await startService({
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    ROLE: 'web',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    METRICS_PORT: '0',
    SANDBOX: 'off',
    JWT_SECRET: 'a secret of the tests that is long enough',
    ENCRYPTION_KEY: '11'.repeat(32),
    ...settings,
  });
  return {
    service,
    port,
    close: async () => {
      // A flooded service may take long to stop in good order.
      await service.stop('SIGKILL');
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
