import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { backUp, restore } from '../../src/db/embedded/backup.ts';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';

const root = mkdtempSync(join(tmpdir(), 'deckhand-embedded-'));
chmodSync(root, 0o755);
const begun: ChildProcess[] = [];
afterAll(() => {
  for (const child of begun) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});
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

test('a pid file with the pid of another process does not prevent the server from starting', async () => {
  const dataDir = join(root, 'reused');
  const first = await startEmbedded({ dataDir, unsafe: true });
  // Uses the uid of the database, because PostgreSQL ignores pids of other users.
  const other = spawn('sleep', ['1000'], isRoot ? { uid: 65_534 } : {});
  begun.push(other);
  const pidFile = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8');
  await first.stop();
  writeFileSync(join(dataDir, 'postgres/postmaster.pid'), pidFile.replace(/^\d+/, String(other.pid)), { mode: 0o600 });
  writeFileSync(join(dataDir, 'postgres.owner'), String(process.ppid));
  const second = await startEmbedded({ dataDir, unsafe: true });
  expect(await ask(second.url, 'select 1')).toBe('1');
  await second.stop();
  expect(other.exitCode ?? other.signalCode).toBeNull();
});

test('if another process takes the port first, the server starts on a different one', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as AddressInfo;
  const free = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => free.once('listening', resolve));
  const ports = [port, (free.address() as AddressInfo).port];
  await new Promise((resolve) => free.close(resolve));
  const choosePort = async () => ports.shift() ?? 0;
  const embedded = await startEmbedded({ dataDir: join(root, 'port'), unsafe: true, choosePort });
  expect(await ask(embedded.url, 'select 1')).toBe('1');
  await embedded.stop();
  taken.close();
});

test('an unfinished initdb of an earlier version is moved aside', async () => {
  const dataDir = join(root, 'half');
  mkdirSync(join(dataDir, 'postgres/base/1'), { recursive: true });
  writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '18\n');
  writeFileSync(join(dataDir, 'postgres.password'), '');
  const embedded = await startEmbedded({ dataDir, unsafe: true });
  expect(await ask(embedded.url, 'select 1')).toBe('1');
  expect(embedded.notes.join()).toMatch(/was incomplete, so a new database was created/);
  await embedded.stop();
});

test('a backup of a running database has what was committed before its end, and a restore keeps what was there', async () => {
  const [dataDir, folder] = [join(root, 'backed-up'), join(root, 'backup')];
  const running = await startEmbedded({ dataDir, unsafe: true });
  writeFileSync(join(dataDir, 'encryption.key'), 'the key then');
  await ask(running.url, 'create table kept as select generate_series(1, 20000) n');
  let [isOver, written] = [false, 0];
  const writing = (async () => {
    while (!isOver)
      written = Number(await ask(running.url, 'insert into kept select count(*) + 1 from kept returning n'));
  })();
  await backUp(dataDir, folder);
  isOver = true;
  await writing;
  await expect(backUp(dataDir, folder)).rejects.toThrow('exists; give the path of a folder that does not exist yet');
  await expect(restore(dataDir, folder)).rejects.toThrow(`a service uses ${dataDir}; stop it before you restore`);
  await ask(running.url, 'drop table kept');
  await running.stop();
  await expect(restore(dataDir, root)).rejects.toThrow('is no backup');
  writeFileSync(join(dataDir, 'encryption.key'), 'another key');
  const { kept } = await restore(dataDir, folder);
  expect(kept).toEqual(expect.arrayContaining([expect.stringMatching(/postgres\.before-restore-/)]));
  expect(readFileSync(join(dataDir, 'encryption.key'), 'utf8')).toBe('the key then');
  const restored = await startEmbedded({ dataDir, unsafe: true });
  const count = Number(await ask(restored.url, 'select count(*) from kept'));
  expect([count >= 20_000, count <= written]).toEqual([true, true]);
  // Also without a service.
  await restored.stop();
  await backUp(dataDir, `${folder}-2`);
  expect(statSync(`${folder}-2`).mode & 0o777).toBe(0o700);
});

test('a restore without the keys of the backup leaves the present ones, or is refused before it changes anything', async () => {
  const [dataDir, folder] = [join(root, 'with-keys'), join(root, 'backup-without-keys')];
  const running = await startEmbedded({ dataDir, unsafe: true });
  writeFileSync(join(dataDir, 'encryption.key'), 'the key');
  await ask(running.url, 'create table kept as select 7 n');
  await backUp(dataDir, folder);
  await running.stop();
  renameSync(join(folder, 'keys'), `${folder}-keys`);
  const { kept, presentKeys } = await restore(dataDir, folder);
  expect(kept).toEqual([expect.stringMatching(/postgres\.before-restore-/)]);
  expect(presentKeys).toEqual([join(dataDir, 'encryption.key'), join(dataDir, 'postgres.password')]);
  expect(readFileSync(join(dataDir, 'encryption.key'), 'utf8')).toBe('the key');
  const restored = await startEmbedded({ dataDir, unsafe: true });
  expect(await ask(restored.url, 'select n from kept')).toBe('7');
  await restored.stop();
  const elsewhere = join(root, 'elsewhere');
  await expect(restore(elsewhere, folder)).rejects.toThrow(`put the folder "keys" that "npm run backup" wrote back`);
  expect(readdirSync(elsewhere)).toEqual([]);
});
