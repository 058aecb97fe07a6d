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
  const isInAnother = (path: string) => parentsOf(path).some((parent) => all.has(parent));
  const folders = [...all].filter((folder) => !isInAnother(folder)).sort();
  const above = new Set(['', ...folders.flatMap(parentsOf)]);
  const holds = (folder: string) => all.has(folder) || isInAnother(folder);
  return { folders, holds, has: (path) => above.has(path.slice(0, Math.max(0, path.lastIndexOf('/')))) || holds(path) };
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
