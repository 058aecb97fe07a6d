import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningService, startService, until } from '../../../demo/real-service.ts';
import { freePort } from '../../../demo/settings.ts';
import { hasRoom } from '../../../src/data-folders.ts';

const isRoot = process.getuid?.() === 0;
const megabyte = 2 ** 20;

let mount: string | undefined;
const services: RunningService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
  if (mount === undefined) return;
  execFileSync('umount', [mount]);
  rmdirSync(mount);
  mount = undefined;
});

/** Mounts a disk of this size. If that is not possible, prints the reason and returns undefined. */
function smallDisk(size: string): string | undefined {
  if (!isRoot) return void console.warn('skipped: only root can mount a small disk');
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-disk-'));
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', folder]);
  if (status === 0) return folder;
  rmdirSync(folder);
  return void console.warn(`skipped: no small disk can be mounted here (${String(stderr).trim()})`);
}

/** Writes to a file until the disk is full. */
function fill(file: string) {
  for (const size of [megabyte, 4096])
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size, 1));
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error;
    }
}

async function start(dataDir: string): Promise<RunningService> {
  const port = String(await freePort());
  const settings = {
    PORT: port,
    BASE_URL: `http://localhost:${port}`,
    DATA_DIR: dataDir,
    METRICS_PORT: '0',
    SANDBOX: 'off',
  };
  const service = await startService(settings);
  services.push(service);
  return service;
}

const readiness = async ({ url }: RunningService) => {
  const answer = await fetch(`${url}/readyz`);
  return [answer.status, ((await answer.json()) as { status: string }).status];
};

test('/readyz reports a full disk, and the service can restart on one', async () => {
  mount = smallDisk('320m');
  if (mount === undefined) return;
  const dataDir = join(mount, 'data');
  const first = await start(dataDir);
  const reserve = join(dataDir, 'reserve');
  await until('the reserve', async () => existsSync(reserve) && statSync(reserve).size === 64 * megabyte);
  expect(statSync(reserve).blocks * 512).toBeGreaterThanOrEqual(64 * megabyte);
  await until('a warning', async () => first.log().includes('are free on the disk of'));
  const left = join(dataDir, 'runs', `${hostname()}-99999999`);
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, 'big'), Buffer.alloc(megabyte));
  mkdirSync(join(dataDir, 'git-cache/0000.half'), { recursive: true });
  await until('readyz', async () => (await readiness(first)).join() === '200,ok');
  expect(await hasRoom(dataDir)).toBe(true);
  const filler = join(mount, 'filler');
  fill(filler);
  expect(await hasRoom(dataDir)).toBe(false);
  await until('readyz to tell', async () => (await readiness(first)).join() === '503,database cannot write');
  expect((await fetch(`${first.url}/healthz`)).status).toBe(200);

  const server = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
  process.kill(server, 'SIGKILL');
  await first.stop('SIGKILL');
  // Only deleting the reserve may free space.
  rmSync(join(left, 'big'));
  fill(filler);
  writeFileSync(join(left, 'little'), '');
  const second = await start(dataDir);
  await until('readyz', async () => (await readiness(second)).join() === '200,ok');
  expect(second.log()).toContain('its reserve was given up; free some space there');
  expect([existsSync(reserve), existsSync(left), existsSync(join(dataDir, 'git-cache/0000.half'))]).toEqual([
    false,
    false,
    false,
  ]);
  rmSync(filler);
  await until('the next reserve', async () => existsSync(reserve) && statSync(reserve).size === 64 * megabyte);
});
