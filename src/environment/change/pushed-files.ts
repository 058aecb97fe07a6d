import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeReadable, moveInto } from '../keep/archive.ts';
import { resultsIn } from '../set-up.ts';
import type { SetupContext } from '../setup-context.ts';

/**
 * Puts a workspace back to the files of its tree after set-up of a change, with what git ignores of what set-up made: set-up
 * may have written other programs and tests over those that are pushed, and checks must judge these. As for a base, files that
 * are neither in the tree nor ignored are lost. The old workspace is left beside the new one. Call this only while no process
 * runs there.
 * @throws RunFailed `setup` when set-up left files that cannot be read
 */
export async function putBackPushedFiles(
  context: SetupContext,
  { tree, folder, work }: { tree: string; folder: string; work: string },
): Promise<void> {
  await makeReadable(folder, context.signal);
  const [made, fresh, before] = ['made', 'fresh', 'before'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const name of await resultsIn(context, work, tree)) {
    const path = name.startsWith('work/') ? name.slice('work/'.length) : undefined;
    if (path === undefined) continue;
    await mkdir(dirname(join(made, path)), { recursive: true });
    await rename(join(work, path), join(made, path));
  }
  await mkdir(made, { recursive: true });
  await mkdir(fresh, { mode: 0o755 });
  await context.checkout.export(tree, fresh);
  await moveInto(made, fresh);
  await rename(work, before);
  await rename(fresh, work);
}
