import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkOrCopy } from '../../host/link-or-copy.ts';
import type { CommandResult } from '../setup-context.ts';
import type { Packed } from './archive.ts';

/** What is known about a kept result. */
export interface KeptSetup extends Packed {
  /** How long its set-up took. */
  seconds: number;
  /** The private repositories that its set-up had as submodules. */
  submodules?: string[] | undefined;
}

/** The results of set-up that this machine keeps, by key. */
export interface KeptStore {
  /** Returns what is known about a kept result, which counts as a use of it. */
  find(key: string): Promise<KeptSetup | undefined>;
  /** Links or copies a kept result to `path`, which stays valid if the result is deleted. */
  take(key: string, path: string): Promise<KeptSetup | undefined>;
  /** Keeps an archive under a key. Either all of it is kept or nothing. */
  add(key: string, archive: string, kept: KeptSetup): Promise<void>;
  remove(key: string): Promise<void>;
  /** Remembers for six hours that set-up failed, and with which results. A result that is added takes its place. */
  addFailure(key: string, commands: CommandResult[]): Promise<void>;
  failure(key: string): Promise<{ at: Date; commands: CommandResult[] } | undefined>;
  /** Deletes the least recently used results until at most these bytes are kept. */
  trim(bytes: number): Promise<void>;
}

/** A result is valid once it has its second file, which is written last. */
const [archiveEnding, factsEnding] = ['.tar.zst', '.json'];
const failureEnding = '.failed';
/** A failure may have had a cause outside of the repository, such as a registry that was down. */
const failureMs = 6 * 3_600_000;
const isFacts = /^[0-9a-f]{64}\.json$/;

/** Opens the store in a folder that only the service can read. */
export function keptStore(folder: string): KeptStore {
  const archiveOf = (key: string) => join(folder, `${key}${archiveEnding}`);
  const factsOf = (key: string) => join(folder, `${key}${factsEnding}`);
  const failureOf = (key: string) => join(folder, `${key}${failureEnding}`);
  const remove = async (key: string) => {
    for (const path of [factsOf(key), archiveOf(key), failureOf(key)]) await rm(path, { force: true, recursive: true });
  };
  const find = async (key: string) => {
    const text = await readFile(factsOf(key), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const kept = parse(text);
    const size = await stat(archiveOf(key)).then(
      (stats) => (stats.isFile() ? stats.size : undefined),
      () => undefined,
    );
    if (kept === undefined || size !== kept.bytes) {
      await remove(key);
      return undefined;
    }
    await utimes(factsOf(key), new Date(), new Date()).catch(() => {});
    return kept;
  };
  return {
    remove,
    find,
    take: async (key, path) => {
      const kept = await find(key);
      return kept !== undefined && (await isTaken(archiveOf(key), path)) ? kept : undefined;
    },
    add: async (key, archive, kept) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const unfinished = `${archiveOf(key)}.${randomBytes(6).toString('hex')}`;
      try {
        await linkOrCopy(archive, unfinished);
        await writeFile(`${unfinished}${factsEnding}`, JSON.stringify(kept), { mode: 0o600 });
        await remove(key);
        await rename(unfinished, archiveOf(key));
        await rename(`${unfinished}${factsEnding}`, factsOf(key));
      } finally {
        await rm(unfinished, { force: true });
        await rm(`${unfinished}${factsEnding}`, { force: true });
      }
    },
    addFailure: async (key, commands) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const unfinished = `${failureOf(key)}.${randomBytes(6).toString('hex')}`;
      await writeFile(unfinished, JSON.stringify(commands), { mode: 0o600 });
      await rename(unfinished, failureOf(key));
    },
    failure: async (key) => {
      const stats = await stat(failureOf(key)).catch(() => undefined);
      if (stats === undefined || stats.mtimeMs < Date.now() - failureMs) return undefined;
      try {
        return { at: stats.mtime, commands: JSON.parse(await readFile(failureOf(key), 'utf8')) as CommandResult[] };
      } catch {
        // After a power failure, the file may be empty.
        return undefined;
      }
    },
    trim: async (bytes) => {
      await removeLeft(folder);
      const found = await sizesIn(folder);
      let left = found.reduce((sum, each) => sum + each.bytes, 0);
      for (const { key, bytes: size } of found.sort((a, b) => a.usedMs - b.usedMs)) {
        if (left <= bytes) return;
        await remove(key);
        left -= size;
      }
    },
  };
}

/** A result is added right after it was packed, so files older than this that belong to no result are leftovers. */
const addingMs = 3_600_000;

/** Deletes what workers left behind when they were killed while adding or removing a result. */
async function removeLeft(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const known = new Set(names.filter((name) => isFacts.test(name)).map((name) => name.slice(0, 64)));
  for (const name of names) {
    const isOfResult = known.has(name.slice(0, 64)) && [archiveEnding, factsEnding].includes(name.slice(64));
    const file = join(folder, name);
    const stats = isOfResult ? undefined : await stat(file).catch(() => undefined);
    const longestMs = name.endsWith(failureEnding) ? failureMs : addingMs;
    if (stats?.isFile() && stats.mtimeMs < Date.now() - longestMs) await rm(file, { force: true });
  }
}

/** Returns false if another worker has just deleted the archive. */
async function isTaken(archive: string, path: string): Promise<boolean> {
  try {
    await linkOrCopy(archive, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function parse(text: string): KeptSetup | undefined {
  try {
    const { bytes, sha256, seconds, submodules = [] } = JSON.parse(text) as Record<string, unknown>;
    const areIds = Array.isArray(submodules) && submodules.every((id) => typeof id === 'string');
    if (typeof bytes === 'number' && typeof sha256 === 'string' && typeof seconds === 'number' && areIds)
      return { bytes, sha256, seconds, submodules };
  } catch {
    // Returns undefined, and the result is deleted as damaged.
  }
  return undefined;
}

async function sizesIn(folder: string): Promise<{ key: string; bytes: number; usedMs: number }[]> {
  const names = await readdir(folder).catch(() => []);
  const keys = names.filter((name) => isFacts.test(name)).map((name) => name.slice(0, 64));
  const each = await Promise.all(
    keys.map(async (key) => {
      const facts = await stat(join(folder, `${key}${factsEnding}`)).catch(() => undefined);
      const archive = await stat(join(folder, `${key}${archiveEnding}`)).catch(() => undefined);
      return { key, bytes: archive?.size ?? 0, usedMs: facts?.mtimeMs ?? 0 };
    }),
  );
  return each;
}
