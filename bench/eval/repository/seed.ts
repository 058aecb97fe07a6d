import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gitIn } from '../../../demo/github/git/git-objects.ts';
import type { Files } from '../tasks/task.ts';
import { writeFiles } from './file-tree.ts';

const person = ['-c', 'user.name=Evaluation', '-c', 'user.email=evaluation@example.com'];

/** Creates a bare repository whose branch `main` has one commit with these files. */
export async function seedRepository(bare: string, files: Files): Promise<void> {
  await mkdir(bare, { recursive: true });
  await gitIn(bare, ['init', '--quiet', '--bare', '--initial-branch=main']);
  await gitIn(bare, ['config', 'uploadpack.allowAnySHA1InWant', 'true']);
  const work = await mkdtemp(`${bare}-seed-`);
  try {
    await writeFiles(work, files);
    const inWork = (args: string[]) => gitIn(work, [...person, `--git-dir=${bare}`, `--work-tree=${work}`, ...args]);
    await inWork(['config', 'core.autocrlf', 'false']);
    await inWork(['add', '--all', '--force', '.']);
    await inWork(['commit', '--quiet', '--message', 'Begin']);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Writes the files of a branch into a new folder in `root`, and returns the folder. */
export async function checkOut(bare: string, branch: string, root: string): Promise<string> {
  const folder = await mkdtemp(join(root, 'result-'));
  await gitIn(bare, [`--work-tree=${folder}`, 'read-tree', branch]);
  // Not `git archive`, which leaves out what the branch's own .gitattributes tell it to.
  await gitIn(bare, [`--work-tree=${folder}`, 'checkout-index', '--all', '--force']);
  return folder;
}
