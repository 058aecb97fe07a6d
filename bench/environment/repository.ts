import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const person = ['-c', 'user.name=T', '-c', 'user.email=t@example.com'];

/** Creates a bare repository in a new folder. Its first commit has these files. */
export async function repositoryWith(files: Record<string, string>, folder: string): Promise<string> {
  const [bare, work] = [join(folder, 'bare.git'), join(folder, 'work')];
  const git = (...args: string[]) => promisify(execFile)('git', [...person, ...args], { cwd: work });
  await mkdir(work, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(work, name)), { recursive: true });
    await writeFile(join(work, name), content);
  }
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('commit', '--quiet', '--message=first');
  await git('clone', '--quiet', '--bare', work, bare);
  await git(`--git-dir=${bare}`, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  return bare;
}
