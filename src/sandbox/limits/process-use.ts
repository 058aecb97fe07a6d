import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';

/** The resources that processes use. Memory is in bytes. */
export interface ProcessUse {
  /** Each thread counts as one, as it does for the kernel. */
  processes: number;
  ownMemory: number;
  sharedMemory: number;
}

/** Processes to read before yielding to the event loop: about 2 ms. */
const atOnce = 32;

/** Open files of a run to examine; further ones are not counted. The kernel allows a run millions. */
const maxOpenFiles = 20_000;

/**
 * Measures the resources of all processes in these sandboxes. Each sandbox has a /proc that lists only its own
 * processes. Stops counting at `maxProcesses`.
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

/** Measures memory only. Counts memory shared by several processes once, which takes longer than `processUse`. */
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

/**
 * Measures the space held by deleted files that are still open: on the disk of `folder`, or in memory (`memfd_create`).
 */
export async function deletedFiles(sandboxes: Iterable<number>, folder: string) {
  const { dev: disk } = await stat(folder);
  const seen = new Set<string>();
  const bytes = { disk: 0, memory: 0 };
  for await (const file of openFiles(sandboxes, maxOpenFiles)) {
    const id = `${file.dev}:${file.ino}`;
    if (!file.isFile() || file.nlink > 0 || seen.has(id)) continue;
    seen.add(id);
    bytes[file.dev === disk ? 'disk' : 'memory'] += file.blocks * 512;
  }
  return bytes;
}

/** Yields the open files of the sandboxes' processes, at most `most` of them. */
async function* openFiles(sandboxes: Iterable<number>, most: number): AsyncGenerator<Stats> {
  let left = most;
  for (const process of processesOf(sandboxes))
    for (const fd of await readdir(`${process}/fd`).catch(() => [])) {
      if (left-- <= 0) return;
      const file = await stat(`${process}/fd/${fd}`).catch(() => undefined);
      if (file !== undefined) yield file;
    }
}

const ourProc = statSync('/proc', { throwIfNoEntry: false })?.dev;

/**
 * Returns the /proc folders of all processes in the sandboxes. A sandbox that has not mounted its own /proc yet has
 * none.
 */
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

/** Parses a file with lines such as `Name:   123 kB` into numbers. */
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
