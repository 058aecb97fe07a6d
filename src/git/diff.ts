import { apart } from '../threads/apart.ts';
import { OverLimit } from '../threads/start-thread.ts';
import {
  diffFiles,
  type FileDiff,
  maxRenameCandidates,
  maxTextBytes,
  type Sides,
  truncatedFile,
} from './diff-files.ts';
import { type Change, type Checkout, GitFailed } from './engine.ts';

export interface TreeDiff {
  files: FileDiff[];
  truncated: boolean;
}

/** Files shown in one diff. The rest is left out and the diff is marked as truncated. */
const maxFiles = 300;
/** Bytes read of all files, before and after. Files beyond it are shown as truncated. */
const maxBytes = 20_000_000;
const readAtOnce = 8;
/**
 * Differences up to this size are compared on the main thread: it takes at most about 20 ms, less than starting a
 * thread.
 */
const inPlace = { lines: 400, bytes: 100_000 };

/** `diffFiles` stops after ten seconds. These limits end it for input on which that check comes too late. */
const comparing = apart<typeof import('./diff-files.ts')>(new URL('./diff-files.ts', import.meta.url), {
  seconds: 30,
  heapMb: 512,
});

/** Returns the difference between two commits in the form of the API. Both git engines give the same result. */
export async function diffOf(checkout: Checkout, base: string, head: string): Promise<TreeDiff> {
  const changes = await checkout.changes(base, head);
  const looked = changes.slice(0, maxFiles + maxRenameCandidates);
  const sides = await contentsOf(checkout, looked);
  const unread = looked.slice(sides.length).map(truncatedFile);
  const files = [...(await compare(sides)), ...unread];
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: files.slice(0, maxFiles), truncated: files.length > maxFiles || changes.length > looked.length };
}

/** Reads the contents of the changed files, in order, until `maxBytes` is reached. */
async function contentsOf(checkout: Checkout, changes: Change[]): Promise<Sides[]> {
  const sides: Sides[] = [];
  let bytes = 0;
  for (let at = 0; at < changes.length && bytes <= maxBytes; at += readAtOnce) {
    const some = changes.slice(at, at + readAtOnce);
    const before = await blobsOf(checkout, some, 'old', maxTextBytes);
    const after = await blobsOf(checkout, some, 'new', maxTextBytes);
    for (const change of some) {
      const old = contentOf(before, change.oldMode, change.oldOid);
      const now = contentOf(after, change.newMode, change.newOid);
      sides.push({ change, old, new: now });
      bytes += old.length + now.length;
    }
  }
  return sides;
}

/**
 * Compares files, large changes in a separate thread. On the main thread they would block the event loop for seconds,
 * long enough for the process to lose its leases.
 */
async function compare(sides: Sides[]): Promise<FileDiff[]> {
  if (isSmall(sides)) return diffFiles(sides);
  return comparing.call('diffFiles', sides).catch((error) => {
    if (error instanceof OverLimit) return sides.map(({ change }) => truncatedFile(change));
    throw error;
  });
}

function isSmall(sides: Sides[]): boolean {
  const contents = sides.flatMap((side) => [side.old, side.new]);
  if (contents.reduce((sum, content) => sum + content.length, 0) > inPlace.bytes) return false;
  let lines = 0;
  for (const content of contents)
    for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) lines += 1;
  return lines <= inPlace.lines;
}

/**
 * Returns file contents by object id, for the old or the new side of some changes. Leaves out submodules and files
 * larger than `maxBytes`.
 */
export function blobsOf(
  checkout: Checkout,
  changes: Change[],
  side: 'old' | 'new',
  maxBytes?: number,
): Promise<Map<string, Buffer>> {
  const sides = changes.map(
    (c) => (side === 'old' ? [c.oldMode, c.oldOid] : [c.newMode, c.newOid]) as [string, string],
  );
  const files = sides.filter(([mode]) => mode !== '000000' && mode !== '160000');
  return checkout.readBlobs([...new Set(files.map(([, oid]) => oid))], maxBytes);
}

/** Placeholder for a file that is too large to read. Its NUL byte makes the diff show it as binary. */
const unread = Buffer.of(0);

function contentOf(blobs: Map<string, Buffer>, mode: string, oid: string): Uint8Array {
  if (mode === '000000') return Buffer.alloc(0);
  // A submodule has no content. Git shows its commit as one line.
  if (mode === '160000') return Buffer.from(`Subproject commit ${oid}\n`);
  return blobs.get(oid) ?? unread;
}

/** The most bytes of a list of changes. They name about 10,000 files, more than anybody reviews. */
export const maxChangeBytes = 2_000_000;

/**
 * Returns the changes between two commits or trees; undefined if they are more than a person reviews. Strangers choose how many
 * files a pull request changes, and a few objects of git name hundreds of thousands.
 */
export async function changesIfFew(checkout: Checkout, from: string, to: string): Promise<Change[] | undefined> {
  try {
    return await checkout.changes(from, to, maxChangeBytes);
  } catch (error) {
    if (error instanceof GitFailed && error.fault === 'broken') return undefined;
    throw error;
  }
}
