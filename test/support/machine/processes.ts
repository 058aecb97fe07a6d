import { readdirSync, readFileSync } from 'node:fs';
import { until } from '../../../demo/real-service.ts';

/** Returns the ids of this machine's processes that have a text in their arguments, which are separated by NUL. */
export const processesWith = (text: string): number[] =>
  processes()
    .filter((pid) => read(pid, 'cmdline').includes(text))
    .map(Number);

/** Waits until no process has the text in its arguments. The kernel takes a moment to end those that were killed. */
export async function untilNoneHas(text: string): Promise<void> {
  await until(`the processes with ${text} to end`, async () => processesWith(text).length === 0);
}

/** Returns also those that have a folder only in their mounts, as sandboxes do. */
export function commandsIn(folder: string): string[] {
  return processes()
    .map((pid) => [read(pid, 'cmdline'), read(pid, 'mountinfo')] as const)
    .filter((both) => both.some((text) => text.includes(folder)))
    .map(([command]) => command);
}

const processes = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

/** Returns nothing of a process that has ended. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the memory of a process in MB: what it uses now (`VmRSS`), or the most that it ever used (`VmHWM`). */
export function memoryMb(pid: number | undefined, figure: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const [, kb] = new RegExp(`^${figure}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}
