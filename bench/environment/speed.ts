import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { openSandbox } from '../../src/sandbox/self-test.ts';
import { say } from '../figures.ts';
import { proxySpeed } from './proxy.ts';
import { startRegistry } from './registry.ts';
import { restoreSpeed } from './restored.ts';
import { wallSpeed } from './walls.ts';
import { wholeRunSpeed } from './whole-run.ts';

/** Measures what environments cost. Needs no network: the packages come from a registry on the loopback device. */
export async function environmentSpeed(): Promise<void> {
  // Use memory if possible: some disks slow down after thousands of files, which would distort the result.
  const memory = '/dev/shm';
  const folder = await mkdtemp(join(existsSync(memory) ? memory : tmpdir(), 'deckhand-bench-environment-'));
  await chmod(folder, 0o711);
  for (const part of ['walls', 'registry', 'restored', 'whole', 'proxy']) await mkdir(join(folder, part));
  const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
  const { state } = await openSandbox({ setting: 'auto', toolsDir: join(folder, 'tools'), limits });
  if (!state.works) return void say(`environments     skipped: ${state.says}`);
  const postgres = await startEmbedded({ dataDir: join(folder, 'database') });
  try {
    await wallSpeed(join(folder, 'walls'), postgres.url);
    const registry = await startRegistry(join(folder, 'registry'));
    try {
      await wholeRunSpeed(join(folder, 'whole'), postgres.url, registry);
      await restoreSpeed(join(folder, 'restored'), postgres.url, registry);
      await proxySpeed(join(folder, 'proxy'), registry);
    } finally {
      registry.close();
    }
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
