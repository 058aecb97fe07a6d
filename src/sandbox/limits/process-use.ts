import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';

/** What processes take; memory in bytes. */
export interface ProcessUse {
  /** Each thread counts, as it does for the kernel. */
  processes: number;
  ownMemory: number;
  sharedMemory: number;
}

/** How many processes to read in a row: about 2 ms, during which the service answers nobody. */
const atOnce = 32;

/** How many open files of a run to look at; the kernel allows it millions. */
const maxOpenFiles = 20_000;

/**
 * What the processes of these sandboxes take, seen through the /proc that each sandbox has of its own: it lists no others.
 * Counting stops at `maxProcesses`.
 */
export async function processUse(sandboxes: Iterable<number>, maxProcesses: number): Promise<ProcessUse> {
  const use = { processes: 0, ownMemory: 0, sharedMemory: 0 };
  for (const [i, folder] of processesOf(sandboxes).entries()) {
    if (use.processes > maxProcesses) break;
    if (i % atOnce === atOnce - 1) await breathe();
    const { Threads = 1, RssAnon = 0, RssShmem = 0, VmSwap = 0 } = numbersIn(readIfThere(`${folder}/status`));
    use.processes += Threads;
    use.ownMemory += (RssAnon + VmSwap) * 1024;
    use.sharedMemory += RssShmem * 1024;
  }
  return use;
}

/** The same memory, where what several processes share counts once; slower than `processUse`. */
export async function exactMemory(sandboxes: Iterable<number>): Promise<Omit<ProcessUse, 'processes'>> {
  const use = { ownMemory: 0, sharedMemory: 0 };
  for (const folder of processesOf(sandboxes)) {
    const text = await readFile(`${folder}/smaps_rollup`, 'utf8').catch(() => '');
    const { Pss_Anon = 0, Pss_Shmem = 0, SwapPss = 0 } = numbersIn(text);
    use.ownMemory += (Pss_Anon + SwapPss) * 1024;
    use.sharedMemory += Pss_Shmem * 1024;
  }
  return use;
}

/** Files that were deleted while open still take room: on the disk of `folder`, or in memory (`memfd_create`). */
export async function deletedFiles(sandboxes: Iterable<number>, folder: string) {
  const { dev: disk } = await stat(folder);
  const seen = new Set<string>();
  const bytes = { disk: 0, memory: 0 };
  let left = maxOpenFiles;
  for (const process of processesOf(sandboxes))
    for (const fd of await readdir(`${process}/fd`).catch(() => [])) {
      if (left-- <= 0) return bytes;
      const file = await stat(`${process}/fd/${fd}`).catch(() => undefined);
      if (file === undefined || !file.isFile() || file.nlink > 0) continue;
      if (seen.has(`${file.dev}:${file.ino}`)) continue;
      seen.add(`${file.dev}:${file.ino}`);
      bytes[file.dev === disk ? 'disk' : 'memory'] += file.blocks * 512;
    }
  return bytes;
}

const ourProc = statSync('/proc', { throwIfNoEntry: false })?.dev;

/** The folders of all processes of the sandboxes; none of a sandbox that has not mounted its own /proc yet. */
function processesOf(sandboxes: Iterable<number>): string[] {
  return [...sandboxes].flatMap((pid) => {
    const proc = `/proc/${pid}/root/proc`;
    try {
      if (statSync(proc).dev === ourProc) return [];
      return readdirSync(proc).flatMap((name) => (/^\d+$/.test(name) ? [`${proc}/${name}`] : []));
    } catch {
      return [];
    }
  });
}

/** `Name:   123 kB` by line. */
function numbersIn(text: string): Record<string, number> {
  return Object.fromEntries([...text.matchAll(/^(\w+):\s+(\d+)(?: kB)?$/gm)].map(([, name, n]) => [name, Number(n)]));
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
