import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Removes a folder that an agent may have filled with arbitrary files. `rm` walks by file descriptors: it follows no
 * links and handles paths longer than the system's limit, on which Node's own `rm` fails.
 */
export async function removeTree(folder: string): Promise<void> {
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(program, [...args, '--', folder], { env: { PATH: '/usr/bin:/bin' } });
  // A command may have removed permissions, which stops every user but root. `chmod -R` does not follow links either.
  await run('rm', '-rf').catch(async () => {
    await run('chmod', '-R', 'u+rwx').catch(() => {});
    await run('rm', '-rf');
  });
}
