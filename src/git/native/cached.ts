import { createHash, randomUUID } from 'node:crypto';
import {
  access,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { type GitEngine, GitFailed, type Remote } from '../engine.ts';

/** All caches of a worker together; the least recently used go first. */
const maxBytes = 2_000_000_000;
/** Each fetch adds a pack; with more than these a fresh clone is the better cache. */
const maxPacks = 30;
const leftoverMs = 3_600_000;

/**
 * The same engine with a cache of what was fetched before, so that the second run on a repository fetches only what is
 * new. A cache is never changed: each fetch leaves a new one, put in place by a rename, so two runs at once do not
 * disturb each other. Whatever is wrong with it, it is dropped and everything is fetched. `say` hears of that.
 */
export function cached(engine: GitEngine, folder: string, say: (error: unknown) => void = () => {}): GitEngine {
  return {
    ...engine,
    open: async (remote, folders, signal) => {
      const checkout = await engine.open(remote, folders, signal);
      if (remote.scope === undefined) return checkout;
      const place = join(folder, keyOf(remote));
      const { gitDir } = folders;
      let isSeeded = false;
      let isKept = false;
      const fetched = new Set<string>();
      /** Forgets the cache, and brings from the remote what was taken from it. */
      const startOver = async (error: unknown) => {
        say(error);
        isSeeded = false;
        await rm(place, { recursive: true, force: true });
        await unseed(gitDir);
        for (const branch of fetched) await checkout.fetch(branch);
      };
      /** What cannot be read of the repository may be the cache's fault; without it everything is done once more. */
      const orWithoutCache = async <T>(act: () => Promise<T>): Promise<T> => {
        try {
          return await act();
        } catch (error) {
          if (!isSeeded || signal?.aborted || !(error instanceof GitFailed && error.fault === 'broken')) throw error;
          await startOver(error);
          return act();
        }
      };
      // Another worker may have put a new one in its place meanwhile; half of one is none.
      const head = await seed(place, gitDir).catch(() => unseed(gitDir));
      if (head !== undefined)
        isSeeded = await checkout.treeOf(head).then(
          () => true,
          (error) => startOver(error).then(() => false),
        );
      return {
        ...checkout,
        fetch: async (branch) => {
          const found = await orWithoutCache(() => checkout.fetch(branch));
          if (found !== undefined) fetched.add(branch);
          return found;
        },
        checkout: async (commit) => {
          await orWithoutCache(() => checkout.checkout(commit));
          // All of it could be read, so whatever goes wrong from now on is not the cache's fault.
          isSeeded = false;
          if (isKept) return;
          isKept = true;
          await keep(gitDir, place, commit)
            .then(() => shrink(folder))
            .catch(say);
        },
      };
    },
  };
}

/** A repository as one project may see it; nothing is shared between projects. */
function keyOf({ url, scope }: Remote): string {
  return createHash('sha256').update(`${scope}\n${url}`).digest('hex').slice(0, 40);
}

const cachedRef = 'refs/cache/head';

/** Gives a new repository what is cached, and answers the commit that it has then; links cost nothing and outlive the cache. */
async function seed(place: string, gitDir: string): Promise<string | undefined> {
  const packs = await readdir(join(place, 'pack')).catch(() => []);
  if (packs.length === 0) return undefined;
  await mkdir(join(gitDir, 'objects/pack'), { recursive: true });
  for (const name of packs) await linkOrCopy(join(place, 'pack', name), join(gitDir, 'objects/pack', name));
  await writeFile(join(gitDir, 'shallow'), await readFile(join(place, 'shallow'), 'utf8'));
  await mkdir(join(gitDir, 'refs/cache'), { recursive: true });
  // What git tells the remote it has already.
  const head = await readFile(join(place, 'head'), 'utf8');
  await writeFile(join(gitDir, cachedRef), head);
  const now = new Date();
  await utimes(place, now, now);
  return head.trim();
}

async function unseed(gitDir: string): Promise<undefined> {
  for (const path of ['objects/pack', 'refs/cache', 'shallow', 'shallow.lock'])
    await rm(join(gitDir, path), { recursive: true, force: true });
  await mkdir(join(gitDir, 'objects/pack'), { recursive: true });
  return undefined;
}

/** Leaves what a repository has now as the cache for the next one. */
async function keep(gitDir: string, place: string, head: string): Promise<void> {
  const source = join(gitDir, 'objects/pack');
  const packs = (await readdir(source)).filter((name) => /\.(pack|idx|rev)$/.test(name));
  const count = packs.filter((name) => name.endsWith('.pack')).length;
  // Small fetches are stored as loose objects; there is nothing new to keep then.
  if (count === 0 || !(await isThere(join(gitDir, 'shallow')))) return;
  const isSame = (await readFile(join(place, 'head'), 'utf8').catch(() => '')).trim() === head;
  if (isSame) return;
  const next = `${place}.${randomUUID()}`;
  if (count > maxPacks) return rm(place, { recursive: true, force: true });
  await mkdir(join(next, 'pack'), { recursive: true, mode: 0o700 });
  for (const name of packs) await linkOrCopy(join(source, name), join(next, 'pack', name));
  await copyFile(join(gitDir, 'shallow'), join(next, 'shallow'));
  await writeFile(join(next, 'head'), `${head}\n`);
  const old = `${place}.${randomUUID()}`;
  await rename(place, old).catch(() => {});
  // Somebody else's may have come in between; either is good.
  await rename(next, place).catch(() => rm(next, { recursive: true, force: true }));
  await rm(old, { recursive: true, force: true });
}

/** Drops the caches that were used least lately, until the rest fits. */
async function shrink(folder: string): Promise<void> {
  const caches = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    let bytes = 0;
    for (const file of await readdir(join(path, 'pack')).catch(() => []))
      bytes += (await stat(join(path, 'pack', file)).catch(() => undefined))?.size ?? 0;
    const usedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
    // Half of an exchange that was interrupted.
    if (name.includes('.') && usedAt < Date.now() - leftoverMs) await rm(path, { recursive: true, force: true });
    else caches.push({ path, bytes, usedAt });
  }
  let room = maxBytes;
  for (const { path, bytes } of caches.sort((a, b) => b.usedAt - a.usedAt)) {
    room -= bytes;
    if (room < 0) await rm(path, { recursive: true, force: true });
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch((error) => {
    if (error.code === 'EEXIST') return;
    if (error.code !== 'EXDEV' && error.code !== 'EPERM') throw error;
    return copyFile(from, to);
  });
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
