import { spawn } from 'node:child_process';
import { readFile, statfs } from 'node:fs/promises';

/** What is free on the machine; cheap to ask. */
export interface Room {
  disk: number;
  files: number;
  memory: number;
}

/** What must stay free on a disk of this size while runs write to it: 5 %, 512 MB at most. */
export function usualReserve(diskBytes: number): number {
  return Math.min(diskBytes / 20, 512 * 1024 ** 2);
}

/** `Infinity` for what the system does not tell. */
export async function roomLeft(folder: string): Promise<Room & { diskSize: number }> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(folder);
  const meminfo = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const memory = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? Number.POSITIVE_INFINITY) * 1024;
  // Some file systems make inodes as they are needed and name no number.
  const filesLeft = files === 0 ? Number.POSITIVE_INFINITY : ffree;
  return { disk: bavail * bsize, files: filesLeft, memory, diskSize: blocks * bsize };
}

/**
 * What these folders take on disk, in bytes or in files. 0.06 s for 23,000 files.
 * @throws when `signal` ends it, or nothing can be measured
 */
export async function diskUse(folders: string[], unit: 'bytes' | 'files', signal: AbortSignal): Promise<number> {
  // Without a name `du` would take the folder that it is in.
  if (folders.length === 0) return 0;
  const du = ['du', unit === 'bytes' ? '-sckx' : '-scx', ...(unit === 'files' ? ['--inodes'] : []), '--', ...folders];
  // Where commands have our own user they can close folders to it, but not to that user as the root of a namespace.
  const asRoot = process.getuid?.() === 0 ? [] : ['unshare', '--user', '--map-root-user'];
  const total = (await totalOf([...asRoot, ...du], signal)) ?? (await totalOf(du, signal));
  if (total === undefined) throw new Error(`du did not tell the size of ${folders.join(', ')}`);
  return unit === 'bytes' ? total * 1024 : total;
}

/** The last line of `du -c`. Its exit code tells nothing: it fails when files vanish while it looks. */
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
