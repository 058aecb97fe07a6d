import { readdirSync, readFileSync } from 'node:fs';

/** Returns the command lines of this machine's processes that have a text in their arguments. */
export function commandsWith(text: string): string[] {
  return processes()
    .map((pid) => read(pid, 'cmdline'))
    .filter((command) => command.includes(text));
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
