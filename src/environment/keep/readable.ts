import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Lets the service read and move everything in a folder, which it owns. Set-up may have removed its own permissions, as
 * some package caches do with their folders. Root needs none. Links are not followed.
 * @throws the reason of the signal
 */
export async function makeReadable(folder: string, signal: AbortSignal): Promise<void> {
  if (process.getuid?.() === 0) return;
  const folders = ['-type', 'd', '!', '-perm', '-700', '-exec', 'chmod', 'u+rwx', '{}', ';'];
  const files = ['-type', 'f', '!', '-perm', '-400', '-exec', 'chmod', 'u+r', '{}', '+'];
  await promisify(execFile)('find', [folder, '(', ...folders, ')', '-o', '(', ...files, ')'], {
    env: { PATH: '/usr/bin:/bin' },
    signal,
  }).catch((error) => {
    signal.throwIfAborted();
    throw error;
  });
}
