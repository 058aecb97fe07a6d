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

/** A changed file with its contents. Bytes arrive in a thread as bare arrays. */
export interface Sides {
  change: Change;
  old: Uint8Array;
  new: Uint8Array;
}

/** Lines shown of one file; limit of decisions, section 5. */
const maxLines = 3000;
/** Beyond this many bytes a file is shown as binary: no one reads such a diff. */
export const maxTextBytes = 2_000_000;
/** Share of equal lines from which a deleted and an added file are one renamed file; git's own threshold. */
const renameSimilarity = 0.5;
export const maxRenameCandidates = 50;
/** Characters shown of all files together; a line may be as long as its file. */
const maxShown = 4_000_000;
/** What takes longer is shown as truncated: one file, and all of them. */
const fileMs = 2000;
const allMs = 10_000;

/** What changed in each file, line by line, renames paired. Computes for up to ten seconds without a pause. */
export function diffFiles(sides: Sides[]): FileDiff[] {
  const left = { endsAt: performance.now() + allMs, characters: maxShown };
  return pairRenames(sides, left.endsAt).map((side) => fileDiff(side, left));
}

/** A file of which nothing is shown but that it changed. */
export function truncatedFile(change: Change): FileDiff {
  return {
    path: change.path,
    status: statusOf(change, undefined),
    additions: 0,
    deletions: 0,
    hunks: [],
    truncated: true,
  };
}

type Paired = Sides & { previousPath?: string };

function fileDiff(
  { change, old, new: now, previousPath }: Paired,
  left: { endsAt: number; characters: number },
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
  const leftMs = left.endsAt - performance.now();
  const patch =
    leftMs > 0
      ? structuredPatch('', '', textOf(old), textOf(now), '', '', { context: 3, timeout: Math.min(fileMs, leftMs) })
      : undefined;
  if (patch === undefined) return { ...file, truncated: true };
  let lines = 0;
  for (const hunk of patch.hunks) {
    file.additions += hunk.lines.filter((l) => l.startsWith('+')).length;
    file.deletions += hunk.lines.filter((l) => l.startsWith('-')).length;
    if (lines >= maxLines || left.characters <= 0) file.truncated = true;
    else {
      const { oldStart, oldLines, newStart, newLines } = hunk;
      const kept = shownOf(hunk.lines, maxLines - lines, left);
      if (kept.isCut) file.truncated = true;
      lines += kept.lines.length;
      if (kept.lines.length > 0) file.hunks.push({ oldStart, oldLines, newStart, newLines, lines: kept.lines });
    }
  }
  return file;
}

function shownOf(lines: string[], most: number, left: { characters: number }): { lines: string[]; isCut: boolean } {
  // "\\ No newline at end of file" is a remark of the format and no line of the file.
  const own = lines.filter((line) => !line.startsWith('\\'));
  const shown: string[] = [];
  for (const line of own.slice(0, most)) {
    if (line.length > left.characters) {
      left.characters = 0;
      break;
    }
    left.characters -= line.length;
    shown.push(line);
  }
  return { lines: shown, isCut: shown.length < own.length };
}

function statusOf(change: Change, previousPath: string | undefined): FileDiff['status'] {
  if (previousPath !== undefined) return 'renamed';
  if (change.oldMode === '000000') return 'added';
  return change.newMode === '000000' ? 'deleted' : 'modified';
}

export function isBinary(content: Uint8Array): boolean {
  return content.length > maxTextBytes || content.subarray(0, 8000).includes(0);
}

/** Puts a deleted and an added file of like content together. */
function pairRenames(sides: Sides[], endsAt: number): Paired[] {
  const gone = new Set(sides.filter((s) => s.change.newMode === '000000').slice(0, maxRenameCandidates));
  const result: Paired[] = [];
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

function similarity(a: Uint8Array, b: Uint8Array): number {
  if (a.length === 0 || b.length === 0 || isBinary(a) || isBinary(b)) return 0;
  const count = new Map<string, number>();
  for (const line of textOf(a).split('\n')) count.set(line, (count.get(line) ?? 0) + 1);
  let common = 0;
  for (const line of textOf(b).split('\n')) {
    const left = count.get(line) ?? 0;
    if (left === 0) continue;
    count.set(line, left - 1);
    common += line.length + 1;
  }
  return common / Math.max(a.length, b.length);
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}
