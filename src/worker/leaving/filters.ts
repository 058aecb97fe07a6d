import { setImmediate } from 'node:timers/promises';
import { filterLines, filterMacros, isLfsLine } from '../../domain/protected/ci-files.ts';
import { isAttributesFile } from '../../domain/protected/protected-paths.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import { inPortions } from '../../git/work-tree/tree-files.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import type { Branch } from '../workspace/workspace.ts';

/** Parsing this many bytes takes 20 ms at most. A change to a larger file counts as a change of its filters. */
const maxAttributesBytes = 200_000;
/** A repository with more .gitattributes files than this, or more bytes in them than below, gets no exception for Git LFS. */
const maxAttributesFiles = 500;
/** Changes of so many .gitattributes files, and of so many bytes in them, are read. Those of any others count as filters. */
const [maxChangedFiles, maxChangedBytes] = [200, 4_000_000];
/** Contents that are in memory at a time. */
const filesAtATime = 10;

/** From which commits a change comes, and the tree that it leads to. */
export interface Origin extends Pick<Branch, 'from' | 'base' | 'conflicts'> {
  tree: string;
}

/**
 * Finds the .gitattributes files whose lines about filters changed. Lines that only assign files to Git LFS, or take them
 * out, do not count where the settings use Git LFS and no other filter is in use: such a line could turn off the filter of
 * another one, which may encrypt files.
 */
export async function changedFilters(
  checkout: Checkout,
  origin: Origin,
  changes: Change[],
  settings: Pick<RepositorySettings, 'checkout'>,
): Promise<Set<string>> {
  const touched = changes.filter(({ path }) => isAttributesFile(path));
  if (touched.length === 0) return new Set();
  const root = await checkout.readFile(origin.from, '.gitattributes');
  if (root === 'too large' || (root?.length ?? 0) > maxAttributesBytes) return new Set(touched.map(({ path }) => path));
  const macros = filterMacros(root?.toString('latin1') ?? '');
  const counts = settings.checkout.lfs && (await hasOnlyLfs(checkout, origin.tree)) ? isNotLfs : () => true;
  let bytes = 0;
  const linesOf = (content: Buffer | undefined) => {
    bytes += content?.length ?? 0;
    return content && filterLines(content.toString('latin1'), macros).filter(counts).join('\n');
  };
  const found = new Set<string>();
  for (const [i, change] of touched.entries()) {
    if (i >= maxChangedFiles || bytes > maxChangedBytes) {
      found.add(change.path);
      continue;
    }
    const now = linesOf(await contentOf(checkout, change, 'new'));
    const isSame = now !== undefined && now === linesOf(await contentOf(checkout, change, 'old'));
    if (!isSame && !(await isAsOnBase(checkout, origin, change.path, (base) => linesOf(base) === now)))
      found.add(change.path);
    await setImmediate();
  }
  return found;
}

const isNotLfs = (line: string) => !isLfsLine(line);

/** Returns whether all lines about filters in a tree are about Git LFS. */
async function hasOnlyLfs(checkout: Checkout, tree: string): Promise<boolean> {
  const oids = new Set<string>();
  await inPortions(await checkout.files(tree), ([path, { oid }]) => {
    if (isAttributesFile(path)) oids.add(oid);
  });
  if (oids.size > maxAttributesFiles) return false;
  const all = [...oids];
  let bytes = 0;
  for (let from = 0; from < all.length; from += filesAtATime) {
    const some = all.slice(from, from + filesAtATime);
    const contents = await checkout.readBlobs(some, maxAttributesBytes);
    if (contents.size < some.length) return false;
    for (const content of contents.values()) {
      bytes += content.length;
      if (bytes > maxChangedBytes || filterLines(content.toString('latin1')).some(isNotLfs)) return false;
      await setImmediate();
    }
  }
  return true;
}

/**
 * Returns whether a merge takes a file's filters from the base branch. `isSame` compares them with the base version.
 */
async function isAsOnBase(checkout: Checkout, branch: Origin, path: string, isSame: (base: Buffer) => boolean) {
  if (branch.conflicts === undefined) return false;
  const base = (await checkout.readFile(branch.base, path)) ?? Buffer.alloc(0);
  return base !== 'too large' && base.length <= maxAttributesBytes && isSame(base);
}

/** Reads a file's old or new contents. Returns undefined for a file that is too large to parse. */
async function contentOf(checkout: Checkout, change: Change, side: 'old' | 'new'): Promise<Buffer | undefined> {
  const [mode, oid] = side === 'old' ? [change.oldMode, change.oldOid] : [change.newMode, change.newOid];
  if (mode === '000000') return Buffer.alloc(0);
  return (await blobsOf(checkout, [change], side, maxAttributesBytes)).get(oid);
}
