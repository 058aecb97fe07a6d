import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from '../../src/demo/real-service.ts';
import { freePort } from '../../src/demo/settings.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-start-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('an occupied port ends the start with a clear message, and stops the database', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const port = String((taken.address() as AddressInfo).port);
  const env = { PATH: process.env.PATH ?? '', PORT: port, DATA_DIR: dataDir, METRICS_PORT: '0' };
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect([code, said]).toEqual([1, expect.stringMatching(/^PORT: \d+ on 127\.0\.0\.1 is in use/)]);
  expect(() => readFileSync(join(dataDir, 'postgres/postmaster.pid'))).toThrow();
  taken.close();
});

/**
 * Expects that when memory runs out, the kernel ends sandboxes and git first, and database sessions before their
 * server.
 */
function checkOomScores(service: number | undefined) {
  const score = (pid: string | number = '') => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
  const server = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0] ?? '';
  const [child] = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').split(' ');
  const before = score('self');
  try {
    writeFileSync('/proc/self/oom_score_adj', '-1');
    writeFileSync('/proc/self/oom_score_adj', String(before));
  } catch {
    return console.warn('skipped: protecting processes when memory runs out requires CAP_SYS_RESOURCE');
  }
  expect([score(service), score(server), score(child)]).toEqual([-500, -900, 0]);
}

test('a service whose embedded database dies exits with 1, so that it is restarted', async () => {
  const port = await freePort();
  const service = await startService({
    PORT: String(port),
    BASE_URL: `http://localhost:${port}`,
    DATA_DIR: dataDir,
    METRICS_PORT: '0',
  });
  checkOomScores(service.process.pid);
  const gone = new Promise((resolve) => service.process.once('exit', resolve));
  process.kill(Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
  expect(await gone).toBe(1);
  expect(service.log()).toContain('PostgreSQL ended unexpectedly');
});

test('the token command works while the service runs and while it does not', async () => {
  const port = await freePort();
  const settings = { PORT: String(port), BASE_URL: `http://localhost:${port}`, DATA_DIR: dataDir, METRICS_PORT: '0' };
  const service = await startService(settings);
  const during = await service.token('octocat');
  await service.stop();
  const without = await service.token('octocat');
  const again = await startService(settings);
  for (const token of [during, without]) {
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await again.api(token, 'GET', '/me')).toMatchObject({ login: 'octocat' });
  }
  await again.stop();
});
