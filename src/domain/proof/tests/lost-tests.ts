import { judgeGroups, type Placed, placedLine } from './new-lines.ts';
import { type Line, readLine } from './test-lines.ts';
import { textsIn } from './texts-in-lines.ts';

/** What became of one test file of the base. */
export interface Kept {
  /** Why the file may check less than before, as the end of a sentence; undefined where nothing was lost. */
  lost?: string;
  /** Whether an expectation changed: a literal in a line that otherwise says the same. */
  hasChanged: boolean;
  /** The literals that changed, such as titles of tests, each with what it was. */
  renamed: [old: string, now: string][];
}

/** The lines of a diff with their signs, by hunk. */
export type Hunks = string[][];

/** The most changed literals that are kept of a file. */
const maxRenamed = 200;

/**
 * Compares a test file with what it was. Nothing is lost where each removed line came back and differs only in literals
 * that are expected values, such as `equal(f(1), 2)` for `equal(f(1), 3)`, and where no new line changes what the earlier
 * ones do. Anything else counts as lost: it may be an honest rewriting, but a person has to find out.
 */
export function compareTests(path: string, old: string, hunks: Hunks): Kept {
  const kept: Kept = { hasChanged: false, renamed: [] };
  const known = new Set(old.match(/[\p{L}_$][\w$]*/gu) ?? []);
  for (const hunk of hunks) {
    const placed = placedLines(path, hunk, kept);
    const { lost, hasChanged } =
      typeof placed === 'string' ? { lost: placed, hasChanged: false } : judgeGroups(path, placed, known);
    kept.hasChanged ||= hasChanged === true;
    if (lost !== undefined) return { ...kept, lost };
  }
  return kept;
}

/** Returns the lines of a hunk after the change, or what it lost of the earlier ones. */
function placedLines(path: string, hunk: string[], kept: Kept): Placed[] | string {
  const placed: Placed[] = [];
  for (const part of partsOf(hunk)) {
    const lines = typeof part === 'string' ? [placedLine(path, part, false)] : compareRun(path, part, kept);
    if (typeof lines === 'string') return lines;
    for (const each of lines) placed.push(each);
  }
  return placed;
}

interface Run {
  removed: string[];
  added: string[];
}

/** Divides a hunk into the lines that stayed, and the runs of changed lines between them. */
function partsOf(lines: string[]): (string | Run)[] {
  const parts: (string | Run)[] = [];
  for (const line of lines) {
    const sign = line[0];
    if (sign === '\\') continue;
    if (sign !== '+' && sign !== '-') {
      parts.push(line.slice(1));
      continue;
    }
    let run = parts.at(-1);
    if (run === undefined || typeof run === 'string') {
      run = { removed: [], added: [] };
      parts.push(run);
    }
    (sign === '-' ? run.removed : run.added).push(line.slice(1));
  }
  return parts;
}

const lostAssertion = 'lost a line of an earlier test';

/** Finds each removed line among the added ones. Returns the added ones, or what was lost. */
function compareRun(path: string, { removed, added }: Run, kept: Kept): Placed[] | string {
  if (delimiters(removed) !== delimiters(added)) return 'turns lines of earlier tests into a comment or a text';
  const are = added.map((line) => placedLine(path, line, true));
  let at = 0;
  for (const raw of removed) {
    const was = readLine(path, raw);
    const signs = bracketsIn(was);
    if (was.isEmpty && signs === '') continue;
    const comes = was.isEmpty
      ? ({ line }: Placed) => line.isEmpty && bracketsIn(line) === signs
      : ({ line }: Placed) => comesBack(was, line);
    const found = findAfter(are, at, comes);
    const is = are[found];
    if (is === undefined) return was.isEmpty ? 'moves earlier tests into other blocks' : lostAssertion;
    if (textsIn(raw) !== textsIn(is.raw)) return 'turns lines of earlier tests into a comment or a text';
    is.isNew = false;
    at = found + 1;
    noteLiterals(kept, was, is.line);
  }
  return are;
}

/** An added line is looked for outside a block for at most so many lines after one that was found in it. */
const maxLinesOfBlock = 500;

