/** What a line of a test says. */
export interface Line {
  /** Whether it has only brackets, or nothing but a comment. */
  isEmpty: boolean;
  /** Whether it loads other files. */
  isImport: boolean;
  /** Whether it has literals, but calls nothing, as a row of a table does. */
  isRow: boolean;
  /** The line without its literals. Lines with the same skeleton differ only in their literals. */
  skeleton: string;
  literals: Literal[];
  /** Its texts, and its names. */
  texts: string[];
  words: string[];
  /** How many round, square and curly brackets it leaves open. */
  opens: [number, number, number];
  /** Its names and brackets in order, each with how the depth changes there. */
  steps: { text: string; opens: number }[];
  /** The line without comments and the contents of its texts. */
  code: string;
  indent: number;
}

interface Literal {
  text: string;
  /** Whether it is an argument of a call that is no assertion: another input is another test. */
  isInput: boolean;
}

/** Longer lines are never the same as others. */
const maxChars = 2000;
const hashComments = /\.(py|rb|exs?|sh|bash|bats|pl|pm|t|jl|nim|ya?ml|toml|R)$/;
const literalWords = /^(true|false|null|undefined|None|True|False|nil|NaN|Infinity|nan|inf|none)$/;
/** Calls whose arguments are titles and expected values. */
const assertions =
  /^(assert(_?\w+)?!?|expect|eq|eql|equals?|is|isnt|is_deeply|same|ok|not(Equal|Ok|Same|DeepEqual|StrictEqual)?|(not)?[dD]eep(Strict)?Equal|(not)?[sS]trictEqual|deepEquals?|[sS]ame|[eE]qual(s|Values|Error)?|[cC]ontains|Errorf?|Fatalf?|Logf?|match(es)?|throws|rejects|raises|toBe\w*|toEqual|toStrictEqual|toMatch\w*|toThrow\w*|toContain\w*|toHave\w*|be|be_\w+|contain\w*|include|must_\w+|test|it|describe|suite|context|specify|subtest|Run|each)$/;
