export type Side = 'LEFT' | 'RIGHT';

/** A changed file as a diff shows it. Each line of a hunk begins with a space, `+` or `-`. */
export interface FileInDiff {
  path: string;
  previousPath?: string;
  hunks: { oldStart: number; newStart: number; lines: string[] }[];
}

/** The lines that a diff adds (`RIGHT`, numbered in the new file) and removes (`LEFT`, numbered in the old one), by file. */
export type ChangedLines = Map<string, Record<Side, Map<number, string>>>;

/** Returns the lines that a diff adds and removes. Lines of context are no part of a change. */
export function changedLinesOf(files: FileInDiff[]): ChangedLines {
  const found: ChangedLines = new Map();
  for (const { path, hunks } of files) {
    const sides = { LEFT: new Map<number, string>(), RIGHT: new Map<number, string>() };
    for (const { oldStart, newStart, lines } of hunks) {
      let [old, now] = [oldStart, newStart];
      for (const each of lines) {
        const text = each.slice(1);
        if (each.startsWith('+')) sides.RIGHT.set(now++, text);
        else if (each.startsWith('-')) sides.LEFT.set(old++, text);
        else {
          old += 1;
          now += 1;
        }
      }
    }
    found.set(path, sides);
  }
  return found;
}

/**
 * Returns the changed lines of a pull request that are new since an earlier review. `since` is the diff from the commit that
 * was reviewed to the present one, and `before` are the changed lines of that review. Lines that were removed have no numbers
 * that both reviews share, so they are told apart by their text.
 */
export function newSince(all: ChangedLines, since: FileInDiff[], before: ChangedLines): ChangedLines {
  const added = changedLinesOf(since);
  const found: ChangedLines = new Map();
  for (const [path, { LEFT, RIGHT }] of all) {
    const known = new Set(before.get(path)?.LEFT.values() ?? []);
    const isAdded = added.get(path)?.RIGHT;
    const right = [...RIGHT].filter(([line]) => isAdded?.has(line));
    const left = [...LEFT].filter(([, text]) => !known.has(text));
    if (left.length + right.length > 0) found.set(path, { LEFT: new Map(left), RIGHT: new Map(right) });
  }
  return found;
}

/** Returns line numbers in the order of the file, with runs of them joined: `3-7, 12`. */
export function rangesOf(lines: Iterable<number>, most = 20): string {
  const ranges: [number, number][] = [];
  for (const line of [...lines].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  const shown = ranges.slice(0, most).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return [...shown, ...(ranges.length > most ? ['…'] : [])].join(', ');
}