/** Finds an added line outside the blocks that new lines before it open; if there is none, one in such a block. */
function findAfter(are: Placed[], at: number, comes: (placed: Placed) => boolean): number {
  let [depth, within] = [0, -1];
  for (let i = at; i < are.length; i++) {
    const each = are[i];
    if (each === undefined || (within >= 0 && i > within + maxLinesOfBlock)) break;
    if (comes(each)) {
      if (depth === 0) return i;
      if (within < 0) within = i;
    }
    depth += each.line.opens.reduce((sum, opens) => sum + opens, 0);
  }
  return within;
}

const bracketsIn = ({ steps }: Line) => steps.flatMap(({ text, opens }) => (opens === 0 ? [] : [text])).join('');

function noteLiterals(kept: Kept, was: Line, is: Line): void {
  const differing = was.literals.flatMap(({ text }, i): [string, string][] => {
    const now = is.literals[i]?.text ?? '';
    return now === text ? [] : [[text, now]];
  });
  if (differing.length > 0 || is.literals.length > was.literals.length) kept.hasChanged = true;
  if (kept.renamed.length < maxRenamed) kept.renamed.push(...differing);
}

/** Returns whether a line says the same as an earlier one, apart from expected values. */
function comesBack(was: Line, is: Line): boolean {
  if (was.isImport || is.isImport)
    // An import may name more than before, from the same place.
    return (
      was.isImport && is.isImport && same(was.texts, is.texts) && was.words.every((word) => is.words.includes(word))
    );
  if (was.skeleton !== is.skeleton || is.literals.length < was.literals.length) return false;
  if (was.literals.length === is.literals.length) {
    const isSame = (i: number) => was.literals[i]?.text === is.literals[i]?.text;
    if (!was.isRow) return was.literals.every(({ isInput }, i) => !isInput || isSame(i));
    // A row of a table has inputs too, so not all of it may be another.
    const kept = was.literals.filter((_, i) => isSame(i)).length;
    return was.literals.length === 1 || 2 * kept >= was.literals.length;
  }
  const inputs = (line: Line) => line.literals.filter(({ isInput }) => isInput).map(({ text }) => text);
  return !was.isRow && same(inputs(was), inputs(is));
}

const same = (a: string[], b: string[]) => a.length === b.length && a.every((each, i) => each === b[i]);

/** What begins or ends a comment or a text of several lines. Where lines came in between, they would no longer run. */
const blocks =
  /\/\*|\*\/|"""|'''|`|<!--|-->|^=\w+|^__(END|DATA)__|^\s*#\s*(if|else|elif|endif|ifdef|ifndef)\b|<<[-~]?['"]?\w+|"{3}/gm;

function delimiters(lines: string[]): string {
  const counts = new Map<string, number>();
  for (const [found] of lines.join('\n').matchAll(blocks)) {
    const name = found.trim();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  // A text that begins and ends within the run hides nothing else.
  for (const name of ['"""', "'''", '`']) {
    const count = counts.get(name) ?? 0;
    counts.delete(name);
    if (count % 2 === 1) counts.set(name, 1);
  }
  const [opened, closed] = [counts.get('/*') ?? 0, counts.get('*/') ?? 0];
  counts.delete('/*');
  counts.delete('*/');
  if (opened !== closed) counts.set('/*', opened - closed);
  return JSON.stringify([...counts].sort());
}

/** Compares data that tests read with what it was, such as a fixture or a recorded output. */
export function compareData(hunks: Hunks): Kept {
  const lines = hunks.flat();
  const those = (sign: string) => lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(1));
  const [removed, added] = [those('-'), those('+')];
  const kept: Kept = { hasChanged: removed.length > 0, renamed: [] };
  const filled = (all: string[]) => all.filter((line) => line.trim() !== '').length;
  const words = (all: string[]) => all.join('\n').match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  const isLess = filled(added) < filled(removed) || words(added) < words(removed);
  return isLess ? { ...kept, lost: 'has less data than before' } : kept;
}

/** Compares a file of snapshots with what it was: each snapshot that was there has to be there under its name. */
export function compareSnapshots(hunks: Hunks): Kept {
  const lines = hunks.flat();
  const heads = (sign: string) =>
    lines.filter((line) => line.startsWith(`${sign}exports[`)).map((line) => /^.exports\[`(.*)`\] =/.exec(line)?.[1]);
  const now = new Set(heads('+'));
  const hasChanged = lines.some((line) => line.startsWith('-'));
  const isLess = heads('-').some((name) => !now.has(name));
  return { hasChanged, renamed: [], ...(isLess ? { lost: 'lost a snapshot' } : {}) };
}
