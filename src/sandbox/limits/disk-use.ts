import { spawn } from 'node:child_process';
import { readFile, statfs } from 'node:fs/promises';

/** Free space and free inodes of the machine. */
export interface Room {
  disk: number;
  files: number;
  memory: number;
}

/** Returns how much must stay free on a disk while runs write to it: 5 % of its size, at most 512 MB. */
export function usualReserve(diskBytes: number): number {
  return Math.min(diskBytes / 20, 512 * 1024 ** 2);
}

/**
 * Returns the free bytes and inodes, without counting files. Returns `Infinity` for what the system does not report.
 */
export async function roomLeft(folder: string): Promise<Room & { diskSize: number }> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(folder);
  const meminfo = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const memory = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? Number.POSITIVE_INFINITY) * 1024;
  // Some file systems create inodes as needed and report 0.
  const filesLeft = files === 0 ? Number.POSITIVE_INFINITY : ffree;
  return { disk: bavail * bsize, files: filesLeft, memory, diskSize: blocks * bsize };
}

/**
 * Returns how much space these folders take on disk, in bytes or in files. Takes 0.06 s for 23,000 files.
 * @throws Error when `signal` aborts it, or when `du` reports nothing
 */
export async function diskUse(folders: string[], unit: 'bytes' | 'files', signal: AbortSignal): Promise<number> {
  // Without an argument `du` would measure its working directory.
  if (folders.length === 0) return 0;
  const du = ['du', unit === 'bytes' ? '-sckx' : '-scx', ...(unit === 'files' ? ['--inodes'] : []), '--', ...folders];
  // Commands that run as the service's own user can remove its permissions on folders. As root of a user namespace,
  // `du` can read them anyway.
  const asRoot = process.getuid?.() === 0 ? [] : ['unshare', '--user', '--map-root-user'];
  const total = (await totalOf([...asRoot, ...du], signal)) ?? (await totalOf(du, signal));
  if (total === undefined) throw new Error(`du did not report the size of ${folders.join(', ')}`);
  return unit === 'bytes' ? total * 1024 : total;
}

/**
 * Returns the total from the last line of `du -c`. The exit code is ignored, because `du` fails when files disappear
 * while it counts.
 */
async function totalOf(command: string[], signal: AbortSignal): Promise<number | undefined> {
  const child = spawn('nice', ['-n', '19', ...command], {
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
    signal,
    killSignal: 'SIGKILL',
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  await new Promise<void>((resolve, reject) => child.once('error', reject).once('close', () => resolve()));
  const total = /^(\d+)\ttotal$/m.exec(output)?.[1];
  return total === undefined ? undefined : Number(total);
}
