import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';

const root = mkdtempSync(join(tmpdir(), 'deckhand-embedded-'));
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));
const isRoot = process.getuid?.() === 0;

async function ask(url: string, text: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query({ text, rowMode: 'array' });
  await client.end();
  return String(rows[0]?.[0]);
}

test('keeps its data, listens on loopback with a password, and closes its folders', async () => {
  const dataDir = join(root, 'data');
  const first = await startEmbedded({ dataDir, unsafe: true });
  expect(first.notes).toEqual([]);
  await ask(first.url, 'create table kept (x int)');
  await expect(ask(first.url.replace(/:[0-9a-f]{48}@/, ':wrong@'), 'select 1')).rejects.toThrow(/password/);
  expect(await ask(first.url, 'show listen_addresses')).toBe('127.0.0.1');
  expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
  expect(statSync(join(dataDir, 'postgres.password')).mode & 0o777).toBe(0o600);
  expect(statSync(dataDir).mode & 0o777).toBe(isRoot ? 0o711 : 0o700);
  const beside = await startEmbedded({ dataDir, attach: true });
  expect(beside.url).toBe(first.url);
  await beside.stop();
  expect(await ask(first.url, 'select count(*) from kept')).toBe('0');
  await first.stop();
  const second = await startEmbedded({ dataDir, unsafe: true });
  expect(await ask(second.url, 'select count(*) from kept')).toBe('0');
  await second.stop();
});

test('a server that outlived its killed service is ended, and the next start works', async () => {
  const dataDir = join(root, 'orphan');
  const script = `
    const { startEmbedded } = await import(${JSON.stringify(new URL('../../src/db/embedded/embedded.ts', import.meta.url).href)});
    await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, unsafe: true });
    process.kill(process.pid, 'SIGKILL');`;
  const killed = spawn(process.execPath, ['--input-type=module', '-e', script], { env: {}, stdio: 'ignore' });
  await new Promise((resolve) => killed.once('exit', resolve));
  const pid = Number(readFileSync(join(dataDir, 'postgres.owner'), 'utf8'));
  expect(pid).toBe(killed.pid);
  const next = await startEmbedded({ dataDir, unsafe: true });
  expect(await ask(next.url, 'select 1')).toBe('1');
  await next.stop();
});

test('if a parent folder is inaccessible, the database uses another folder and reports it', async () => {
  if (!isRoot) return console.warn('skipped: only root runs the database under another user');
  const closed = join(root, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  const embedded = await startEmbedded({ dataDir: join(closed, 'data'), unsafe: true });
  const where = /is in (\/var\/lib\/deckhand\/data-\w+)\/postgres$/.exec(embedded.notes[0] ?? '')?.[1] ?? '';
  expect(where).not.toBe('');
  expect(await ask(embedded.url, 'select 1')).toBe('1');
  await embedded.stop();
  rmSync(where, { recursive: true, force: true });
});
