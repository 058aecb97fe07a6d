import { createHash, randomUUID } from 'node:crypto';
import { access, copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkOrCopy } from '../../host/link-or-copy.ts';
import type { Remote } from '../engine.ts';

/** Size of all caches of a worker together. When they exceed it, the least recently used ones are evicted. */
const maxBytes = 2_000_000_000;
/**
 * Each fetch adds a pack, and many packs slow git down. When a cache has more packs than this, the next run starts with
 * a fresh clone.
 */
const maxPacks = 30;
/** Temporary folders of an interrupted cache update are removed at this age. */
const leftoverMs = 3_600_000;

/** Returns the name of a repository's cache. It contains the project (`scope`), because projects share no cache. */
export function cacheKey({ url, scope }: Remote): string {
  return createHash('sha256').update(`${scope}\n${url}`).digest('hex').slice(0, 40);
}

const cachedRef = 'refs/cache/head';

/**
 * Hard-links the objects of a cache into an empty repository. The links take no space and survive the eviction of the
 * cache. Returns the commit that the repository then has, or undefined when there is no cache.
 */
export async function fillFromCache(place: string, gitDir: string): Promise<string | undefined> {
  const packs = await readdir(join(place, 'pack')).catch(() => []);
  if (packs.length === 0) return undefined;
  await mkdir(join(gitDir, 'objects/pack'), { recursive: true });
  for (const name of packs) await shareObject(join(place, 'pack', name), join(gitDir, 'objects/pack', name));
  await writeFile(join(gitDir, 'shallow'), await readFile(join(place, 'shallow'), 'utf8'));
  await mkdir(join(gitDir, 'refs/cache'), { recursive: true });
  // Git reports the commits of its refs to the remote, which then sends only newer objects.
  const head = await readFile(join(place, 'head'), 'utf8');
  await writeFile(join(gitDir, cachedRef), head);
  const now = new Date();
  await utimes(place, now, now);
  return head.trim();
}

/** Empties a repository that was filled from a cache. If the cache's path is given, removes the cache too. */
export async function removeFilled(gitDir: string, place?: string): Promise<undefined> {
  if (place !== undefined) await rm(place, { recursive: true, force: true });
  for (const path of ['objects/pack', 'refs/cache', 'shallow', 'shallow.lock'])
    await rm(join(gitDir, path), { recursive: true, force: true });
  await mkdir(join(gitDir, 'objects/pack'), { recursive: true });
  return undefined;
}

/**
 * Stores the current objects of a repository as the cache for the next run. Returns whether the cache changed, so that it
 * may have grown.
 */
export async function storeInCache(gitDir: string, place: string, head: string): Promise<boolean> {
  const source = join(gitDir, 'objects/pack');
  const packs = (await readdir(source)).filter((name) => /\.(pack|idx|rev)$/.test(name));
  const count = packs.filter((name) => name.endsWith('.pack')).length;
  // If there is no pack, nothing was fetched.
  if (count === 0 || !(await isThere(join(gitDir, 'shallow')))) return false;
  const isSame = (await readFile(join(place, 'head'), 'utf8').catch(() => '')).trim() === head;
  if (isSame) return false;
  if (count > maxPacks) {
    await rm(place, { recursive: true, force: true });
    return true;
  }
  const next = `${place}.${randomUUID()}`;
  await mkdir(join(next, 'pack'), { recursive: true, mode: 0o700 });
  for (const name of packs) await shareObject(join(source, name), join(next, 'pack', name));
  await copyFile(join(gitDir, 'shallow'), join(next, 'shallow'));
  await writeFile(join(next, 'head'), `${head}\n`);
  const old = `${place}.${randomUUID()}`;
  await rename(place, old).catch(() => {});
  // The rename fails when another worker has stored its cache there first. That cache is just as good.
  await rename(next, place).catch(() => rm(next, { recursive: true, force: true }));
  await rm(old, { recursive: true, force: true });
  return true;
}

/** Evicts the least recently used caches until the rest fits. */
export async function shrinkCaches(folder: string): Promise<void> {
  const caches = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const usedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
    // The names of temporary folders contain a dot (see storeInCache).
    if (name.includes('.') && usedAt < Date.now() - leftoverMs) await rm(path, { recursive: true, force: true });
    else caches.push({ path, bytes: await packBytes(path), usedAt });
  }
  let room = maxBytes;
  for (const { path, bytes } of caches.sort((a, b) => b.usedAt - a.usedAt)) {
    room -= bytes;
    if (room < 0) await rm(path, { recursive: true, force: true });
  }
}

async function packBytes(place: string): Promise<number> {
  let bytes = 0;
  for (const file of await readdir(join(place, 'pack')).catch(() => []))
    bytes += (await stat(join(place, 'pack', file)).catch(() => undefined))?.size ?? 0;
  return bytes;
}

/** Another worker may have put the same object there. */
async function shareObject(from: string, to: string): Promise<void> {
  await linkOrCopy(from, to).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
