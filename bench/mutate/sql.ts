/** A change inside an SQL text, by positions in that text. */
export interface SqlChange {
  at: number;
  length: number;
  replacement: string;
}

/** What only SQL contains. The prose of an error message has none of it. */
const signs =
  /\b(select\b.+\bfrom|insert into|delete from|update\s+\w+(\s+\w+)?\s+set|now\(\)|make_interval\(|interval '|pg_\w+\()|\$\d\b|\b\w+\.\w+ (=|<>|<=?|>=?|is|in) /s;

/** Whether a text is SQL or a part of a statement. */
export function isSql(text: string): boolean {
  return signs.test(text);
}

type Rule = [pattern: RegExp, replacement: string | ((...found: string[]) => string)];

const boundaries: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const opposites: Record<string, string> = {
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
  '<>': '=',
  '=': '<>',
  '+': '-',
  '-': '+',
  and: 'or',
  or: 'and',
  true: 'false',
  false: 'true',
  least: 'greatest',
  greatest: 'least',
  min: 'max',
  max: 'min',
  desc: 'asc',
};
const other = (found: string) => opposites[found] ?? found;

const rules: Rule[] = [
  // No test can meet the very instant that a comparison with the clock names.
  [/(?<=\s)(<=|>=|<|>)(?=\s(?!\s*now\(\)))/g, (found) => boundaries[found] ?? found],
  [/(?<=\s)(<=|>=|<>|<|>|=|\+|-)(?=\s|$)/g, other],
  [/(?<=[\s)'])(and|or)(?=[\s(])/g, other],
  [/\b(true|false)\b/g, other],
  [/\b(least|greatest|min|max)(?=\()/g, other],
  [/\bdesc\b/g, other],
  [/(?<=\border by )(?:[\w.]+|\w+\([^)]*\))(?! desc)(?=[\s,)]|$)/g, (found) => `${found} desc`],
  [/ for (?:no key )?(?:update|share|key share)(?: of \w+)?(?: skip locked)?(?!\w)/g, ''],
  [/ skip locked\b/g, ''],
  [/\bdistinct (?!on\b|from\b)/g, ''],
  [/\bis not null\b/g, 'is null'],
  [/\bis null\b/g, 'is not null'],
  [/\bnot (?=exists\b|in\b)/g, ''],
  [/(?<!\bnot |[\w.])exists(?= ?\()/g, 'not exists'],
  [/(?<=\s)(?<!not )in(?= \(')/g, 'not in'],
  [/\bleft join\b(?! lateral)/g, 'join'],
  // Literals, also the number of an interval, but no parameter ($1), no cast (float8) and not the 1 of `select 1`.
  [/(?<!\b(?:select|returning) )(?<![\w$.'-])\d+(?![\w.'])|(?<=')\d+(?= \w+')/g, (found) => String(Number(found) + 1)],
];

const lastKeyword = /^.*\b(set|where|on|when|and|or|from|having|join|select|filter|end)\b/s;

/** All changes of an SQL text that our rules know. `earlier` is the part of the statement that precedes it. */
export function sqlChanges(text: string, earlier = ''): SqlChange[] {
  const changes = rules.flatMap(([pattern, replacement]) =>
    [...text.matchAll(pattern)]
      .filter(({ index }) => isCode(text, index))
      .filter(({ index, 0: found }) => found !== '=' || !isAssignment(earlier + text.slice(0, index)))
      .filter(({ index, 0: found }) => found !== 'and' || !/\bbetween\s+\S+\s+$/.test(text.slice(0, index)))
      .map(({ index, 0: found }) => ({
        at: index,
        length: found.length,
        replacement: typeof replacement === 'string' ? replacement : replacement(found),
      })),
  );
  return [...changes, ...droppedFunctions(text), ...forgottenResets(text)];
}

/** `greatest(a, b)` and the like become `a` or `b` alone: the later of two events wins, or the first is all there is. */
function droppedFunctions(text: string): SqlChange[] {
  return [...text.matchAll(/\b(?:greatest|least|coalesce)\(/g)].flatMap(({ index: at, 0: found }) => {
    const parts = argumentsAt(text, at + found.length);
    if (parts === undefined || parts.length < 2 || !isCode(text, at)) return [];
    const length = found.length + parts.join(',').length + 1;
    return [parts[0], parts.at(-1)].map((part = '') => ({ at, length, replacement: part.trim() }));
  });
}

/** The arguments of a function whose bracket opens before `from`; undefined when it is not closed in this text. */
function argumentsAt(text: string, from: number): string[] | undefined {
  const parts = [''];
  let depth = 0;
  for (const character of text.slice(from)) {
    if (character === ')' && depth === 0) return parts;
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts.push(`${parts.pop()}${character}`);
  }
  return undefined;
}

/** An assignment of nothing among others is left out: the column keeps what an earlier state put there. */
function forgottenResets(text: string): SqlChange[] {
  return [...text.matchAll(/,\s*\w+ = (?:null|false|0)\b(?=\s*(?:,|where\b|$))/g)]
    .filter(({ index }) => isAssignment(text.slice(0, index)))
    .map(({ index, 0: found }) => ({ at: index, length: found.length, replacement: '' }));
}

/** Whether a position is outside of `-- comments`. */
function isCode(text: string, at: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return !line.includes('--');
}

/** An `=` after `set`, or after a `case … end` in its list, assigns. After `where`, `on`, `when` and the like it compares. */
function isAssignment(before: string): boolean {
  return ['set', 'end'].includes(lastKeyword.exec(before)?.[1] ?? '');
}
