import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningService, startService, until } from '../../demo/real-service.ts';
import { freePort } from '../../demo/settings.ts';
import { readConfig } from '../../src/config.ts';
import { whatIsWrong } from '../../src/host/heartbeat.ts';
import { sharedCompileCache } from '../../src/host/own-process.ts';
import { createTestDatabase } from '../support/database.ts';
import { startPostgresProxy } from '../support/stand-ins/postgres-proxy.ts';
import { isThorough } from '../support/thorough.ts';

const healthy = fileURLToPath(new URL('../../src/healthy.ts', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'deckhand-healthy-'));
const database = await createTestDatabase();
const services: RunningService[] = [];
afterAll(async () => {
  for (const service of services) await service.stop('SIGKILL');
  await database.drop();
  rmSync(root, { recursive: true, force: true });
});

function check(settings: Record<string, string>): Promise<{ code: number; says: string }> {
  return new Promise((resolve) =>
    execFile(process.execPath, [healthy], { env: { ...sharedCompileCache(), ...settings } }, (error, stdout) =>
      resolve({ code: error === null ? 0 : Number(error.code), says: stdout.trim() }),
    ),
  );
}

test.each(
  isThorough ? ['worker', 'web'] : ['worker'],
)('the health check of a %s process fails when it hangs, and when its database is gone', async (role) => {
  const proxy = await startPostgresProxy(database.url, () => undefined);
  const port = String(await freePort());
  const dataDir = join(root, role);
  const settings = {
    ...{ ROLE: role, PORT: port, BASE_URL: `http://localhost:${port}`, METRICS_PORT: '0', SANDBOX: 'off' },
    ...{ DATABASE_URL: proxy.url, DATA_DIR: dataDir },
    ...{ JWT_SECRET: 'a secret of the tests that is long enough', ENCRYPTION_KEY: '11'.repeat(32) },
  };
  expect(await check(settings)).toEqual({ code: 1, says: `no process with ROLE=${role} has started with ${dataDir}` });
  const service = await startService(settings);
  services.push(service);
  const config = readConfig(settings);
  const becomes = (code: number, says: string) =>
    until(says, async () => {
      // Asked in this process first, because each check starts another one.
      if (((await whatIsWrong(config)) ?? 'ok') !== says) return false;
      const found = await check(settings);
      return found.code === code && found.says === says;
    });
  await becomes(0, 'ok');

  service.process.kill('SIGSTOP');
  const stat = `/proc/${service.process.pid}/stat`;
  await until('the process to be stopped', async () => / T /.test(readFileSync(stat, 'utf8')));
  const file = join(dataDir, readdirSync(dataDir).find((name) => /^heartbeat\.[^.]+\.(?!.*\.new$)/.test(name)) ?? '');
  const halfAMinuteAgo = Date.now() / 1000 - 31;
  utimesSync(file, halfAMinuteAgo, halfAMinuteAgo);
  expect(await check(settings)).toEqual({ code: 1, says: expect.stringMatching(/silent for \d+ s/) });
  service.process.kill('SIGCONT');
  await becomes(0, 'ok');

  proxy.close();
  await becomes(1, 'database away');
  // A change is logged once, however often the state is asked for.
  await fetch(`${settings.BASE_URL}/readyz`).catch(() => {});
  expect(service.log().match(/"databaseState":"database away"/g)).toHaveLength(1);
  await service.stop('SIGKILL');
});
