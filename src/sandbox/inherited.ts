import { closeSync, readdirSync, readFileSync } from 'node:fs';

const closeOnExec = 0o2000000;

/**
 * Closes the descriptors that the service inherited from its parent process. Otherwise every child process, even in a
 * sandbox, would inherit them too. Call it before anything else; descriptors that Node opens are not inherited.
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
      // The descriptor that was used to list the folder is already closed.
    }
  }
}
