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

/** A changed file with its contents before and after. Passed to a thread, a Buffer arrives as a Uint8Array. */
export interface Sides {
  change: Change;
  old: Uint8Array;
  new: Uint8Array;
}

/** Lines shown of one file. The rest is left out and the file is marked as truncated. */
const maxLines = 3000;
/** Files with more bytes are shown as binary: their diff would be too long to read. */
export const maxTextBytes = 2_000_000;
/**
 * A deleted and an added file count as a rename when they share at least this fraction of their lines. This is git's
 * default threshold.
 */
const renameSimilarity = 0.5;
export const maxRenameCandidates = 50;
/** Characters shown of all files together, because a line may be as long as its file. */
const maxShown = 4_000_000;
/** Time limits for comparing one file and for comparing all of them. A file that exceeds them is shown as truncated. */
const fileMs = 2000;
const allMs = 10_000;

/** Compares each file line by line and pairs renames. Blocks its thread for up to ten seconds. */
export function diffFiles(sides: Sides[]): FileDiff[] {
  const budget = new Budget();
  return pairRenames(sides, budget.endsAt).map((side) => fileDiff(side, budget));
}

/** Returns a file that is marked as changed but shown without its lines. */
export function truncatedFile(change: Change): FileDiff {
  return { ...withoutHunks(change, undefined), truncated: true };
}

/** The time and the characters that are left for all files. */
class Budget {
  readonly endsAt = performance.now() + allMs;
  #characters = maxShown;

  /** Returns the milliseconds left for the next file; zero or less when the time is used up. */
  get fileMs(): number {
    return Math.min(fileMs, this.endsAt - performance.now());
  }

  /**
   * Returns the first of these lines that fit into the remaining characters. After a line that does not fit, returns no
   * more.
   */
  take(lines: string[]): string[] {
    const taken: string[] = [];
    for (const line of lines) {
      if (line.length > this.#characters) {
        this.#characters = 0;
        break;
      }
      this.#characters -= line.length;
      taken.push(line);
    }
    return taken;
  }
}

type Paired = Sides & { previousPath?: string };

function withoutHunks(change: Change, previousPath: string | undefined): FileDiff {
  const renamed = previousPath === undefined ? {} : { previousPath };
  const status = statusOf(change, previousPath);
  return { path: change.path, ...renamed, status, additions: 0, deletions: 0, hunks: [] };
}

function fileDiff(side: Paired, budget: Budget): FileDiff {
  const file = withoutHunks(side.change, side.previousPath);
  if (isBinary(side.old) || isBinary(side.new)) return { ...file, binary: true };
  const hunks = hunksOf(side, budget.fileMs);
  if (hunks === undefined) return { ...file, truncated: true };
  const countOf = (sign: string) =>
    hunks.reduce((count, { lines }) => count + lines.filter((line) => line.startsWith(sign)).length, 0);
  return { ...file, additions: countOf('+'), deletions: countOf('-'), ...shownOf(hunks, budget) };
}

/** Returns all hunks of a file, or undefined when the comparison would take longer than `ms`. */
function hunksOf(side: Sides, ms: number): Hunk[] | undefined {
  if (ms <= 0) return undefined;
  const options = { context: 3, timeout: ms };
  return structuredPatch('', '', textOf(side.old), textOf(side.new), '', '', options)?.hunks;
}

/** Returns the part of the hunks that fits the limits. */
function shownOf(hunks: Hunk[], budget: Budget): Pick<FileDiff, 'hunks' | 'truncated'> {
  const shown: Hunk[] = [];
  let lines = 0;
  let isCut = false;
  for (const { oldStart, oldLines, newStart, newLines, lines: all } of hunks) {
    // The diff format adds "\ No newline at end of file". It is not a line of the file.
    const own = all.filter((line) => !line.startsWith('\\'));
    const kept = budget.take(own.slice(0, maxLines - lines));
    lines += kept.length;
    isCut ||= kept.length < own.length;
    if (kept.length > 0) shown.push({ oldStart, oldLines, newStart, newLines, lines: kept });
  }
  return { hunks: shown, ...(isCut ? { truncated: true } : {}) };
}

function statusOf(change: Change, previousPath: string | undefined): FileDiff['status'] {
  if (previousPath !== undefined) return 'renamed';
  if (change.oldMode === '000000') return 'added';
  return change.newMode === '000000' ? 'deleted' : 'modified';
}

/**
 * Returns whether a file is shown without its lines: it is too large, or has a NUL byte near the beginning (git's
 * test).
 */
export function isBinary(content: Uint8Array): boolean {
  return content.length > maxTextBytes || content.subarray(0, 8000).includes(0);
}

/** Joins a deleted and an added file with similar contents into one renamed file. */
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

/** Returns the deleted file that is most similar to an added one, or undefined when none is similar enough. */
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

/** Returns the fraction of their lines that two files share, from 0 to 1. */
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
