import { type ChangedLines, rangesOf, type Side } from './changed-lines.ts';

/** How much a comment matters, the most important first. */
export const severities = ['critical', 'major', 'minor'] as const;
export type Severity = (typeof severities)[number];

/** A comment on a line, as a model writes it. */
export interface Remark {
  path: string;
  line: number;
  side: Side;
  severity: Severity;
  text: string;
  /** What would stand there instead of the line. */
  suggestion?: string | undefined;
}

/** A comment that was posted in an earlier review. */
export interface EarlierRemark extends Pick<Remark, 'path' | 'side' | 'text'> {
  /** The line as it was. */
  quote: string;
}

/** A comment that may be posted, with its line. */
export type ChosenRemark = Remark & { quote: string };

/** What is known about a review before its comments are chosen. */
export interface Choosing {
  /** The lines that may be commented on. */
  allowed: ChangedLines;
  /** All lines that the pull request changes, to tell lines that are old news from those that it never changed. */
  changed: ChangedLines;
  earlier: EarlierRemark[];
}

export interface Choice {
  chosen: ChosenRemark[];
  /** Comments on lines that may not be commented on, with why, as the end of a sentence. */
  misplaced: { remark: Remark; why: string }[];
  /** How many were left out because they say the same as another one. */
  repeated: number;
  /** How many were left out because there are more important ones. */
  surplus: number;
}

/** A review has at most this many comments on lines. More are noise, whatever they say. */
const maxRemarks = 10;

/**
 * Chooses the comments of a review: on lines that may be commented on, none that says what was said before, one for each
 * line, the most important ones first.
 */
export function chooseRemarks(remarks: Remark[], { allowed, changed, earlier }: Choosing): Choice {
  const choice: Choice = { chosen: [], misplaced: [], repeated: 0, surplus: 0 };
  const ranked = severities.flatMap((severity) => remarks.filter((remark) => remark.severity === severity));
  for (const given of ranked) {
    const remark = { ...given, path: given.path.replace(/^\.?\/+/, '') };
    const quote = allowed.get(remark.path)?.[remark.side].get(remark.line);
    if (quote === undefined) choice.misplaced.push({ remark, why: whyMisplaced(remark, allowed, changed) });
    else if (isRepeated({ ...remark, quote }, earlier)) choice.repeated += 1;
    else if (choice.chosen.some((each) => isSamePlace(each, remark))) choice.repeated += 1;
    else if (choice.chosen.length === maxRemarks) choice.surplus += 1;
    else choice.chosen.push({ ...remark, quote });
  }
  return choice;
}

const isSamePlace = (a: Remark, b: Remark) => a.path === b.path && a.side === b.side && a.line === b.line;

function whyMisplaced({ path, line, side }: Remark, allowed: ChangedLines, changed: ChangedLines): string {
  const known = changed.get(path);
  if (known === undefined) return 'the pull request does not change this file';
  if (known[side].has(line)) return 'this line has not changed since the last review';
  const lines = allowed.get(path)?.[side];
  if (lines === undefined || lines.size === 0) return 'none of the lines of this file that you may comment on is there';
  return `the pull request does not ${side === 'LEFT' ? 'remove' : 'add'} this line; it does ${rangesOf(lines.keys())}`;
}

/** Two texts with at least this share of common words say the same: about any line of a file, and about one line. */
const [sameShare, sameShareOnLine] = [0.8, 0.4];

/** Returns whether a comment was made before: about a line with the same text, or with mostly the same words in the same file. */
function isRepeated(remark: EarlierRemark, earlier: EarlierRemark[]): boolean {
  const words = wordsOf(remark.text);
  return earlier.some((before) => {
    if (before.path !== remark.path) return false;
    const isSameLine = before.side === remark.side && before.quote.trim() === remark.quote.trim();
    return shareOf(words, wordsOf(before.text)) >= (isSameLine ? sameShareOnLine : sameShare);
  });
}

/** The longest text that is compared. The beginning of a comment says what it is about. */
const maxCompared = 2000;

/** Returns the words and numbers of a text. */
function wordsOf(text: string): Set<string> {
  const found = text
    .slice(0, maxCompared)
    .toLowerCase()
    .match(/[\p{L}\p{N}_]+/gu);
  return new Set(found ?? []);
}

function shareOf(a: Set<string>, b: Set<string>): number {
  if (a.size === 0 || b.size === 0) return a.size === b.size ? 1 : 0;
  let common = 0;
  for (const word of a) if (b.has(word)) common += 1;
  return common / (a.size + b.size - common);
}
