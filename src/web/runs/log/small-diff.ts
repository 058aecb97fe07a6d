import type { Edit } from './calls.ts';

/** A line of a diff; `@` begins another place. */
interface DiffLine {
  sign: '+' | '-' | ' ' | '@';
  text: string;
}

/** Unchanged lines shown before and after a change. */
const contextLines = 2;

/** Longer texts are cut, so that a huge file that is written at once does not keep the page busy. */
const maxChars = 100_000;

/** Returns the lines that edits remove and add, with a few unchanged lines around them. */
export function smallDiff(edits: Edit[]): DiffLine[] {
  return edits.flatMap((edit, i) => {
    const lines = 'patch' in edit ? linesOfPatch(edit.patch) : linesBetween(linesOf(edit.before), linesOf(edit.after));
    return i === 0 ? lines : [{ sign: '@', text: '' } as const, ...lines];
  });
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.slice(0, maxChars).replace(/\n$/, '').split('\n');
}

/** Everything between the first and the last difference counts as changed, which takes one pass over the lines. */
function linesBetween(before: string[], after: string[]): DiffLine[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const marked = (sign: DiffLine['sign'], lines: string[]) => lines.map((text) => ({ sign, text }));
  return [
    ...marked(' ', before.slice(Math.max(0, start - contextLines), start)),
    ...marked('-', before.slice(start, before.length - end)),
    ...marked('+', after.slice(start, after.length - end)),
    ...marked(' ', before.slice(before.length - end, before.length - end + contextLines)),
  ];
}

function linesOfPatch(patch: string): DiffLine[] {
  return linesOf(patch)
    .filter((line) => !/^\*\*\* (?:Begin|End) Patch/.test(line))
    .map((line) => {
      if (/^(?:@@|\*\*\* |diff |--- |\+\+\+ )/.test(line)) return { sign: '@', text: line };
      const sign = line.charAt(0);
      return sign === '+' || sign === '-' ? { sign, text: line.slice(1) } : { sign: ' ', text: line.replace(/^ /, '') };
    });
}
