import { spawn } from 'node:child_process';
import { cleanEnvironment } from './run-git.ts';

/**
 * Asks git which paths a work tree's .gitignore files name. `check-ignore` reads those files and runs nothing; with an
 * index that does not exist it knows of no submodule to enter.
 */
export function ignoreRules(gitDir: string, workTree: string): { ask(path: string): Promise<boolean>; close(): void } {
  const args = [
    `--git-dir=${gitDir}`,
    `--work-tree=${workTree}`,
    'check-ignore',
    '--no-index',
    '-z',
    '--stdin',
    '-v',
    '-n',
  ];
  const env = { ...cleanEnvironment(undefined), GIT_INDEX_FILE: `${gitDir}/no-such-index` };
  const child = spawn('git', args, { cwd: workTree, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting: ((isIgnored: boolean) => void)[] = [];
  let rest = '';
  child.stdin.on('error', () => {});
  // Each answer is source, line, pattern and path, each ended by NUL; no pattern means not ignored, `!` un-ignored.
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\0');
    while (parts.length > 4) {
      const [, , pattern = ''] = parts.splice(0, 4);
      waiting.shift()?.(pattern !== '' && !pattern.startsWith('!'));
    }
    rest = parts.join('\0');
  });
  child.once('close', () => {
    for (const answer of waiting.splice(0)) answer(false);
  });
  return {
    ask: (path) =>
      new Promise((resolve) => {
        if (child.exitCode !== null) return resolve(false);
        waiting.push(resolve);
        child.stdin.write(`${path}\0`);
      }),
    close: () => child.kill('SIGKILL'),
  };
}
