import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Removes a folder that somebody hostile may have filled. `rm` walks by file descriptors, so it follows no link and copes
 * with paths longer than the system takes in one piece, where Node's own `rm` gives up.
 */
export async function removeTree(folder: string): Promise<void> {
  await promisify(execFile)('rm', ['-rf', '--', folder], { env: { PATH: '/usr/bin:/bin' } });
}
