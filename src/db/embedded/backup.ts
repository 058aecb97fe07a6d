import { chown, copyFile, cp, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { clusterFolder, clusterUid, holdFolder, startEmbedded } from './embedded.ts';

const passwordFile = 'postgres.password';
/** The files in the data folder without which a restored database could not be used. */
const keyFiles = ['jwt.secret', 'encryption.key', 'encryption.key.previous', passwordFile];

/** Folders whose contents belong to a running server (postgresql.org, "Making a Base Backup Using the Low Level API"). */
const emptied = new Set([
  ...['pg_dynshmem', 'pg_notify', 'pg_replslot', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans', 'pg_wal'],
]);
const leftOut = /^(postmaster\.(pid|opts)|pgsql_tmp.*|pg_internal\.init)$/;

/**
 * Copies the embedded database and the generated keys of a data folder to `target`, while the service runs or not. The
 * database in the copy has the state of the end of the copy.
 * @throws Error if the folder exists, or when the database cannot be read
 */
export async function backUp(dataDir: string, target: string): Promise<void> {
  if (await exists(target)) throw new Error(`${target} exists; give the path of a folder that does not exist yet`);
  const embedded = await startEmbedded({ dataDir, attach: true });
  const client = new pg.Client({ connectionString: embedded.url });
  const making = `${target}.making`;
  try {
    await client.connect();
    await rm(making, { recursive: true, force: true });
    await mkdir(dirname(target), { recursive: true });
    // It must not exist: in a folder where others write, somebody could wait there for the keys.
    await mkdir(making, { mode: 0o700 });
    await mkdir(join(making, 'keys'), { mode: 0o700 });
    await copyCluster(client, join(making, 'database'));
    for (const name of keyFiles)
      if (await exists(join(dataDir, name))) await copyFile(join(dataDir, name), join(making, 'keys', name));
    await rename(making, target);
  } finally {
    await client.end().catch(() => {});
    await embedded.stop();
    await rm(making, { recursive: true, force: true });
  }
}

async function copyCluster(client: pg.Client, target: string): Promise<void> {
  const ask = async (text: string) => (await client.query({ text, rowMode: 'array' })).rows[0] as string[];
  const [from = ''] = await ask('show data_directory');
  // A slot keeps the log that the server writes during the copy. It is removed with the session.
  await ask(`select pg_create_physical_replication_slot('deckhand_backup', true, true)`);
  const [first = ''] = await ask(`select pg_walfile_name(pg_backup_start('deckhand', true))`);
  await copyTree(from, target);
  const [label = '', last = ''] = await ask(
    'select labelfile, pg_walfile_name(lsn) from pg_backup_stop(wait_for_archive => false)',
  );
  await writeFile(join(target, 'backup_label'), label, { mode: 0o600 });
  for (const name of await readdir(join(from, 'pg_wal')))
    if (/^[0-9A-F]{24}$/.test(name) && name >= first && name <= last)
      await copyFile(join(from, 'pg_wal', name), join(target, 'pg_wal', name));
}

/** Copies a folder while its files change. A file that the server removes during the copy is not needed. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (leftOut.test(entry.name)) continue;
    if (entry.isDirectory() && emptied.has(entry.name)) await mkdir(target, { mode: 0o700 });
    else if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isFile()) await copyFile(source, target).catch(unlessMissing);
  }
}

function unlessMissing(error: { code?: string }): void {
  if (error.code !== 'ENOENT') throw error;
}

/** What a restore left in the data folder. */
export interface Restored {
  /** The paths of what was there before. */
  kept: string[];
  /** The present keys that stay, because the backup does not have them: its folder `keys` may be kept elsewhere. */
  presentKeys: string[];
}

/**
 * Replaces the embedded database and the generated keys of a data folder by those of a backup, and lets the database
 * recover. What was there before is kept beside it. A key that the backup does not have stays as it is.
 * @throws Error if a service uses the folder, `source` is no backup, or nobody has the password of its database
 */
export async function restore(dataDir: string, source: string): Promise<Restored> {
  const version = await readFile(join(source, 'database', 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version === undefined || !(await exists(join(source, 'database', 'backup_label'))))
    throw new Error(`${source} is no backup; give a folder that "npm run backup" wrote`);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const release = await holdFolder(dataDir);
  if (release === undefined) throw new Error(`a service uses ${dataDir}; stop it before you restore`);
  const kept: string[] = [];
  const presentKeys: string[] = [];
  try {
    await assertPassword(dataDir, source);
    const dir = await clusterFolder(dataDir);
    const aside = `before-restore-${new Date().toISOString().replace(/[:.]/g, '-')}`;
    const setAside = async (path: string) => {
      if (!(await exists(path))) return;
      await rename(path, `${path}.${aside}`);
      kept.push(`${path}.${aside}`);
    };
    // Copied first, so that a full disk changes nothing.
    const making = `${dir}.making-restored`;
    await rm(making, { recursive: true, force: true });
    await cp(join(source, 'database'), making, { recursive: true });
    await giveTo(making, clusterUid());
    await setAside(dir);
    await rename(making, dir);
    for (const name of keyFiles) {
      const [key, present] = [join(source, 'keys', name), join(dataDir, name)];
      if (await exists(key)) {
        await setAside(present);
        await copyFile(key, present);
      } else if (await exists(present)) presentKeys.push(present);
    }
  } finally {
    await release();
  }
  await (await startEmbedded({ dataDir })).stop();
  return { kept, presentKeys };
}

/** Checks that somebody has the password of the database in a backup. Otherwise nobody could connect to it. */
async function assertPassword(dataDir: string, source: string): Promise<void> {
  const [inBackup, present] = [join(source, 'keys', passwordFile), join(dataDir, passwordFile)];
  if (!(await exists(inBackup)) && !(await exists(present)))
    throw new Error(`requires ${inBackup}; put the folder "keys" that "npm run backup" wrote back into ${source}`);
}

async function giveTo(path: string, uid: number | undefined): Promise<void> {
  if (uid === undefined) return;
  await chown(path, uid, uid);
  if ((await lstat(path)).isDirectory()) for (const name of await readdir(path)) await giveTo(join(path, name), uid);
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
