import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makingPrefix } from './cluster-processes.ts';
import { identity } from './embedded-binaries.ts';

const run = promisify(execFile);

export interface ClusterPlace {
  /** The folder of PostgreSQL's programs. */
  native: string;
  dir: string;
  password: string;
  uid: number | undefined;
}

/**
 * Creates the cluster if it does not exist. initdb works in a temporary folder that is then renamed into place, because
 * a killed initdb leaves something that looks like a cluster but lacks its databases. Returns notes for the operator.
 */
export async function makeCluster(place: ClusterPlace): Promise<string[]> {
  const { dir } = place;
  await removeUnfinished(dir);
  const notes = await setAsideUnfinished(dir);
  if ((await entriesOf(dir)).length > 0) return notes;
  const making = `${makingPrefix(dir)}${randomUUID()}`;
  await initialise(place, making);
  // A rename replaces a folder only if that is empty.
  await rename(making, dir);
  return notes;
}

/** Removes the files of a killed initdb. Its processes have already been ended. */
async function removeUnfinished(dir: string): Promise<void> {
  const prefix = basename(makingPrefix(dir));
  for (const name of await readdir(dirname(dir)))
    if (name.startsWith(prefix)) await rm(join(dirname(dir), name), { recursive: true, force: true });
}

/**
 * Moves an unfinished cluster out of the way. Earlier versions ran initdb in place. If no server has ever started in a
 * cluster and it is not a restored backup, then a killed initdb left it. It contains no data, and no server would start
 * with it.
 */
async function setAsideUnfinished(dir: string): Promise<string[]> {
  const names = await entriesOf(dir);
  const known = ['postmaster.opts', 'backup_label', 'backup_manifest', 'recovery.signal', 'standby.signal'];
  if (names.length === 0 || known.some((name) => names.includes(name))) return [];
  const aside = `${dir}.unfinished-${(await stat(dir)).mtimeMs.toFixed()}`;
  await rename(dir, aside);
  return [`${dir} was incomplete, so a new database was created; the old files are in ${aside}`];
}

async function entriesOf(dir: string): Promise<string[]> {
  return readdir(dir).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
}

async function initialise({ native, password, uid }: ClusterPlace, dir: string): Promise<void> {
  await mkdir(dir, { mode: 0o700 });
  const passwordFile = `${dir}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  for (const path of [dir, passwordFile]) if (uid !== undefined) await chown(path, uid, uid);
  const args = ['-D', dir, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync'];
  try {
    await run(join(native, 'bin/initdb'), [...args, '--locale=C', '--encoding=UTF8'], {
      ...identity(uid),
      env: { LC_ALL: 'C', PGDATA: dir },
      cwd: '/',
    });
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(passwordFile, { force: true });
  }
}
