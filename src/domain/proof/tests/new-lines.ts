import { type Line, readLine } from './test-lines.ts';
import { linesOutsideTexts } from './texts-in-lines.ts';

/** A line of a test file after a change. Lines that were there before, apart from expected values, are not new. */
export interface Placed {
  raw: string;
  line: Line;
  isNew: boolean;
}

/** New lines without an earlier one between them, and the earlier ones around them, as far as the diff shows them. */
export interface Group {
  raws: string[];
  before: Placed[];
  after: Placed[];
}

/** What new lines do to the earlier ones around them. */
export interface Effect {
  lost?: string;
  /** Whether they add to expected values. */
  hasChanged?: boolean;
}

/** A diff may place new lines differently with the same result. So many other places are tried. */
const maxMoves = 8;

/**
 * Judges each group of new lines for itself. Whatever it begins has to end in it: statements, blocks, comments and texts.
 * Otherwise the earlier lines around it would become a part of what it begins.
 */
export function judgeGroups(path: string, placed: Placed[], known: Set<string>): Effect {
  let hasChanged = false;
  for (let start = 0; start < placed.length; start++) {
    if (!placed[start]?.isNew) continue;
    let end = start;
    while (placed[end]?.isNew) end += 1;
    const effect = bestEffect(path, placesOf(placed, start, end), known);
    if (effect.lost !== undefined) return effect;
    hasChanged ||= effect.hasChanged === true;
    start = end;
  }
  return { hasChanged };
}

/** Returns what new lines do in the first place where nothing is lost; if there is none, in the place of the diff. */
function bestEffect(path: string, groups: Group[], known: Set<string>): Effect {
  let first: Effect | undefined;
  for (const group of groups) {
    const effect = judgeGroup(path, group, known);
    if (effect.lost === undefined) return effect;
    first ??= effect;
  }
  return first ?? {};
}

/** Returns a group with the places to which it can move: where the line that it gives up is the one that it takes. */
function placesOf(placed: Placed[], start: number, end: number): Group[] {
  const at = (from: number, to: number): Group => ({
    raws: placed.slice(from, to).map(({ raw }) => raw),
    before: placed.slice(Math.max(0, from - maxContext), from),
    after: placed.slice(to, to + maxContext),
  });
  const groups = [at(start, end)];
  const isOld = (i: number) => placed[i]?.isNew === false;
  for (let by = 0; by < maxMoves && isOld(end + by) && placed[start + by]?.raw === placed[end + by]?.raw; by++)
    groups.push(at(start + by + 1, end + by + 1));
  for (let by = 1; by <= maxMoves && isOld(start - by) && placed[start - by]?.raw === placed[end - by]?.raw; by++)
    groups.push(at(start - by, end - by));
  return groups;
}

const maxContext = 20;

const inText = 'turns lines of earlier tests into a comment or a text';
const inBlock = 'moves earlier tests into other blocks';
const inStatement = 'has new lines that may be one statement with earlier ones';

function judgeGroup(path: string, group: Group, known: Set<string>): Effect {
  const lines = linesOutsideTexts(path, group.raws);
  if (lines === undefined) return { lost: inText };
  if (!isBalanced(lines)) return { lost: inBlock };
  const said = lines.filter(isSaid);
  const [first, last] = [said[0], said.at(-1)];
  if (first === undefined || last === undefined) return {};
  const rows = inRows(said, group, known);
  if (rows !== undefined) return rows === 'names' ? {} : { hasChanged: true };
  if (isIndented.test(path) && !endsBlocks(path, lines, group)) return { lost: inBlock };
  const before = group.before.findLast(({ line }) => isSaid(line));
  const after = followingIn(group);
  const isApart =
    mayBegin(path, first, before) &&
    !isIncomplete(path, last) &&
    (before === undefined || mayPrecede(path, before)) &&
    (after === undefined || mayFollow(after, last));
  if (!isApart) return { lost: inStatement };
  const lost = whatNewLinesDo(path, lines, known);
  return lost === undefined ? {} : { lost };
}

/** Returns whether a line has anything but comments. */
const isSaid = ({ steps }: Line) => steps.length > 0;

