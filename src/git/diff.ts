import { structuredPatch } from 'diff';
import type { Change, Checkout } from './engine.ts';

export interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** Each begins with a space, `+` or `-`. */
  lines: string[];
}

export interface FileDiff {
  path: string;
  previousPath?: string;
  status: 'added' | 'modified' | 'deleted' | 'renamed';
  additions: number;
  deletions: number;
  hunks: Hunk[];
  binary?: boolean;
  truncated?: boolean;
}

export interface TreeDiff {
  files: FileDiff[];
  truncated: boolean;
}

/** Limits of decisions, section 5. */
const maxFiles = 300;
const maxLines = 3000;
/** Beyond this many bytes a file is shown as binary: no one reads such a diff, and computing it would stall the process. */
const maxTextBytes = 2_000_000;
/** Share of equal lines from which a deleted and an added file are one renamed file; git's own threshold. */
const renameSimilarity = 0.5;
const maxRenameCandidates = 50;

interface Sides {
  change: Change;
  old: Buffer;
  new: Buffer;
}

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
  const files = pairRenames(sides).map(fileDiff);
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

function fileDiff({ change, old, new: now, previousPath }: Sides & { previousPath?: string }): FileDiff {
  const file: FileDiff = {
    path: change.path,
    status: statusOf(change, previousPath),
    additions: 0,
    deletions: 0,
    hunks: [],
  };
  if (previousPath !== undefined) file.previousPath = previousPath;
  if (isBinary(old) || isBinary(now)) return { ...file, binary: true };
  const patch = structuredPatch('', '', old.toString('utf8'), now.toString('utf8'), '', '', {
    context: 3,
    timeout: 2000,
  });
  if (patch === undefined) return { ...file, truncated: true };
  let lines = 0;
  for (const hunk of patch.hunks) {
    file.additions += hunk.lines.filter((l) => l.startsWith('+')).length;
    file.deletions += hunk.lines.filter((l) => l.startsWith('-')).length;
    if (lines >= maxLines) file.truncated = true;
    else {
      const { oldStart, oldLines, newStart, newLines } = hunk;
      // "\\ No newline at end of file" is a remark of the format and no line of the file.
      const own = hunk.lines.filter((l) => !l.startsWith('\\'));
      const kept = own.slice(0, maxLines - lines);
      if (kept.length < own.length) file.truncated = true;
      lines += kept.length;
      file.hunks.push({ oldStart, oldLines, newStart, newLines, lines: kept });
    }
  }
  return file;
}

function statusOf(change: Change, previousPath: string | undefined): FileDiff['status'] {
  if (previousPath !== undefined) return 'renamed';
  if (change.oldMode === '000000') return 'added';
  return change.newMode === '000000' ? 'deleted' : 'modified';
}

export function isBinary(content: Buffer): boolean {
  return content.length > maxTextBytes || content.subarray(0, 8000).includes(0);
}

/** Puts a deleted and an added file of like content together. */
function pairRenames(sides: Sides[]): (Sides & { previousPath?: string })[] {
  const gone = new Set(sides.filter((s) => s.change.newMode === '000000').slice(0, maxRenameCandidates));
  const result: (Sides & { previousPath?: string })[] = [];
  for (const side of sides) {
    const source = side.change.oldMode === '000000' ? mostAlike(side, gone) : undefined;
    if (source === undefined) result.push(side);
    else {
      gone.delete(source);
      result.push({ ...side, old: source.old, previousPath: source.change.path });
    }
  }
  const taken = new Set(result.map((r) => r.previousPath));
  return result.filter((r) => r.change.newMode !== '000000' || !taken.has(r.change.path));
}

function mostAlike(added: Sides, gone: Set<Sides>): Sides | undefined {
  let best: Sides | undefined;
  let most = renameSimilarity;
  for (const candidate of gone) {
    const share = candidate.change.oldOid === added.change.newOid ? 1 : similarity(candidate.old, added.new);
    if (share >= most && (share > most || best === undefined)) [best, most] = [candidate, share];
  }
  return best;
}

function similarity(a: Buffer, b: Buffer): number {
  if (a.length === 0 || b.length === 0 || isBinary(a) || isBinary(b)) return 0;
  const count = new Map<string, number>();
  for (const line of a.toString('utf8').split('\n')) count.set(line, (count.get(line) ?? 0) + 1);
  let common = 0;
  for (const line of b.toString('utf8').split('\n')) {
    const left = count.get(line) ?? 0;
    if (left === 0) continue;
    count.set(line, left - 1);
    common += line.length + 1;
  }
  return common / Math.max(a.length, b.length);
}
