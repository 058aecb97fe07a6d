import { type Line, readLine } from './test-lines.ts';

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
  for (const run of hunks.flatMap(runsOf)) {
    const lost = compareRun(path, run, { kept, known });
    if (lost !== undefined) return { ...kept, lost };
  }
  return kept;
}

interface Run {
  removed: string[];
  added: string[];
}

/** Divides a hunk into runs of changed lines, without what is between them. */
function runsOf(lines: string[]): Run[] {
  const runs: Run[] = [];
  let current: Run | undefined;
  for (const line of lines) {
    const sign = line[0];
    if (sign === '\\') continue;
    if (sign !== '+' && sign !== '-') {
      current = undefined;
      continue;
    }
    if (current === undefined) {
      current = { removed: [], added: [] };
      runs.push(current);
    }
    (sign === '-' ? current.removed : current.added).push(line.slice(1));
  }
  return runs;
}

const lostAssertion = 'lost a line of an earlier test';

function compareRun(
  path: string,
  { removed, added }: Run,
  { kept, known }: { kept: Kept; known: Set<string> },
): string | undefined {
  if (delimiters(removed) !== delimiters(added)) return 'turns lines of earlier tests into a comment or a text';
  const [were, are] = [removed, added].map((lines) => lines.map((line) => readLine(path, line)));
  if (were === undefined || are === undefined) return lostAssertion;
  if (nets(were) !== nets(are)) return 'moves earlier tests into other blocks';
  const left: Line[] = [];
  let at = 0;
  for (const was of were.filter(({ isEmpty }) => !isEmpty)) {
    const found = are.findIndex((line, i) => i >= at && comesBack(was, line));
    const is = are[found];
    if (is === undefined) return lostAssertion;
    left.push(...are.slice(at, found));
    at = found + 1;
    const differing = was.literals.flatMap(({ text }, i): [string, string][] => {
      const now = is.literals[i]?.text ?? '';
      return now === text ? [] : [[text, now]];
    });
    if (differing.length > 0 || is.literals.length > was.literals.length) kept.hasChanged = true;
    if (kept.renamed.length < maxRenamed) kept.renamed.push(...differing);
  }
  return whatNewLinesDo(path, [...left, ...are.slice(at)], known);
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

/** Returns how many brackets of each kind lines leave open. */
function nets(lines: Line[]): string {
  return JSON.stringify([0, 1, 2].map((i) => lines.reduce((sum, { opens }) => sum + (opens[i] ?? 0), 0)));
}

/** Words that decide whether the lines after them run. */
const control =
  /^(if|else|elif|unless|return|throw|raise|exit|break|continue|next|goto|die|try|catch|except|rescue|finally|switch|case|while|until|for|foreach|loop|match|when|cond|pass|skip|yield|with|using)$/;
/** Words with which new lines replace what earlier tests use, prepare it, or end the tests. */
const tampering =
  /\b(mock|stub|spyOn|spy|patch|monkeypatch|prototype|defineProperty|globalThis|global|window|eval|setattr|exit|_exit|abort|quit|at_?exit|before|beforeEach|beforeAll|before_each|before_all|after|afterEach|afterAll|setUp\w*|tearDown\w*|setup\w*|teardown\w*|fixture|autouse|BeforeEach|BeforeAll|SetUp|instance_eval|class_eval|define_method|alias_method|prepend|refine)\b|\b(assert|expect|test|it|describe|t|chai|should)(\.\w+){0,3} *=(?!=|>)/;
/** What a line declares. */
const declaring =
  /^\s*(?:(?:export|async|pub|public|private|static|final)\s+){0,3}(?:const|let|var|function\*?|class|def|fn|func|sub|my|our|local|val|type|struct|module|import|from|require|use|using|include)\b(.*)$|^\s*([\w$.[\], ]{1,200}?)\s*(?::=|=)(?!=|>)/;
/** In these languages blocks end without brackets, so their indentation has to say where they do. */
const isIndented = /\.(py|rb|exs?|lua|nim|jl|hs|fs|coffee)$/;
const opensTest = /^\s*(async )?(def|class|it|test|describe|context|specify|@)|\bdo\s*(\|.*\|)?$/;

/** Returns what new lines do to the earlier tests around them; undefined where they only add tests or assertions. */
function whatNewLinesDo(path: string, lines: Line[], known: Set<string>): string | undefined {
  if (lines.some(({ code }) => tampering.test(code))) return 'has new lines that may change what earlier tests use';
  const outside = isIndented.test(path) ? outsideIndented(lines) : outsideBrackets(lines);
  return outside.some((line) => changesCourse(line, known)) ? newCourse : undefined;
}

/** Returns the lines that are in no block which new lines open. */
function outsideBrackets(lines: Line[]): Line[] {
  let depth = 0;
  return lines.filter(({ opens }) => {
    const before = depth;
    depth += sum(opens);
    return before <= 0;
  });
}

function outsideIndented(lines: Line[]): Line[] {
  let block: number | undefined;
  return lines.filter((line) => {
    if (line.isEmpty) return false;
    if (block !== undefined && line.indent <= block) block = undefined;
    const isOutside = block === undefined;
    if (isOutside && opensTest.test(line.code)) block = line.indent;
    return isOutside;
  });
}

const newCourse = 'has new lines that may decide whether earlier ones run, or what they use';

/** Returns whether a line decides about others, or declares a name that earlier lines use. */
function changesCourse(line: Line, known: Set<string>): boolean {
  let depth = 0;
  for (const { text, opens } of line.steps) {
    depth += opens;
    if (depth <= 0 && control.test(text)) return true;
  }
  const [, declared, assigned] = declaring.exec(line.code) ?? [];
  const names = (declared?.split(/\bfrom\b|=(?!>)/)[0] ?? assigned ?? '').match(/[\p{L}_$][\w$]*/gu) ?? [];
  return names.some((name) => known.has(name) && !ordinary.has(name));
}

/** Words that are part of declarations, and are no names. */
const ordinary = new Set([
  'import',
  'from',
  'as',
  'type',
  'default',
  'self',
  'this',
  'async',
  'function',
  'const',
  'let',
]);

function sum(opens: number[]): number {
  return opens.reduce((all, each) => all + each, 0);
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
