import { type Line, readLine } from './test-lines.ts';

const hashComments = /\.(py|rb|exs?|sh|bash|bats|pl|pm|t|jl|nim|ya?ml|toml|R)$/;
const backtickTexts = /\.([cm]?[jt]sx?|go)$/;
/** In these languages a quotation mark also belongs to names, lifetimes or forms. */
const looseQuotes = /\.(rs|hs|mli?|fs|lisp|clj|scm|jl)$/;
/** Comments of several lines, and other texts, that only some languages have. */
const ownTexts: [RegExp, RegExp][] = [
  [/\.nim$/, /#\[|\]#/],
  [/\.jl$/, /#=|=#/],
  [/\.coffee$/, /###/],
  [/\.lua$/, /--\[/],
  [/\.ps1$/, /<#|#>/],
  [/\.(rb|cr)$/, /(^|[\s(=,])%[qQwWiIrsx]?[^\s\w([{<=]/],
  [/\.(pl|pm|t)$/, /(^|[\s(=,])(q[qwrx]?|m|s|y|tr)\s*[^\s\w([{<=.,:)]/],
];
/** What begins or ends a comment or a text of several lines, and what a preprocessor leaves out. */
const others = /<!--|-->|^=\w+|^__(END|DATA)__|^\s*#\s*(if|else|elif|endif|ifdef|ifndef)\b|<<[-~]?['"]?\w+/;
const delimiter = /"""|'''|`/g;
/** A line that ends so goes on in the next one, even if it is a comment. */
const goesOn = /(\\|\?\?\/)\s*$/;
const maxChars = 2000;

type State = 'comment' | '"""' | "'''" | '`' | undefined;

/**
 * Reads lines with the comments and texts of several lines that they hold. What is inside one says nothing. Returns undefined
 * if one of them does not end in these lines, or where it is not plain what is a text.
 */
export function linesOutsideTexts(path: string, raws: string[]): Line[] | undefined {
  const lines: Line[] = [];
  let state: State;
  for (const raw of raws) {
    const found = isUnusual(path, raw) ? undefined : readAfter(path, raw, state);
    if (found === undefined) return undefined;
    state = found.state;
    lines.push(found.line);
  }
  const last = raws.findLast((raw) => raw.trim() !== '');
  return state !== undefined || (last !== undefined && goesOn.test(last)) ? undefined : lines;
}

function isUnusual(path: string, raw: string): boolean {
  if (raw.length > maxChars || others.test(raw)) return true;
  return ownTexts.some(([files, text]) => files.test(path) && text.test(raw));
}

/** Reads a line that is in this text or comment, or in none. Returns undefined where it is not plain what it says. */
function readAfter(path: string, raw: string, state: State): { state: State; line: Line } | undefined {
  const rest = state === undefined ? raw : afterText(raw, state);
  if (rest === 'unclear') return undefined;
  if (rest === undefined) return { state, line: readLine(path, '') };
  const found = openedIn(path, rest);
  if (found === undefined) return undefined;
  const line = readLine(path, found.code);
  // The end of a text belongs to the statement in which it began, wherever it is.
  return { state: found.state, line: state === undefined ? line : { ...line, indent: Number.POSITIVE_INFINITY } };
}

/** Returns what follows a text or comment in the line where it ends; undefined if it does not end there. */
function afterText(raw: string, state: NonNullable<State>): string | undefined | 'unclear' {
  const end = state === 'comment' ? '*/' : state;
  const at = raw.indexOf(end);
  if (at < 0) return undefined;
  const rest = raw.slice(at + end.length);
  if (state === 'comment') return rest;
  // Texts in texts, and escaped ends, are left to people.
  if (raw[at - 1] === '\\' || rest.match(delimiter) !== null) return 'unclear';
  return `0 ${rest}`;
}

/** Returns which text or comment a line leaves open, and what precedes it; undefined where that is not plain. */
function openedIn(path: string, rest: string): { state: State; code: string } | undefined {
  const comment = openComment(rest);
  if (comment === undefined) return undefined;
  if (comment >= 0) {
    const code = rest.slice(0, comment);
    const isPlain = !hashComments.test(path) && !/["'`/#]/.test(code);
    return isPlain ? { state: 'comment', code } : undefined;
  }
  const line = readLine(path, rest);
  const open = line.texts.filter((text) => !isClosed(text) && !(text.startsWith("'") && looseQuotes.test(path)));
  const delimiters = rest.match(delimiter) ?? [];
  if (open.length === 0)
    // A regular expression may hold a delimiter, and looks like a division.
    return delimiters.length > 0 && line.steps.some(({ text }) => text === '/')
      ? undefined
      : { state: undefined, code: rest };
  const [found] = delimiters;
  if (found === undefined || delimiters.length > 1) return undefined;
  const code = rest.slice(0, rest.indexOf(found));
  if (/["'`/#\\]/.test(code) || (found === '`' && !backtickTexts.test(path))) return undefined;
  return { state: found as State, code: `${code} 0` };
}

/** Returns where a line begins a comment that goes on; -1 if it does not, and undefined where that is not plain. */
function openComment(rest: string): number | undefined {
  let from = 0;
  for (;;) {
    const [open, close] = [rest.indexOf('/*', from), rest.indexOf('*/', from)];
    if (open < 0) return close < 0 ? -1 : undefined;
    if (close >= 0 && close < open) return undefined;
    const end = rest.indexOf('*/', open + 2);
    if (end < 0) return rest.includes('/*', open + 2) ? undefined : open;
    from = end + 2;
  }
}

/** Returns whether a text ends with the mark with which it begins. */
function isClosed(text: string): boolean {
  for (let at = 1; at < text.length; at++)
    if (text[at] === '\\') at += 1;
    else if (text[at] === text[0]) return true;
  return false;
}

/** Returns what a line says about comments and texts of several lines. Where it is the same, a line hides the same others. */
export function textsIn(raw: string): string {
  let marks = '';
  let from = 0;
  for (const { index, 0: mark } of raw.matchAll(/\/\*|\*\//g)) {
    if (index < from) continue;
    const end = mark === '/*' ? raw.indexOf('*/', index + 2) : -1;
    if (end < 0) marks += mark;
    from = Math.max(index, end) + 2;
  }
  const counts = ['"""', "'''", '`'].map((each) => (raw.split(each).length - 1) % 2);
  return JSON.stringify([marks, ...counts, others.exec(raw)?.[0] ?? '', goesOn.test(raw)]);
}
