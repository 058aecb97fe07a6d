import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server that is asked to stop writes a checkpoint; one that takes longer is killed, and the next start recovers. */
const politeMs = 10_000;
/** A killed process goes as soon as the disk lets go of it. */
const killedMs = 30_000;
const lookMs = 20;

/**
 * The processes of PostgreSQL that work on a cluster: its server, the server's children, and initdb with its own. Children
 * that outlive a killed server keep its shared memory, and a new server refuses to start beside them. They are told by
 * their program and their folder, because they change their command lines.
 */
async function processesOn(dir: string): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(all.map(async (pid) => ((await worksOn(pid, dir)) ? [Number(pid)] : [])));
  return found.flat();
}

/** A process that is gone, a zombie, or somebody else's cannot be read; none of them works on our cluster. */
async function worksOn(pid: string, dir: string): Promise<boolean> {
  const of = (link: string) => readlink(`/proc/${pid}/${link}`).catch(() => '');
  const texts = async (file: string) => (await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')).split('\0');
  // Linux marks what was removed: `/path/postgres (deleted)`.
  const plain = (path: string) => path.replace(/ \(deleted\)$/, '');
  if (!['postgres', 'initdb'].includes(basename(plain(await of('exe'))))) return false;
  const isOurs = (path: string) => path === dir || path.startsWith(makingPrefix(dir));
  if (isOurs(plain(await of('cwd'))) || (await texts('cmdline')).some(isOurs)) return true;
  return (await texts('environ')).some((text) => text.startsWith('PGDATA=') && isOurs(text.slice('PGDATA='.length)));
}

/** Where a new cluster of that folder is made before it is moved into place; each attempt has a name of its own. */
export function makingPrefix(dir: string): string {
  return `${dir}.making-`;
}

/**
 * Ends what an earlier service left running on a cluster, and removes the server's pid file: its pid may be that of a
 * zombie or of another process by now, and PostgreSQL would take that for a running server. To be called only by the
 * process that holds the data folder.
 * @throws Error naming processes that do not end
 */
export async function endLeftProcesses(dir: string): Promise<void> {
  const pidFile = join(dir, 'postmaster.pid');
  const begun = Date.now();
  let asked: number | undefined;
  for (let left = await processesOn(dir); left.length > 0; left = await processesOn(dir)) {
    const server = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
    const waitedMs = Date.now() - begun;
    if (waitedMs > politeMs + killedMs)
      throw new Error(`PostgreSQL's processes ${left.join(', ')} still use ${dir} and do not end; end them`);
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
    // It has ended.
  }
}
