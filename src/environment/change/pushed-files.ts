import { copyFile, lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../../sandbox/neutral-path.ts';
import { makeReadable, moveInto } from '../keep/archive.ts';
import { resultsIn } from '../set-up.ts';
import type { SetupContext } from '../setup-context.ts';

/**
 * Restores the files of a tree in a workspace after set-up of a change. Set-up may have overwritten programs and tests, and checks
 * must judge those that are pushed. Of the files that set-up added, it keeps those that git ignores and removes the others, as for a
 * base. The old workspace stays beside the new one. Call this only while no process runs there.
 * @throws RunFailed `setup` when set-up left files that cannot be read
 */
export async function putBackPushedFiles(
  context: Pick<SetupContext, 'checkout' | 'isOutputHidden' | 'signal'>,
  { tree, folder, work }: { tree: string; folder: string; work: string },
): Promise<void> {
  const { checkout, signal } = context;
  await makeReadable(folder, signal);
  const [made, fresh, before] = ['made', 'fresh', 'before'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(fresh, { mode: 0o755 });
  await checkout.export(tree, fresh);
  await putBackIgnoreRules(fresh, work, signal);
  for (const name of await resultsIn(context, work, tree)) {
    signal.throwIfAborted();
    const path = name.startsWith('work/') ? name.slice('work/'.length) : undefined;
    if (path === undefined) continue;
    await mkdir(dirname(join(made, path)), { recursive: true });
    await rename(join(work, path), join(made, path));
  }
  await mkdir(made, { recursive: true });
  await moveInto(made, fresh);
  await rename(work, before);
  await rename(fresh, work);
}

const rules = '.gitignore';

/**
 * Gives the folders of a workspace that `fresh` has the .gitignore files of `fresh`, and no others, so that set-up cannot
 * declare files ignored that it puts beside the pushed ones. Folders that set-up made keep their rules: a virtual
 * environment of Python ignores itself this way. Links are not followed.
 */
async function putBackIgnoreRules(fresh: string, work: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!(await isFolder(work))) return;
  await removeTree(join(work, rules));
  for (const entry of await readdir(fresh, { withFileTypes: true })) {
    const [from, to] = [join(fresh, entry.name), join(work, entry.name)];
    if (entry.isDirectory()) await putBackIgnoreRules(from, to, signal);
    else if (entry.name === rules && entry.isFile()) await copyFile(from, to);
  }
}

async function isFolder(path: string): Promise<boolean> {
  const there = await lstat(path).catch(() => undefined);
  return there?.isDirectory() ?? false;
}
