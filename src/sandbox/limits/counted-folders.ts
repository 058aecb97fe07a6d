/** Folders whose files count for a run's limit on disk. A folder that was added twice counts until deleted twice. */
export interface CountedFolders {
  all: Set<string>;
  add(folder: string): void;
  delete(folder: string): void;
}

export function countedFolders(): CountedFolders {
  const uses = new Map<string, number>();
  const all = new Set<string>();
  const change = (folder: string, by: number) => {
    const left = (uses.get(folder) ?? 0) + by;
    uses.set(folder, left);
    if (left > 0) all.add(folder);
    else all.delete(folder);
  };
  return { all, add: (folder) => change(folder, 1), delete: (folder) => change(folder, -1) };
}
