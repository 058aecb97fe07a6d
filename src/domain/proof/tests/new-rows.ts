import type { Group, Placed } from './new-lines.ts';
import type { Line } from './test-lines.ts';

/**
 * Returns whether new lines only add rows to a table, keys to an object or names to an import. They end with a comma, as
 * arguments of a call do, so the earlier lines around them have to be such rows, keys or names.
 */
export function inRows(said: Line[], group: Group, known: Set<string>): 'values' | 'names' | undefined {
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
