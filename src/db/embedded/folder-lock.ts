import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';

/**
 * Locks a folder for this process. Returns undefined while another process, or another part of this one, holds the
 * lock. The lock is an abstract unix socket: it disappears when its holder ends for any reason, and it needs no pid,
 * which the kernel could reuse. Its name contains the folder's inode, because two containers on the host's network may
 * mount different folders at the same path.
 */
export async function holdFolder(folder: string): Promise<(() => Promise<void>) | undefined> {
  const { dev, ino } = await stat(folder);
  const holder = createServer((asked) => asked.destroy()).unref();
  return new Promise((resolve, reject) => {
    holder.once('error', (error: Error & { code?: string }) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    holder.listen(`\0deckhand-database-${dev}-${ino}`, () =>
      resolve(() => new Promise<void>((released) => void holder.close(() => released()))),
    );
  });
}
