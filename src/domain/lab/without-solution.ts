import { plain } from '../text/sanitize.ts';

/** What of a solution could be in a text that people wrote about it. */
export interface SolutionTraces {
  /** The lines that the change adds, its tests included. */
  addedLines: string[];
  /** The paths and names of files that the base does not have. */
  newNames: string[];
  /** The number of the pull request. */
  pull?: number | undefined;
  /** The name of the repository, as `owner/name`. */
  repository?: string | undefined;
}

export interface CleanText {
  text: string;
  /** What was removed, in the order of the text. */
  removed: string[];
}

/** Characters that are read of a text, and that are kept of it. */
const [maxRead, maxKept] = [40_000, 10_000];
/** What was removed is listed up to this number and length. */
const [maxListed, maxListedChars] = [50, 160];
/** What stands for something that was removed from a line. */
const gap = '[…]';

/**
 * Removes from a text what tells how the change was made: diffs, code that the change has, names of files that only it has,
 * ids of commits, and links to its pull request. Takes linear time.
 */
export function withoutSolution(text: string, traces: SolutionTraces): CleanText {
  const removed: string[] = [];
  const drop = (what: string, quoted: string) => {
    if (removed.length < maxListed) removed.push(`${what}: ${quoted.trim().slice(0, maxListedChars)}`);
  };
  const added = new Set(traces.addedLines.map(bare).filter(isTelling));
  const kept: string[] = [];
  for (const part of partsOf(plain(text.slice(0, maxRead)))) {
    const found = part.isCode ? whyTelling(part.lines, added) : undefined;
    if (found === undefined) kept.push(...(part.isCode ? part.lines : withoutDiffs(part.lines, added, drop)));
    else drop(found, part.lines.find((line) => line.trim() !== '' && fenceOf(line) === undefined) ?? '');
  }
  const lines = kept.map((line) => withoutNames(withoutReferences(line, traces, drop), traces.newNames, drop));
  const whole = lines.join('\n').replace(/\n{3,}/g, '\n\n');
  return { text: whole.trim().slice(0, maxKept).trimEnd(), removed };
}

type Drop = (what: string, quoted: string) => void;

interface Part {
  lines: string[];
  /** Whether it is a block of code, with its fences. */
  isCode: boolean;
}

const fenceOf = (line: string) => /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
const isIndented = (line: string) => /^(?: {4}|\t)/.test(line) && line.trim() !== '';

/** Splits a text into blocks of code and what is between them. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let fence: string | undefined;
  const add = (line: string, isCode: boolean, isNew = false) => {
    const last = parts.at(-1);
    if (!isNew && last?.isCode === isCode) last.lines.push(line);
    else parts.push({ lines: [line], isCode });
  };
  for (const line of text.split(/\r?\n/)) {
    const mark = fenceOf(line);
    if (fence !== undefined) {
      add(line, true);
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    } else if (mark !== undefined) {
      fence = mark;
      add(line, true, true);
    } else add(line, isIndented(line));
  }
  return parts;
}

/** A line without what differs when code is quoted: its place, and the signs of a diff. */
const bare = (line: string) => line.replace(/^[+-](?![+-])/, '').trim();
/** Whether a line says enough to be recognized, unlike a bracket or `else`. */
const isTelling = (line: string) => line.length >= 8 && /[a-z]/i.test(line) && /[^a-z\s]/i.test(line);
const beginsDiff = /^\s{0,3}(?:diff --git |@@ -\d|\+\+\+ [ab]\/|--- [ab]\/|Index: )/;

/** Returns why a block of code tells the solution: it is a diff, or at least half of what it says is in the change. */
function whyTelling(lines: string[], added: Set<string>): string | undefined {
  const [first = '', ...others] = lines;
  const isDiff = /^ {0,3}(?:`{3,}|~{3,}) {0,3}(?:diff|patch|suggestion)\b/i.test(first);
  if (isDiff || lines.some((line) => beginsDiff.test(line))) return 'diff';
  const code = (fenceOf(first) === undefined ? lines : others).map(bare).filter(isTelling);
  const known = code.filter((line) => added.has(line)).length;
  return known > 0 && known * 2 >= code.length ? 'code of the change' : undefined;
}

/** A line of prose that is also one of the change is that long at least. */
const leastAlone = 24;

/** Removes diffs without a fence, and lines that are in the change. */
function withoutDiffs(lines: string[], added: Set<string>, drop: Drop): string[] {
  const kept: string[] = [];
  let isInDiff = false;
  for (const line of lines) {
    if (beginsDiff.test(line)) {
      if (!isInDiff) drop('diff', line);
      isInDiff = true;
    } else if (isInDiff && !/^[ +-]/.test(line)) isInDiff = false;
    if (isInDiff) continue;
    const said = bare(line).replace(/^`([^`]*)`$/, '$1');
    if (said.length >= leastAlone && added.has(said)) drop('code of the change', line);
    else kept.push(line);
  }
  return kept;
}

const address = /https?:\/\/[^\s<>()[\]"'`,;]+/gi;
/** An id has a digit and a letter, unlike numbers and words. */
const commitId = /\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b/gi;

/** Removes links to commits and to the pull request, ids of commits, and the number of the pull request. */
function withoutReferences(line: string, { pull, repository = '' }: SolutionTraces, drop: Drop): string {
  const removing = (what: string) => (found: string) => {
    drop(what, found);
    return gap;
  };
  const own = repository === '' ? '/' : `/${repository.toLowerCase()}/`;
  const isTold = (link: string) => {
    const [, kind, id] = /\/(pull|commit|commits|compare|blob|tree)\/([^/#?]{1,100})/.exec(link) ?? [];
    if (kind === undefined || !`${link.toLowerCase()}/`.includes(own)) return false;
    return kind === 'pull' ? pull === undefined || id === String(pull) : true;
  };
  let clean = line.replace(address, (link) => (isTold(link) ? removing('link')(link) : link));
  clean = clean.replace(commitId, removing('id of a commit'));
  if (pull === undefined) return clean;
  const number = new RegExp(String.raw`(?:\b[\w.-]{1,100}/[\w.-]{1,100})?#${pull}\b`, 'g');
  return clean.replace(number, removing('number of the pull request'));
}

/** Shorter names occur by chance. */
const leastName = 4;
/** Characters by which a longer name would go on. A folder before the name is not removed. */
const isOfName = (character: string | undefined) => character !== undefined && /[\w-]/.test(character);

/** Removes the names of files that only the solution has. */
function withoutNames(line: string, names: string[], drop: Drop): string {
  let clean = line;
  for (const name of names) {
    if (name.length < leastName) continue;
    for (let at = clean.indexOf(name); at >= 0; at = clean.indexOf(name, at)) {
      const end = at + name.length;
      if (isOfName(clean[at - 1]) || isOfName(clean[end])) {
        at = end;
        continue;
      }
      drop('name of a new file', name);
      clean = clean.slice(0, at) + gap + clean.slice(end);
      at += gap.length;
    }
  }
  return clean;
}
