import { type Change, type Files, isEdit, isRemoval } from '../tasks/task.ts';

/**
 * Returns the files after some changes.
 * @throws Error when the text of an edit does not occur exactly once, or a file to remove does not exist
 */
export function changed(files: Files, changes: Change[]): Files {
  const result = new Map(files);
  for (const change of changes) {
    if (isRemoval(change)) {
      if (!result.delete(change.file)) throw new Error(`${change.file} does not exist and cannot be removed`);
    } else if (isEdit(change)) {
      const text = result.get(change.file)?.toString('utf8');
      if (text === undefined) throw new Error(`${change.file} does not exist and cannot be edited`);
      const count = text.split(change.find).length - 1;
      if (count !== 1)
        throw new Error(`${change.file} contains ${JSON.stringify(change.find)} ${count} times, not once`);
      result.set(change.file, Buffer.from(text.replace(change.find, () => change.replace)));
    } else result.set(change.file, Buffer.from(change.content));
  }
  return result;
}

/** Returns files with these contents. */
export function filesOf(contents: Record<string, string>): Files {
  return new Map(Object.entries(contents).map(([path, text]) => [path, Buffer.from(text)]));
}
