/** Names of files with expectations that a tool writes. */
const snapshotName =
  /(^|\/)[^/]+\.(snap|snapshot|snapshots|ambr)$|(^|\/)[^/]+\.(approved|verified)\.(txt|json|xml|html|md|csv)$/;
/** Those that a test runner may run as programs. */
const program = /\.(snap|snapshots?)$/;
/** How files of insta and syrupy begin. No program does. */
const isNoProgram = /^(---\n|# serializer version)/;

/** Returns whether a file holds expectations that a tool writes, by its name. */
export function isSnapshotName(path: string): boolean {
  return snapshotName.test(path);
}

/** What may be between snapshots. Some characters end a comment in JavaScript, but no line elsewhere. */
const between = /(?:\s|\/\/[^\n\r\u2028\u2029]*)*/y;
const [head, middle, end] = ['exports[`', '`] = `', '`;'];

/**
 * Returns whether a file holds nothing but snapshots. Jest, Vitest and Node run files of snapshots as programs, so one with
 * anything else could do whatever it wants to the tests.
 */
export function holdsOnlySnapshots(path: string, text: string): boolean {
  if (!isSnapshotName(path)) return false;
  if (!program.test(path) || isNoProgram.test(text)) return true;
  for (let at = afterSpace(text, 0); at < text.length; at = afterSpace(text, at)) {
    if (!text.startsWith(head, at)) return false;
    const name = endOfText(text, at + head.length);
    if (name === undefined || !text.startsWith(middle, name)) return false;
    const value = endOfText(text, name + middle.length);
    if (value === undefined || !text.startsWith(end, value)) return false;
    at = value + end.length;
  }
  return true;
}

function afterSpace(text: string, at: number): number {
  between.lastIndex = at;
  between.test(text);
  return between.lastIndex;
}

/** Returns where a text in backticks ends; undefined where it does not, or holds code. */
function endOfText(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '`') return at;
    if (text[at] === '\\') at += 1;
    else if (text.startsWith('${', at)) return undefined;
  }
  return undefined;
}
