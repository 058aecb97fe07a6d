/** What the build's manifest says about a script. */
export interface Chunk {
  name?: string;
  file: string;
  css?: string[];
  /** Keys of the scripts that it imports at its start. */
  imports?: string[];
}

export type Manifest = Record<string, Chunk>;

/** The pages that people open from links and bookmarks, and the names of their scripts. */
const pages: [RegExp, string][] = [
  [/^\/(inbox\/?)?$/, 'inbox-page'],
  [/^\/projects\/[^/]+\/?$/, 'board-page'],
  [/^\/tasks\/[^/]+\/?$/, 'task-page'],
  [/^\/tasks\/[^/]+\/runs\/[^/]+\/?$/, 'run-page'],
];

/**
 * Returns the elements that let a browser load the scripts and styles of a page together with the main script. Otherwise it
 * would find out about them only when the main script runs.
 */
export function preloadsOf(manifest: Manifest, path: string): string {
  const name = pages.find(([pattern]) => pattern.test(path))?.[1];
  const page = Object.keys(manifest).find((key) => manifest[key]?.name === name);
  if (name === undefined || page === undefined) return '';
  const inDocument = new Set(filesOf(manifest, 'index.html'));
  const files = filesOf(manifest, page).filter((file) => !inDocument.has(file));
  return [...new Set(files)].map(elementOf).join('');
}

/** Returns the files of a script and of everything that it imports at its start, imported ones first. */
function filesOf(manifest: Manifest, key: string, seen = new Set<string>()): string[] {
  const chunk = manifest[key];
  if (chunk === undefined || seen.has(key)) return [];
  seen.add(key);
  const { file, css = [], imports = [] } = chunk;
  return [...imports.flatMap((each) => filesOf(manifest, each, seen)), ...css, file];
}

/** The attributes are those that Vite gives its own elements, so that it recognizes these and does not add them again. */
function elementOf(file: string): string {
  const rel = file.endsWith('.css') ? 'stylesheet' : 'modulepreload';
  return `<link rel="${rel}" crossorigin href="/${file}">`;
}
