import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Removes a folder that an agent may have filled with anything. `rm` walks by file descriptors, so it follows no link and
 * handles paths that are longer than the system accepts at once, on which Node's own `rm` fails.
 */
export async function removeTree(folder: string): Promise<void> {
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(program, [...args, '--', folder], { env: { PATH: '/usr/bin:/bin' } });
  // A command may have taken away permissions, which stops a user other than root. `chmod -R` follows no link either.
  await run('rm', '-rf').catch(async () => {
    await run('chmod', '-R', 'u+rwx').catch(() => {});
    await run('rm', '-rf');
  });
}