/** Pairs of assertions that say the opposite, so that one is as strong as the other. */
const opposites: [RegExp, string][] = [
  [/^(assert|is)(True|False)$/, '$1Bool'],
  [/^(assert|is)_(true|false)$/, '$1_bool'],
  [/^toBe(Truthy|Falsy)$/, 'toBeBool'],
  [/^be_(truthy|falsey)$/, 'be_bool'],
];
const importing = /^\s*(import\b|from\b|require\b|use\b|using\b|include\b|#include\b|@import\b)|\brequire\(|\bimport\(/;
/** A text in which code runs, such as `${f(1)}`. Other code is another test. */
const codeInText = /\$[({]|#\{|\{\w|`/;
/** In these languages backticks enclose a text, and in others a command. */
const backtickTexts = /\.([cm]?[jt]sx?|go)$/;

function hasCode(path: string, text: string): boolean {
  return codeInText.test(text.slice(1, -1)) || (text.startsWith('`') && !backtickTexts.test(path));
}
/** What tests call expected values. Other values that they name are inputs. */
const expected = /expect|want|should|output|golden/i;
const assigning = /^[\w$ :.<>[\]*&]*[\w$\]] ?:?=(?! ?[=>])/;

interface Token {
  kind: 'word' | 'literal' | 'sign';
  text: string;
}

/** Divides a line into words, literals and other signs, without comments. Takes linear time. */
function tokensOf(path: string, line: string): Token[] {
  const tokens: Token[] = [];
  const comment = hashComments.test(path) ? '#' : '//';
  let at = 0;
  while (at < line.length && !line.startsWith(comment, at)) {
    if (line.startsWith('/*', at)) {
      const end = line.indexOf('*/', at + 2);
      at = end < 0 ? line.length : end + 2;
    } else if (/\s/.test(line[at] ?? '')) at += 1;
    else {
      const token = tokenAt(line, at, tokens.at(-1));
      tokens.push(token);
      at += token.text.length;
    }
  }
  return tokens;
}

function tokenAt(line: string, at: number, before: Token | undefined): Token {
  const c = line[at] ?? '';
  const mayBegin = before === undefined || (before.kind === 'sign' && !/[)\]}]/.test(before.text));
  if (/["'`]/.test(c) || (c === '/' && mayBegin))
    return { kind: 'literal', text: line.slice(at, endOfText(line, at, c)) };
  const isNegative = c === '-' && mayBegin && /\d/.test(line[at + 1] ?? '');
  if (!isNegative && !wordSign.test(c)) return { kind: 'sign', text: c };
  const text = line.slice(at, endOfWord(line, at + 1));
  return { kind: /^-?\d/.test(text) || literalWords.test(text) ? 'literal' : 'word', text };
}

const wordSign = /[\p{L}\p{N}_$]/u;

function endOfText(line: string, from: number, quote: string): number {
  for (let at = from + 1; at < line.length; at++)
    if (line[at] === '\\') at += 1;
    else if (line[at] === quote) return at + 1;
  return line.length;
}

function endOfWord(line: string, from: number): number {
  let at = from;
  while (at < line.length && wordSign.test(line[at] ?? '')) at += 1;
  // The parts of a number such as 1.5 belong together, and so does the mark of a macro.
  if (/^-?\d/.test(line.slice(from - 1, from + 1)) && line[at] === '.' && /\d/.test(line[at + 1] ?? ''))
    return endOfWord(line, at + 1);
  return line[at] === '!' && line[at + 1] === '(' ? at + 1 : at;
}

/** Reads a line of a test. */
export function readLine(path: string, line: string): Line {
  const tokens = line.length > maxChars ? [{ kind: 'word' as const, text: line }] : tokensOf(path, line);
  const words = tokens.filter(({ kind }) => kind === 'word').map(({ text }) => text);
  const { skeleton, literals, hasCall } = skeletonOf(path, tokens);
  const code = codeOf(line, tokens);
  // Only expected values may change. What a test keeps under another name is its input.
  if (assigning.test(code.trim()) && !expected.test(code.split('=')[0] ?? ''))
    for (const literal of literals) literal.isInput = true;
  const count = (sign: string) => tokens.filter(({ kind, text }) => kind === 'sign' && text === sign).length;
  const opens: Line['opens'] = [count('(') - count(')'), count('[') - count(']'), count('{') - count('}')];
  return {
    isEmpty: words.length + literals.length === 0 && !tokens.some(({ text }) => /[=<>!&|?+*/%^~]/.test(text)),
    isImport: importing.test(line),
    isRow: literals.length > 0 && !hasCall && !tokens.some(({ text }) => /^(assert|expect|if|is|[=<>])/.test(text)),
    skeleton,
    literals,
    texts: tokens.filter(({ kind, text }) => kind === 'literal' && /^["'`]/.test(text)).map(({ text }) => text),
    words,
    opens,
    steps: tokens.map(({ kind, text }) => ({ text, opens: kind === 'sign' ? stepOf(text) : 0 })),
    code,
    indent: /^\s*/.exec(line)?.[0].length ?? 0,
  };
}

function codeOf(line: string, tokens: Token[]): string {
  const text = tokens.map(({ kind, text }) => (kind === 'literal' ? '0' : text)).join(' ');
  return `${/^\s*/.exec(line)?.[0] ?? ''}${text.replace(/ ?\. ?/g, '.').replace(/ \(/g, '(')}`;
}

function stepOf(sign: string): number {
  if (/[([{]/.test(sign)) return 1;
  return /[)\]}]/.test(sign) ? -1 : 0;
}

/** Returns whether the colon at an index is between a key and a literal. */
function isKey(tokens: Token[], at: number): boolean {
  return tokens[at + 1]?.kind === 'literal' && /^[{,]?$/.test(tokens[at - 2]?.text ?? '');
}

/** Returns what remains of a line without its literals. Lists of literals count as one, whatever their length. */
function skeletonOf(path: string, tokens: Token[]): { skeleton: string; literals: Literal[]; hasCall: boolean } {
  const parts: string[] = [];
  const literals: Literal[] = [];
  const callers: (string | undefined)[] = [];
  let key = '';
  const compares = tokens.some(({ text }) => /[=<>]|^in$/.test(text));
  const throws = tokens.some(({ kind, text }) => kind === 'word' && text === 'throw');
  const addLiteral = (text: string) => {
    const caller = callers.findLast((each) => each !== undefined);
    const isCode = hasCode(path, text);
    literals.push({ text: `${key}${text}`, isInput: isCode || (caller !== undefined && !assertions.test(caller)) });
    key = '';
    if (isCode) parts.push(text);
    else if (parts.at(-1) === ',' && parts.at(-2) === 'L') parts.pop();
    else parts.push('L');
  };
  for (const [i, { kind, text }] of tokens.entries()) {
    const before = tokens[i - 1];
    if (kind === 'literal') addLiteral(text);
    else if (text === ':' && before?.kind === 'word' && isKey(tokens, i)) {
      // A value with its key is a literal.
      key = `${before.text}: `;
      parts.pop();
    }
    // `ok(!x)` says as much as `ok(x)`.
    else if (!isNegation(text, before) || compares) {
      if (text === '(') callers.push(callerIn(before, throws));
      else if (text === ')') callers.pop();
      parts.push(opposites.reduce((word, [names, both]) => word.replace(names, both), text));
    }
  }
  const hasCall = tokens.some(({ text }, i) => text === '(' && callerIn(tokens[i - 1]) !== undefined);
  return { skeleton: parts.join(' '), literals, hasCall };
}

/** Returns the name before a parenthesis. `if (f(1) !== 2) throw …` is an assertion without a library, so its `if` is no call. */
function callerIn(before: Token | undefined, throws = false): string | undefined {
  return before?.kind === 'word' && !(throws && before.text === 'if') ? before.text : undefined;
}

function isNegation(text: string, before: Token | undefined): boolean {
  return (text === '!' || text === 'not') && /^(\(|assert)$/.test(before?.text ?? '');
}
