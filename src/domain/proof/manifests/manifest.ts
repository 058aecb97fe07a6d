/** What is known of the repository around a manifest. */
export interface Surroundings {
  /** The checks, if they are known to run no other scripts of package.json than those that these name. */
  commands?: string[];
  /** The words of all commands. */
  words: Set<string>;
  /** Whether the manifest is new, in a folder in which the base has no file. Then it decides about no older test. */
  isNewFolder: boolean;
}

/** A value before and after a change; undefined where there is none. */
export interface Sides {
  old: string | undefined;
  now: string | undefined;
}

/**
 * Returns whether a value that differs decides how tests run. The last part of a path is empty for the header of a table.
 * `had` says whether a table or value was there.
 */
export type Decides = (path: string[], sides: Sides, isNewFolder: boolean, had: (path: string[]) => boolean) => boolean;

/** Returns the text in quotes; undefined for another value, and for a text with escapes. */
export function textIn(value: string | undefined): string | undefined {
  return /^(["'])([^"'\\\n]*)\1$/.exec(value ?? '')?.[2];
}