/** Returns the next earlier line that says something; undefined where it is not known, or begins a comment. */
function followingIn({ after }: Group): Placed | undefined {
  const next = after.find(({ raw, line }) => isSaid(line) || /^\s*\/\*/.test(raw));
  return next !== undefined && isSaid(next.line) ? next : undefined;
}

/** Returns whether the brackets of lines close what the lines open, and nothing else. */
function isBalanced(lines: Line[]): boolean {
  if (closesMore(lines.flatMap(({ steps }) => steps))) return false;
  return [0, 1, 2].every((i) => lines.reduce((sum, { opens }) => sum + (opens[i] ?? 0), 0) === 0);
}

/** In these languages blocks end without brackets, so their indentation has to say where they do. */
const isIndented = /\.(py|rb|exs?|lua|nim|jl|hs|fs|coffee|cr)$/;
const hasEnds = /\.(rb|exs?|lua|jl|cr)$/;
const opensWithEnd =
  /^\s*(?:local )?(?:(?:def|defp|defmodule|defmacro|class|module|begin|case|if|unless|while|until|for|function|macro|struct|let|quote|try)\b)|\bfunction\b|(?:\bdo|\bthen|\bbegin)\s*(?:\|.*\|)?$/;
const endWord = /(?<![.:\w])(end)(?![\w:?!])/g;

