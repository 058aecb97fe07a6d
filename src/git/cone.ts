/**
 * The part of a repository that a narrow checkout writes, as git's cone mode defines it (git-sparse-checkout(1)): everything
 * in the chosen folders, and the files that lie directly in the folders above them and at the root.
 */
export interface Cone {
  /** The chosen folders. None of them lies in another one. */
  folders: string[];
  /** Returns whether the checkout writes a path. */
  has(path: string): boolean;
  /** Returns whether the checkout writes everything below a folder. */
  holds(folder: string): boolean;
}

export function coneOf(given: string[]): Cone {
  const all = new Set(given);
  const isInAnother = belowAny(given);
  const folders = [...all].filter((folder) => !isInAnother(folder)).sort();
  const above = new Set(['', ...folders.flatMap(parentsOf)]);
  const holds = (folder: string) => all.has(folder) || isInAnother(folder);
  return { folders, holds, has: (path) => above.has(path.slice(0, Math.max(0, path.lastIndexOf('/')))) || holds(path) };
}

/**
 * Returns whether a path lies below one of these. Deep paths take hardly longer than others: a change may have thousands of
 * files below two thousand folders.
 */
export function belowAny(paths: Iterable<string>): (path: string) => boolean {
  // What lies below a path follows it directly in this order.
  const roots: string[] = [];
  for (const root of Array.from(paths, (path) => `${path}/`).sort())
    if (roots.length === 0 || !root.startsWith(roots.at(-1) as string)) roots.push(root);
  return (path) => {
    let [low, high] = [0, roots.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((roots[middle] as string) < path) low = middle + 1;
      else high = middle;
    }
    return low > 0 && path.startsWith(roots[low - 1] as string);
  };
}

/** Returns the folders above a path, without the root. */
function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) parents.push(path.slice(0, at));
  return parents;
}

/** Writes the patterns of a cone in the form that git expects in `info/sparse-checkout`. */
export function patternsOf({ folders }: Cone): string {
  const above = [...new Set(folders.flatMap(parentsOf))].sort();
  const lines = ['/*', '!/*/', ...above.flatMap((folder) => [`/${escaped(folder)}/`, `!/${escaped(folder)}/*/`])];
  return `${[...lines, ...folders.map((folder) => `/${escaped(folder)}/`)].join('\n')}\n`;
}

function escaped(folder: string): string {
  return folder.replace(/[\\*?[\]]/g, '\\$&');
}
