import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The result of a command. `code` is null when it was stopped, because its time was up. */
export interface CommandResult {
  code: number | null;
  output: string;
}

/** Characters of output that are kept. */
const maxOutput = 100_000;
const node = process.execPath;
const nodeInside = node.startsWith('/usr/') ? node : '/opt/node/bin/node';

/**
 * Runs a shell command in a folder, which is all it can write to: without network except its own loopback, without
 * the environment and the files of this machine. The code may come from a model.
 */
export async function runIsolated(folder: string, command: string, seconds: number): Promise<CommandResult> {
  const home = await mkdtemp(join(tmpdir(), 'deckhand-eval-home-'));
  await chmod(home, 0o777);
  const limits = ['prlimit', '--core=0', '--fsize=268435456', '--data=4294967296', '--'];
  const args = [...wall(folder, home), ...limits, 'sh', '-c', command];
  const child = spawn('bwrap', args, { stdio: ['ignore', 'pipe', 'pipe'], env: {}, cwd: '/' });
  let output = '';
  let isLate = false;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-maxOutput);
    });
  // bubblewrap ends everything inside when it ends.
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, seconds * 1000);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { code: isLate ? null : (code ?? 128), output };
  } catch (error) {
    throw new Error(
      `bubblewrap could not be started; install it with: apt-get install bubblewrap (${(error as Error).message})`,
    );
  } finally {
    clearTimeout(timer);
    await rm(home, { recursive: true, force: true });
  }
}

function wall(folder: string, home: string): string[] {
  return [
    ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'evaluation'],
    ...['--ro-bind', '/usr', '/usr'],
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['/etc/alternatives', '/etc/ld.so.cache'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--proc', '/proc', '--dev', '/dev', '--bind', home, '/tmp'],
    ...(nodeInside === node ? [] : ['--ro-bind', node, nodeInside]),
    ...['--bind', folder, '/work', '--chdir', '/work', '--clearenv'],
    ...['--setenv', 'PATH', `${dirname(nodeInside)}:/usr/local/bin:/usr/bin:/bin`],
    ...['--setenv', 'HOME', '/tmp', '--setenv', 'LANG', 'C.UTF-8', '--setenv', 'CI', 'true'],
  ];
}

/** Returns which of these programs do not exist where commands run. */
export async function missingPrograms(names: string[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-eval-programs-'));
  try {
    const ask = [...new Set(names)].map((name) => `command -v ${name} > /dev/null || echo ${name}`).join('\n');
    return (await runIsolated(folder, ask, 30)).output.split('\n').filter((name) => name !== '');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