function hasItsEnds(lines: Line[]): boolean {
  let depth = 0;
  for (const { code } of lines) {
    if (opensWithEnd.test(code) && !/\bdo ?:/.test(code)) depth += 1;
    depth -= code.match(endWord)?.length ?? 0;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** Returns whether blocks that new lines open end before the next earlier line. */
function endsBlocks(path: string, lines: Line[], { after }: Group): boolean {
  if (hasEnds.test(path) && !hasItsEnds(lines)) return false;
  const next = after.find(({ raw }) => raw.trim() !== '');
  // Where only empty lines are known, an earlier test may follow them, and its block would be another.
  if (next === undefined) return after.length < 3 || !lines.some(({ code }) => opensTest.test(code));
  let depth = 0;
  return lines.every((line) => {
    const isWithin = depth > 0;
    depth += sum(line.opens);
    return isWithin || !isSaid(line) || line.indent >= next.line.indent;
  });
}

/** Words after which, and before which, a statement goes on. */
const goesOn =
  /^(and|or|not|in|is|of|as|new|typeof|void|delete|await|yield|lambda|instanceof|else|do|then|begin|async|function|const|let|var|export|default|static|public|private|protected|final|abstract|return|throw|raise|if|unless|while|until|for|def|class|fn|func|extends|implements|import|from|with|xor)$/;
const continues = /^(and|or|in|is|instanceof|as|of|extends|implements|then|else|do|xor|if|unless|while|until|rescue)$/;

/** Returns whether the statement of a line goes on in the next line, or the line says something about the next one. */
function isIncomplete(path: string, { steps, code }: Line): boolean {
  const last = steps.at(-1)?.text ?? '';
  const before = steps.at(-2)?.text ?? '';
  if (isMark(path, code)) return true;
  if (/^\w/.test(last)) return goesOn.test(last);
  if (last === '!' && /\.rb$/.test(path) && /\w$/.test(before) && !/%/.test(code)) return false;
  if (/^[-+]$/.test(last) && before === last) return !/\w$/.test(steps.at(-3)?.text ?? '');
  return /^[-+*/%=<>&|^~?:,.([{!\\@#]$/.test(last);
}

/** Returns whether a line is a decorator, an annotation or an attribute. */
function isMark(path: string, code: string): boolean {
  if (/[;}]\s*$/.test(code) || /\.(rb|cr|coffee)$/.test(path)) return false;
  return /^\s*(@|# *!? *\[)/.test(code) || (/^\s*\[.*\]\s*$/.test(code) && !/\.(sh|bash|bats)$/.test(path));
}

/** Returns whether a new line can begin a statement after this one. */
function mayBegin(path: string, { steps }: Line, before: Placed | undefined): boolean {
  const first = steps[0]?.text ?? '';
  const last = before?.line.steps.at(-1)?.text ?? ';';
  if (first === '[') return /^[;{}]$/.test(last) || /\.(sh|bash|bats)$/.test(path);
  if (first === '(' || first.startsWith('`')) return /^[;{]$/.test(last);
  if (first === '@' || first === '#') return true;
  return /^[\p{L}\p{N}_$"']/u.test(first) && !continues.test(first);
}

/** Returns whether an earlier line ends a statement, or begins a block, so that a statement can be added after it. */
function mayPrecede(path: string, { raw, line }: Placed): boolean {
  const { steps, opens, code } = line;
  const last = steps.at(-1)?.text ?? '';
  if (raw.trimEnd().endsWith('*/')) return true;
  if (/\\\s*$/.test(raw)) return false;
  if (/^[{}]$/.test(last)) return true;
  if (/^(if|for|while|else|foreach|with)$/.test(steps[0]?.text ?? '') && last === ')') return false;
  if (isIndented.test(path) && (last === ':' || opensInside.test(code))) return true;
  if (last === ':') return /^\s*(case|default|public|private|protected)\b/.test(code);
  return opens[0] <= 0 && opens[1] <= 0 && !isIncomplete(path, line);
}

/** The end of a line after which a block begins, in the languages that have no bracket for it. */
const opensInside = /\bdo\s*\|[^|]*\|$|\b(do|then|else|begin)$|- ?> *$|\bfunction\(.*\)$/;

/** Returns whether an earlier line begins a statement, or ends a block, after new lines that end so. */
function mayFollow({ line: { steps } }: Placed, last: Line): boolean {
  const first = steps[0]?.text ?? '';
  if (first === '}') return true;
  if (closesMore(steps)) return false;
  if (/^[([`]/.test(first)) return /^[;}]$/.test(last.steps.at(-1)?.text ?? '');
  return /^([@#!\p{L}\p{N}_$"'/]|-\d)/u.test(first) && first !== '/' && !continues.test(first);
}

/** Returns whether a line closes brackets that it does not open. */
function closesMore(steps: Line['steps']): boolean {
  let depth = 0;
  for (const { opens } of steps) {
    depth += opens;
    if (depth < 0) return true;
  }
  return false;
}

/** Words that decide whether the lines after them run. */
const control =
  /^(if|else|elif|unless|return|throw|raise|exit|break|continue|next|goto|die|try|catch|except|rescue|finally|switch|case|while|until|for|foreach|loop|match|when|cond|pass|skip|yield|with|using)$/;
/** Words with which new lines replace what earlier tests use, prepare it, or end the tests. */
const tampering =
  /\b(mock|stub|spyOn|spy|patch|monkeypatch|prototype|defineProperty|globalThis|global|window|eval|setattr|exit|_exit|abort|quit|at_?exit|before|beforeEach|beforeAll|before_each|before_all|after|afterEach|afterAll|setUp\w*|tearDown\w*|setup\w*|teardown\w*|fixture|autouse|BeforeEach|BeforeAll|SetUp|instance_eval|class_eval|define_method|alias_method|prepend|refine)\b|^\s*# *(define|undef|pragma|line|error)\b|\b(assert|expect|test|it|describe|t|chai|should)(\.\w+){0,3} *=(?!=|>)/;
/** What a line declares. */
const declaring =
  /^\s*(?:(?:export|async|pub|public|private|static|final)\s+){0,3}(?:const|let|var|function\*?|class|def|fn|func|sub|my|our|local|val|type|struct|module|import|from|require|use|using|include)\b(.*)$|^\s*([\w$.[\], ]{1,200}?)\s*(?::=|=)(?!=|>)/;
const opensTest = /^\s*(async )?(def|class|it|test|describe|context|specify|@)|\bdo\s*(\|.*\|)?$/;
const newCourse = 'has new lines that may decide whether earlier ones run, or what they use';

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
  ...['import', 'from', 'as', 'type', 'default', 'self', 'this', 'async', 'function', 'const', 'let'],
]);

function sum(opens: number[]): number {
  return opens.reduce((all, each) => all + each, 0);
}

/** Reads the lines of a file. */
export function placedLine(path: string, raw: string, isNew: boolean): Placed {
  return { raw, line: readLine(path, raw), isNew };
}

/**
 * Returns whether new lines only add rows to a table, keys to an object or names to an import. They end with a comma, as
 * arguments of a call do, so the earlier lines around them have to be such rows, keys or names.
 */
function inRows(said: Line[], group: Group, known: Set<string>): 'values' | 'names' | undefined {
  if (said.every((line) => isName(line, known)) && isInImport(group)) return 'names';
  if (isLongRow(said, group)) return 'values';
  const kinds = said.map(kindOf);
  const [kind] = kinds;
  if (kind === undefined || kinds.some((each) => each !== kind)) return undefined;
  if (kind === 'key')
    return said.every(({ steps }) => !known.has(nameIn(steps))) && isInObject(group) ? 'values' : undefined;
  const isAlike = ({ line }: Placed) => kindOf({ ...line, isRow: true }) === kind;
  const before = group.before.slice(group.before.findLastIndex((each) => !isAlike(each)) + 1);
  const end = group.after.findIndex((each) => !isAlike(each));
  // A call of an assertion has at most one argument that is a row, apart from what it calls.
  return before.length + (end < 0 ? group.after.length : end) >= 2 ? 'values' : undefined;
}

const brackets: Record<string, string> = { '{': '}', '[': ']', '(': ')' };
const literal = /^["'\d-]|^(true|false|null|undefined|None|True|False|nil|NaN)$/;

/** Returns the bracket with which a row begins, or whether it is a literal or a key; undefined for other lines. */
function kindOf({ steps, isRow, opens }: Line): string | undefined {
  const texts = steps.map(({ text }) => text);
  const [first = '', second] = texts;
  if (!isRow || texts.at(-1) !== ',' || opens.some((each) => each !== 0)) return undefined;
  if (second === ':') return /^[\w$"']/.test(first) ? 'key' : undefined;
  if (brackets[first] !== undefined) return texts.at(-2) === brackets[first] ? first : undefined;
  return literal.test(first) ? 'literal' : undefined;
}

const nameIn = (steps: Line['steps']) => (steps[0]?.text ?? '').replace(/^["']|["']$/g, '');

/** Returns whether the lines around new keys are keys, too, or the brackets of their object. */
function isInObject({ before, after }: Group): boolean {
  const [prev, next] = [before.at(-1)?.line.steps ?? [], after[0]?.line.steps ?? []];
  const isKey = (steps: Line['steps']) => steps[1]?.text === ':';
  const isBegun = prev.at(-1)?.text === '{' || (isKey(prev) && prev.at(-1)?.text === ',');
  return isBegun && (isKey(next) || next[0]?.text === '}');
}

/** Returns whether new lines are one row of several lines, after another one. */
function isLongRow(said: Line[], { before, after }: Group): boolean {
  const [first, last] = [said[0]?.steps ?? [], said.at(-1)?.steps ?? []];
  const open = first[0]?.text ?? '';
  const close = brackets[open];
  if (close === undefined || first.length !== 1 || last.map(({ text }) => text).join('') !== `${close},`) return false;
  if (
    said
      .slice(1, -1)
      .some(({ code, steps }) => /[\w$]\(|[=<>]/.test(code) || steps.some(({ opens }, i) => i === 0 && opens < 0))
  )
    return false;
  const [prev, next] = [before.at(-1)?.line.steps ?? [], after[0]?.line.steps[0]?.text];
  return prev.map(({ text }) => text).join('') === `${close},` && (next === open || next === ']');
}

function isName({ steps }: Line, known: Set<string>): boolean {
  const [name, comma] = steps.map(({ text }) => text);
  return steps.length === 2 && comma === ',' && /^[\p{L}_$][\w$]*$/u.test(name ?? '') && !known.has(name ?? '');
}

/** Returns whether the lines before new names begin an import of several lines. */
function isInImport({ before }: Group): boolean {
  const opener = before.findLast(({ line }) => !(line.steps.length === 2 && line.steps[1]?.text === ','));
  // Calls have fewer arguments that are only names than a diff shows.
  if (opener === undefined) return before.length >= 3;
  return /^\s*(import|from|export|use|const)\b.*[{(]\s*$/.test(opener.raw);
}
