import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a server may take to write its last checkpoint. After that it is killed, and the next start recovers. */
const politeMs = 10_000;
/** How long a killed process may take to end: it may be waiting for the disk. */
const killedMs = 30_000;
const lookMs = 20;

/**
 * Finds the PostgreSQL processes that use a cluster: its server, the server's children, and initdb with its children.
 * Children that outlive a killed server hold its shared memory, and a new server refuses to start beside them. They are
 * recognized by their program and working folder, because they change their command lines.
 */
async function processesOn(dir: string): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(all.map(async (pid) => ((await worksOn(pid, dir)) ? [Number(pid)] : [])));
  return found.flat();
}

/**
 * Returns whether a process uses the cluster; false for a process that cannot be read (ended, a zombie, another
 * user's).
 */
async function worksOn(pid: string, dir: string): Promise<boolean> {
  const of = (link: string) => readlink(`/proc/${pid}/${link}`).catch(() => '');
  const texts = async (file: string) => (await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')).split('\0');
  // Linux appends a mark to the path of a deleted file: `/path/postgres (deleted)`.
  const plain = (path: string) => path.replace(/ \(deleted\)$/, '');
  if (!['postgres', 'initdb'].includes(basename(plain(await of('exe'))))) return false;
  const isOurs = (path: string) => path === dir || path.startsWith(makingPrefix(dir));
  if (isOurs(plain(await of('cwd'))) || (await texts('cmdline')).some(isOurs)) return true;
  return (await texts('environ')).some((text) => text.startsWith('PGDATA=') && isOurs(text.slice('PGDATA='.length)));
}

/** Returns the name prefix of the folders in which a new cluster is created before it is moved into place. */
export function makingPrefix(dir: string): string {
  return `${dir}.making-`;
}

/**
 * Ends the processes that an earlier service left on a cluster and removes the server's pid file. By now the pid in that
 * file may belong to a zombie or to another process, which PostgreSQL would take for a running server. Only the process
 * that holds the data folder's lock may call this.
 * @throws Error with the processes that do not end
 */
export async function endLeftProcesses(dir: string): Promise<void> {
  const pidFile = join(dir, 'postmaster.pid');
  const begun = Date.now();
  let asked: number | undefined;
  for (let left = await processesOn(dir); left.length > 0; left = await processesOn(dir)) {
    const server = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
    const waitedMs = Date.now() - begun;
    if (waitedMs > politeMs + killedMs)
      throw new Error(
        `the PostgreSQL processes ${left.join(', ')} still use ${dir} and cannot be ended; end them and start again`,
      );
    if (left.includes(server) && waitedMs < politeMs) {
      if (asked !== server) signal(server, 'SIGINT');
      asked = server;
    } else for (const pid of left) signal(pid, 'SIGKILL');
    await sleep(lookMs);
  }
  await rm(pidFile, { force: true });
}

function signal(pid: number, by: NodeJS.Signals): void {
  try {
    process.kill(pid, by);
  } catch {
    // The process has already ended.
  }
}
