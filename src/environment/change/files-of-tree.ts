/** The files of a tree that decide about a fetch. */
export interface FilesOfTree {
  /** The ids of all files, by path. */
  oids: Map<string, string>;
  /** The texts of manifests and lock files, by path. */
  texts: Map<string, string>;
}

/** Returns the object of a JSON file; undefined if it cannot be read. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  return JSON.parse(writtenAgain(text) ?? 'null') ?? undefined;
}

/**
 * Writes the object of a JSON file again, without keys that occur twice; undefined if it cannot be read. A program that
 * copies an object with the key `__proto__` takes more keys from there.
 */
export function writtenAgain(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    const written = `${JSON.stringify(value, null, 2)}\n`;
    return typeof value === 'object' && value !== null && !written.includes('"__proto__"') ? written : undefined;
  } catch {
    // Not JSON, or nested too deeply to be written.
    return undefined;
  }
}
