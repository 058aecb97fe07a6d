import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { removeTree } from '../../sandbox/neutral-path.ts';
import { copyInto } from './archive.ts';

/**
 * The caches below the home folder in which package managers keep what they have installed elsewhere already. They are as
 * large as what was installed, and only the next set-up needs them.
 */
const onlyForSetup = [
  '.local/share/pnpm/store',
  '.cache/pnpm',
  '.cache/yarn',
  '.bun/install/cache',
  '.cache/uv',
  '.cache/pip',
];

/** The caches that commands need where they have no network. They stay in the home folder, and are copied. */
const alsoForCommands = [
  '.npm/_cacache',
  'go/pkg/mod/cache/download',
  '.cache/go-build',
  '.cargo/registry/cache',
  '.cargo/registry/index',
];

/** Caches that no set-up has used for this long are deleted, so that what a package left there goes, too. */
const unusedMs = 30 * 86_400_000;
const ending = '.caches';

/**
 * Moves the package caches of a finished set-up out of its home folder, into a new folder. A cache stays where links or
 * Yarn's Plug'n'Play lead to it from elsewhere, because then the result does not work without it. Returns whether there
 * are any. Call this only while no other process changes the folders.
 */
export async function takeCaches(
  { work, home }: { work: string; home: string },
  into: string,
  signal: AbortSignal,
): Promise<boolean> {
  await mkdir(into, { mode: 0o700 });
  const linked = await linkedFrom(work, home, signal);
  for (const place of [...onlyForSetup, ...alsoForCommands]) {
    // Set-up may have replaced a folder by a link to anywhere.
    if (linked.has(place) || !(await isOwnFolder(home, place))) continue;
    await mkdir(dirname(join(into, place)), { recursive: true });
    if (alsoForCommands.includes(place)) await copyInto(join(home, place), join(into, place), signal);
    else await rename(join(home, place), join(into, place));
  }
  return (await readdir(into)).length > 0;
}

/** Moves caches into a new home folder. */
export async function placeCaches(from: string, home: string): Promise<void> {
  for (const place of [...onlyForSetup, ...alsoForCommands]) {
    if (!(await isOwnFolder(from, place))) continue;
    await mkdir(dirname(join(home, place)), { recursive: true });
    await rename(join(from, place), join(home, place));
  }
  await removeTree(from);
}

async function isOwnFolder(root: string, place: string): Promise<boolean> {
  let path = root;
  for (const name of place.split('/')) {
    path = join(path, name);
    if (!(await lstat(path).catch(() => undefined))?.isDirectory()) return false;
  }
  return true;
}

/** Returns the caches into which links from outside of them lead. */
async function linkedFrom(work: string, home: string, signal: AbortSignal): Promise<Set<string>> {
  const any = (test: string, patterns: string[]) => [
    '(',
    ...patterns.flatMap((each, i) => [...(i > 0 ? ['-o'] : []), test, each]),
    ')',
  ];
  const except = any(
    '-path',
    onlyForSetup.map((place) => join(home, place)),
  );
  const links = [
    '-type',
    'l',
    ...any(
      '-lname',
      onlyForSetup.map((place) => `*${place}*`),
    ),
    '-printf',
    '%l\\0',
  ];
  // Its paths lead into the cache, but they are no links.
  const plugAndPlay = ['-name', '.pnp.*js', '-printf', '.cache/yarn\\0'];
  const args = [work, home, ...except, '-prune', '-o', ...links, '-o', ...plugAndPlay];
  const { stdout } = await promisify(execFile)('find', args, {
    env: { PATH: '/usr/bin:/bin' },
    maxBuffer: 2 ** 26,
    signal,
  });
  const targets = stdout.split('\0');
  return new Set(onlyForSetup.filter((place) => targets.some((target) => target.includes(place))));
}

/**
 * The package caches that set-up of base branches left, by key. A set-up takes its caches away and gives them back, so
 * nobody else can read or write them in the meantime, and caches of a set-up that failed are gone.
 */
export interface PackageCaches {
  /** Moves the caches to `path`. Returns false if there are none. */
  take(key: string, path: string, signal: AbortSignal): Promise<boolean>;
  /** Keeps these caches in place of others with the key. */
  add(key: string, path: string, signal: AbortSignal): Promise<void>;
  /**
   * Deletes what is larger than half of these bytes or was not used for a month, then the least recently used, until they
   * take at most these bytes, and what workers left that were killed. Returns how many they take.
   */
  trim(bytes: number, now?: number): Promise<number>;
}

/** Opens the package caches in a folder that only the service can read. */
export function packageCaches(folder: string): PackageCaches {
  const pathOf = (key: string) => join(folder, `${key}${ending}`);
  /** Another worker may take or delete the same caches, so they are renamed first. */
  const remove = async (path: string) => {
    const removed = join(folder, randomBytes(6).toString('hex'));
    const isMine = await rename(path, removed).then(
      () => true,
      () => false,
    );
    if (isMine) await removeTree(removed);
  };
  return {
    take: async (key, path, signal) => {
      try {
        await move(pathOf(key), path, signal);
        return true;
      } catch (error) {
        if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
        throw error;
      }
    },
    add: async (key, path, signal) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await remove(pathOf(key));
      await move(path, pathOf(key), signal).catch(async (error) => {
        // Another worker has just added its own.
        if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
        await removeTree(path);
      });
      await utimes(pathOf(key), new Date(), new Date()).catch(() => {});
    },
    trim: async (bytes, now = Date.now()) => {
      await removeLeft(folder, now);
      const isUnfit = (each: Found) => each.bytes > bytes / 2 || each.usedMs < now - unusedMs;
      const found = (await sizesIn(folder)).sort((a, b) => a.usedMs - b.usedMs);
      let left = found.reduce((sum, each) => sum + each.bytes, 0);
      for (const each of [...found.filter(isUnfit), ...found.filter((each) => !isUnfit(each))]) {
        if (left <= bytes && !isUnfit(each)) continue;
        await remove(each.path);
        left -= each.bytes;
      }
      return left;
    },
  };
}

/** Renames a folder that only the service can enter. Between disks, it is copied. */
async function move(from: string, to: string, signal: AbortSignal): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const copy = `${to}.${randomBytes(6).toString('hex')}`;
    await mkdir(copy, { mode: 0o700 });
    try {
      await copyInto(from, copy, signal);
      await rename(copy, to);
    } catch (failed) {
      await removeTree(copy);
      throw failed;
    }
    await removeTree(from);
  }
}

/** The names of caches that are being removed, and of those that are being copied. */
const unfinished = /^([0-9a-f]{64}\.caches\.)?[0-9a-f]{12}$/;
/** A worker that still removes or copies caches after this long does not exist. */
const unfinishedMs = 6 * 3_600_000;

/** Removes the folders of workers that were killed while they removed or copied caches. */
async function removeLeft(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => unfinished.test(each))) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => undefined);
    // Renaming a folder changes only this time, not that of its contents.
    if (stats?.isDirectory() && stats.ctimeMs < now - unfinishedMs) await removeTree(path);
  }
}

interface Found {
  path: string;
  bytes: number;
  usedMs: number;
}

async function sizesIn(folder: string): Promise<Found[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(ending));
  const found: Found[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    const du = await promisify(execFile)('du', ['-sk', '--', path], { env: { PATH: '/usr/bin:/bin' } }).catch(
      // Another worker is taking them.
      () => ({ stdout: '0' }),
    );
    if (stats?.isDirectory()) found.push({ path, bytes: Number.parseInt(du.stdout, 10) * 1024, usedMs: stats.mtimeMs });
  }
  return found;
}
