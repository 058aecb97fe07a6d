import { closeSync, readdirSync, readFileSync } from 'node:fs';

const closeOnExec = 0o2000000;

/**
 * Closes what whoever started us left open: everything we start would have it open too, the sandbox's processes among
 * them. What Node opens itself is closed by the system at every start of another program. To be called first of all.
 */
export function closeInherited(): void {
  if (process.platform !== 'linux') return;
  const channel = (process as { channel?: { fd?: number } }).channel?.fd;
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd <= 2 || fd === channel) continue;
    try {
      const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '';
      if ((Number.parseInt(flags, 8) & closeOnExec) === 0) closeSync(fd);
    } catch {
      // The one that listed them is gone.
    }
  }
}
