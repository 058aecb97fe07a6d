import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Fetch, Files, PinnedPackage } from '../tasks/task.ts';
import { readFiles } from './file-tree.ts';

const run = promisify(execFile);

/**
 * Returns a function that fetches packages with npm, from whatever registry npm is configured for, and keeps them in
 * a folder. A package whose content differs from the pinned integrity is refused, also when it comes from the folder.
 */
export function packageFetcher(cache: string): Fetch {
  const fetched = new Map<string, Promise<Files>>();
  return (pinned) => {
    const key = `${pinned.name}@${pinned.version}`;
    const files = fetched.get(key) ?? unpacked(pinned, cache);
    fetched.set(key, files);
    return files;
  };
}

async function unpacked(pinned: PinnedPackage, cache: string): Promise<Files> {
  await mkdir(cache, { recursive: true });
  const archive = join(cache, `${pinned.name.replace('/', '+')}-${pinned.version}.tgz`);
  const bytes = await readFile(archive).catch(() => pack(pinned, archive, cache));
  const [algorithm = '', expected] = pinned.integrity.split(/-(.*)/s);
  const actual = createHash(algorithm).update(bytes).digest('base64');
  if (actual !== expected)
    throw new Error(
      `${pinned.name}@${pinned.version} has the integrity ${algorithm}-${actual}, but ${pinned.integrity} is pinned`,
    );
  const folder = await mkdtemp(join(cache, 'unpacking-'));
  try {
    // Some packages name their top folder differently, and `--strip-components` accepts any name.
    await run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1', '--no-same-owner']);
    return await readFiles(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function pack({ name, version }: PinnedPackage, archive: string, cache: string): Promise<Buffer> {
  const folder = await mkdtemp(join(cache, 'fetching-'));
  try {
    const args = ['pack', `${name}@${version}`, '--pack-destination', folder, '--json', '--ignore-scripts'];
    const { stdout } = await run('npm', args, { cwd: folder });
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    // Older versions of npm report the name of a scoped package with its slash.
    await rename(join(folder, (packed?.filename ?? '').replace('@', '').replace('/', '-')), archive);
    return await readFile(archive);
  } catch (error) {
    throw new Error(`npm could not fetch ${name}@${version}: ${(error as Error).message.slice(0, 500)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
