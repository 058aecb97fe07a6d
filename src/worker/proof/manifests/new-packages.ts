import { blobsOf } from '../../../git/diff.ts';
import type { Change, Checkout } from '../../../git/engine.ts';
import { inPortions } from '../../../git/work-tree/tree-files.ts';
import { judging, unlessTooSlow } from '../contents.ts';

/** Files that make several packages of a repository a workspace, in which each can import the others by their names. */
const workspace = /(^|\/)(pnpm-workspace\.yaml|lerna\.json|rush\.json)$/;
const manifest = /(^|\/)(package|deno)\.jsonc?$/;
const lock = /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lock|deno\.lock)$/;
/** The most manifests and lock files of the base that are read, those nearest to the root first. */
const [maxManifests, maxLocks] = [50, 5];
const [maxBytes, maxLockBytes] = [200_000, 5_000_000];

/** The files of the base. */
export type Files = Map<string, { mode: string; oid: string }>;

/**
 * Finds the new packages of a workspace whose names the base may already use, such as that of a library on which a test
 * runner depends: package managers link them in its place.
 */
export async function packagesInPlaceOfOthers(checkout: Checkout, files: Files, added: Change[]): Promise<string[]> {
  const packages = added.filter(({ path }) => manifest.test(path));
  if (packages.length === 0) return [];
  const all = packages.map(({ path }) => path);
  const contents = await blobsOf(checkout, packages, 'new', maxBytes);
  const texts = packages.map(({ path, newOid }): [string, Buffer] => [path, contents.get(newOid) ?? Buffer.alloc(0)]);
  const manifests = await read(checkout, (await nearest(files, manifest)).slice(0, maxManifests), maxBytes);
  const isWorkspace =
    (await nearest(files, workspace)).length > 0 || manifests.some((text) => text.includes('"workspace'));
  if (!isWorkspace) return [];
  const paths = await nearest(files, lock);
  const locks = await read(checkout, paths.slice(0, maxLocks), maxLockBytes);
  const areRead = locks.length === paths.length;
  const taken = judging.call('packagesInPlaceOfOthers', texts, manifests, areRead ? locks : undefined);
  return unlessTooSlow(taken, all);
}

/** Returns the ids of files with such names, those nearest to the root first. */
async function nearest(files: Files, name: RegExp): Promise<string[]> {
  const byDepth: string[][] = [];
  await inPortions(files, ([path, { mode, oid }]) => {
    if (!mode.startsWith('100') || !name.test(path)) return;
    const depth = path.split('/').length;
    byDepth[depth] ??= [];
    byDepth[depth].push(oid);
  });
  return byDepth.flat();
}

async function read(checkout: Checkout, oids: string[], most: number): Promise<Buffer[]> {
  const contents = await checkout.readBlobs([...new Set(oids)], most);
  return oids.flatMap((oid) => contents.get(oid) ?? []);
}
