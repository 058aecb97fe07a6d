import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type RunningService, startService } from '../../src/demo/real-service.ts';
import { freePort } from '../../src/demo/settings.ts';
import { createTestDatabase } from '../support/database.ts';
import { headOf, openRaw } from '../support/raw-http.ts';

const flood = fileURLToPath(new URL('../support/stand-ins/flood.mjs', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-flood-'));
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let service: RunningService;
let port: number;

beforeAll(async () => {
  database = await createTestDatabase();
  port = await freePort();
  service = await startService({
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    ROLE: 'web',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    METRICS_PORT: '0',
    JWT_SECRET: 'a secret of the tests that is long enough',
    ENCRYPTION_KEY: '11'.repeat(32),
  });
});
afterAll(async () => {
  await service.stop('SIGKILL');
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Measures how long a new connection waits for /healthz, in ms. */
async function newcomer(): Promise<number> {
  const began = performance.now();
  const { socket, status } = openRaw(port, headOf('GET /healthz', { Connection: 'close' }));
  expect(await status).toBe(200);
  socket.destroy();
  return performance.now() - began;
}

// 50 connections with %i requests each do not delay a new one
test.each([1, 16])('50 connections with %i requests each keep no newcomer waiting', async (depth) => {
  const attacker: ChildProcess = fork(flood, [String(port), String(depth)], { execArgv: [], env: {} });
  try {
    await once(attacker, 'message');
    const times: number[] = [];
    for (let i = 0; i < 30; i++) {
      times.push(await newcomer());
      await sleep(20);
    }
    times.sort((a, b) => a - b);
    // The machine may be busy with other things for a moment.
    expect(times.at(-3)).toBeLessThan(400);
    expect(times[15]).toBeLessThan(200);
  } finally {
    attacker.kill('SIGKILL');
  }
});
