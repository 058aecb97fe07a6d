import type { FileDiff } from '../../api.ts';

/** A file with more changed lines than this starts folded. */
const maxLinesOfFile = 400;
/** After this many changed lines in all, the remaining files start folded. */
const maxLinesInAll = 3000;

export function sumOf(files: FileDiff[], count: 'additions' | 'deletions'): number {
  return files.reduce((sum, file) => sum + file[count], 0);
}

const linesOf = (files: FileDiff[]) => sumOf(files, 'additions') + sumOf(files, 'deletions');

/** Returns whether the file at an index starts folded, so that a large diff does not slow down the page. */
export function isFoldedAt(files: FileDiff[], index: number): boolean {
  return linesOf(files.slice(index, index + 1)) > maxLinesOfFile || linesOf(files.slice(0, index + 1)) > maxLinesInAll;
}
