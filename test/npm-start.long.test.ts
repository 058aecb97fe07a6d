import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../demo/real-service.ts';
import { freePort } from '../demo/settings.ts';
import { createTestDatabase } from './support/database.ts';

const root = join(import.meta.dirname, '..');

test('SIGTERM to `npm start` stops the service, and npm ends after it', async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-npm-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env.PATH,
    HOME: dataDir,
    PORT: String(port),
    BASE_URL: url,
    ROLE: 'web',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    METRICS_PORT: '0',
    DRAIN_SECONDS: '0',
    SANDBOX: 'off',
    JWT_SECRET: 'a secret of the tests that is long enough',
    ENCRYPTION_KEY: '11'.repeat(32),
  };
  // A group of its own, so that nothing is left if the test fails.
  const npm = spawn('npm', ['start'], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  npm.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  try {
    const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok;
    await until('the service', async () => {
      if (npm.exitCode !== null) throw new Error(`npm ended with ${npm.exitCode}`);
      return isReady();
    });
    const gone = once(npm, 'exit');
    const ended = once(npm, 'close');
    npm.kill('SIGTERM');
    expect(await gone).toEqual([0, null]);
    expect(await fetch(`${url}/healthz`).catch(() => 'nobody listens')).toBe('nobody listens');
    // Its output ends when the last process that holds it does.
    await ended;
    expect(said).toContain('"msg":"stopping"');
  } finally {
    try {
      process.kill(-(npm.pid ?? 0), 'SIGKILL');
    } catch {
      // Nothing is left, as it should be.
    }
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('no command of operators leaves a shell between npm and the program', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const direct = Object.entries(scripts).filter(([, does]) => /^node (src|demo)\/main\.ts/.test(does));
  // `docs` runs another program after node, so it cannot use exec. It ends without a signal.
  expect(direct.map(([name]) => name)).toEqual(['docs']);
});
