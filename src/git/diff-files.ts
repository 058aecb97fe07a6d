import { structuredPatch } from 'diff';
import type { Change } from './engine.ts';

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

/** A changed file with its contents. */
export interface Sides {
  change: Change;
  old: Buffer;
  new: Buffer;
}

/** Lines shown of one file; limit of decisions, section 5. */
const maxLines = 3000;
/** Beyond this many bytes a file is shown as binary: no one reads such a diff. */
export const maxTextBytes = 2_000_000;
/** Share of equal lines from which a deleted and an added file are one renamed file; git's own threshold. */
const renameSimilarity = 0.5;
export const maxRenameCandidates = 50;
/** What takes longer is shown as truncated: one file, and all of them. */
const fileMs = 2000;
const allMs = 10_000;

/** What changed in each file, line by line, renames paired. Computes for up to ten seconds without a pause. */
export function diffFiles(sides: Sides[]): FileDiff[] {
  const endsAt = performance.now() + allMs;
  return pairRenames(sides, endsAt).map((side) => fileDiff(side, endsAt));
}

function fileDiff(
  { change, old, new: now, previousPath }: Sides & { previousPath?: string },
  endsAt: number,
): FileDiff {
  const file: FileDiff = {
    path: change.path,
    status: statusOf(change, previousPath),
    additions: 0,
    deletions: 0,
    hunks: [],
  };
  if (previousPath !== undefined) file.previousPath = previousPath;
  if (isBinary(old) || isBinary(now)) return { ...file, binary: true };
  const leftMs = endsAt - performance.now();
  const patch =
    leftMs > 0
      ? structuredPatch('', '', old.toString('utf8'), now.toString('utf8'), '', '', {
          context: 3,
          timeout: Math.min(fileMs, leftMs),
        })
      : undefined;
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
function pairRenames(sides: Sides[], endsAt: number): (Sides & { previousPath?: string })[] {
  const gone = new Set(sides.filter((s) => s.change.newMode === '000000').slice(0, maxRenameCandidates));
  const result: (Sides & { previousPath?: string })[] = [];
  for (const side of sides) {
    const source = side.change.oldMode === '000000' ? mostAlike(side, gone, endsAt) : undefined;
    if (source === undefined) result.push(side);
    else {
      gone.delete(source);
      result.push({ ...side, old: source.old, previousPath: source.change.path });
    }
  }
  const taken = new Set(result.map((r) => r.previousPath));
  return result.filter((r) => r.change.newMode !== '000000' || !taken.has(r.change.path));
}

function mostAlike(added: Sides, gone: Set<Sides>, endsAt: number): Sides | undefined {
  let best: Sides | undefined;
  let most = renameSimilarity;
  for (const candidate of gone) {
    if (performance.now() > endsAt) return best;
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
