import { Worker } from 'node:worker_threads';
import { diffFiles, type FileDiff, maxRenameCandidates, maxTextBytes, type Sides } from './diff-files.ts';
import type { Change, Checkout } from './engine.ts';

export interface TreeDiff {
  files: FileDiff[];
  truncated: boolean;
}

/** Limit of decisions, section 5. */
const maxFiles = 300;
/** So many lines are compared in tens of milliseconds; a thread takes a hundred to start. */
const maxLinesHere = 2000;

/** The difference of two commits as the API shows it; the same for every git engine. */
export async function diffOf(checkout: Checkout, base: string, head: string): Promise<TreeDiff> {
  const changes = await checkout.changes(base, head);
  const looked = changes.slice(0, maxFiles + maxRenameCandidates);
  const before = await blobsOf(checkout, looked, 'old', maxTextBytes);
  const after = await blobsOf(checkout, looked, 'new', maxTextBytes);
  const sides = looked.map((change) => ({
    change,
    old: contentOf(before, change.oldMode, change.oldOid),
    new: contentOf(after, change.newMode, change.newOid),
  }));
  const files = countLines(sides) > maxLinesHere ? await inThread(sides) : diffFiles(sides);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: files.slice(0, maxFiles), truncated: files.length > maxFiles || changes.length > sides.length };
}

/** The contents before or after some changes; without submodules, and without files of more than so many bytes. */
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

/** Stands for what is too large to be read: it is shown like a binary file. */
const unread = Buffer.of(0);

function contentOf(blobs: Map<string, Buffer>, mode: string, oid: string): Buffer {
  if (mode === '000000') return Buffer.alloc(0);
  // A submodule has no content of its own; git shows its commit as one line.
  if (mode === '160000') return Buffer.from(`Subproject commit ${oid}\n`);
  return blobs.get(oid) ?? unread;
}

function countLines(sides: Sides[]): number {
  let lines = 0;
  for (const content of sides.flatMap((side) => [side.old, side.new]))
    for (let at = content.indexOf(10); at >= 0 && lines <= maxLinesHere; at = content.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** Many rewritten files take seconds, in which the service would answer nobody and lose the leases of its runs. */
function inThread(sides: Sides[]): Promise<FileDiff[]> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./diff-thread.ts', import.meta.url), { workerData: sides, env: {} });
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', (code) => reject(new Error(`the thread that computes diffs ended with ${code}`)));
  });
}
