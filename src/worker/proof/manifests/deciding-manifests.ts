import { mayDecide } from '../../../domain/proof/manifests.ts';
import { blobsOf } from '../../../git/diff.ts';
import type { Change, Checkout } from '../../../git/engine.ts';
import { foldersOf } from '../../../git/work-tree/tree-files.ts';
import { batchesOf, judging, unlessTooSlow } from '../contents.ts';
import { type Files, packagesInPlaceOfOthers } from './new-packages.ts';

interface Given {
  checkout: Checkout;
  files: Files;
  changes: Change[];
  /** Whether the checks are known to run nothing but what their commands name. */
  isClosed: boolean;
  /** The checks of the repository, and the commands before them. */
  checks: string[];
  others: string[];
  /** All of these with the scripts that they run. */
  known: string[];
}

/** A larger manifest, or one after so many, is assumed to decide how tests run. */
const maxBytes = 200_000;
const maxManifests = 50;
/** Manifests that a thread compares at once. Each has two sides. */
const comparedAtOnce = 10;
/** The mode of a file that does not exist on one side of a change. */
const absent = '000000';

/** Finds the changed manifests whose parts about tests changed, such as the scripts of package.json. */
export async function decidingManifests(given: Given): Promise<Set<string>> {
  const { checkout, files, changes, isClosed, checks, others, known } = given;
  const words = new Set(known.flatMap((command) => command.split(/[^\w.@/-]+/)));
  const around = { words, ...(isClosed ? { commands: [...checks, ...others] } : {}) };
  const all = changes.filter(({ path }) => mayDecide(path));
  const isNewFolder = await newFoldersOf(files);
  const deciding = all.slice(maxManifests).map(({ path }) => path);
  for (const some of batchesOf(all.slice(0, maxManifests), comparedAtOnce)) {
    const before = await blobsOf(checkout, some, 'old', maxBytes);
    const after = await blobsOf(checkout, some, 'new', maxBytes);
    const isRead = ({ oldMode, oldOid, newMode, newOid }: Change) =>
      (oldMode === absent || before.has(oldOid)) && (newMode === absent || after.has(newOid));
    const read = some.filter(isRead).map(({ path, oldMode, oldOid, newOid }) => ({
      path,
      ...{ old: before.get(oldOid), now: after.get(newOid) },
      isNewFolder: oldMode === absent && isNewFolder(path),
    }));
    const paths = some.map(({ path }) => path);
    const differing = await unlessTooSlow(judging.call('differingManifests', read, around), paths);
    deciding.push(...differing, ...some.filter((change) => !isRead(change)).map(({ path }) => path));
  }
  const found = new Set(deciding);
  const left = all.filter(({ path, oldMode }) => oldMode === absent && !found.has(path));
  return new Set([...found, ...(await packagesInPlaceOfOthers(checkout, files, left))]);
}

/** Folders of data for tests, whose manifests are no part of the project. */
const fixtures = /(^|\/)(fixtures|__fixtures__|testdata)\//;

/** Returns a function that says whether the base has no file in the folder of a path, or only data for tests. */
async function newFoldersOf(files: Files): Promise<(path: string) => boolean> {
  const folders = await foldersOf(files);
  return (path) => {
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    return fixtures.test(folder) || !(folder === '' ? files.size > 0 : folders.has(folder.slice(0, -1)));
  };
}
