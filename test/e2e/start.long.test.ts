import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningService, startService, until } from '../../demo/real-service.ts';
import { freePort } from '../../demo/settings.ts';
import { startWebProcess } from '../support/http/web-process.ts';

const path = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' };
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-start-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('an occupied port ends the start with a clear message, and stops the database', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const port = String((taken.address() as AddressInfo).port);
  const env = { ...path, PORT: port, DATA_DIR: dataDir, METRICS_PORT: '0' };
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

let service: RunningService | undefined;
afterAll(() => service?.stop('SIGKILL'));

test('the token command works while the service runs and while it does not', async () => {
  const port = await freePort();
  const settings = { PORT: String(port), BASE_URL: `http://localhost:${port}`, DATA_DIR: dataDir, METRICS_PORT: '0' };
  const env = { ...path, ...settings };
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'token', '--login', 'octocat'], { env });
  service = await startService(settings);
  for (const token of [stdout.trim(), await service.token('octocat')]) {
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await service.api(token, 'GET', '/me')).toMatchObject({ login: 'octocat' });
  }
});

test('a service whose embedded database dies exits with 1, so that it is restarted', async () => {
  if (service === undefined) throw new Error('requires the service that the test before started');
  checkOomScores(service.process.pid);
  const gone = once(service.process, 'exit');
  process.kill(Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
  expect(await gone).toEqual([1, null]);
  expect(service.log()).toContain('PostgreSQL ended unexpectedly');
});

test('a service in which an error has no handler stops in good order, exits with 1, and says why', async () => {
  const crashing = "--import=data:text/javascript,process.on('SIGUSR2',()=>{throw(Error('boom'))})";
  const web = await startWebProcess({ NODE_OPTIONS: crashing });
  try {
    const gone = once(web.service.process, 'exit');
    web.service.process.kill('SIGUSR2');
    expect(await gone).toEqual([1, null]);
    expect(web.service.log()).toContain('"msg":"an error had no handler, so the service ends"');
    expect(web.service.log()).toMatch(/\nan error had no handler: boom\n$/);
  } finally {
    await web.close();
  }
});

test('on SIGTERM a web process is not ready for DRAIN_SECONDS, while it still answers; then streams end', async () => {
  const web = await startWebProcess({ DRAIN_SECONDS: '2' });
  try {
    const { url } = web.service;
    const token = await web.service.token('octocat');
    const headers = { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' };
    const { id } = await web.service.api<{ id: string }>(token, 'POST', '/projects', { name: 'Drain' });
    const stream = await fetch(`${url}/api/v1/projects/${id}/events`, { headers });
    const told = stream.text();
    const gone = once(web.service.process, 'exit');
    web.service.process.kill('SIGTERM');
    const ready = async () => (await fetch(`${url}/readyz`)).json();
    await until('the process to drain', async () => JSON.stringify(await ready()) === '{"status":"stopping"}');
    // An orchestrator may send it again, which hurries nothing.
    web.service.process.kill('SIGTERM');
    const health = await fetch(`${url}/healthz`);
    expect([health.status, health.headers.get('connection')]).toEqual([200, 'close']);
    expect(await web.service.api(token, 'GET', '/me')).toMatchObject({ login: 'octocat' });
    expect(await gone).toEqual([0, null]);
    const [draining = '', stopping = ''] = web.service.log().trim().split('\n').slice(-2);
    expect(draining).toContain('SIGTERM: not ready any more, and stopping in 2 s');
    expect(stopping).toContain('"msg":"stopping"');
    expect(await told).toMatch(/^retry: \d{1,4}\n\n$/m);
  } finally {
    await web.close();
  }
});
