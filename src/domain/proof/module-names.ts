/** Languages in which a program uses what another file declares by that name, with or without importing it. */
const bySymbol = /\.(java|kts?|cs|fs|vb|php|swift|scala|groovy|exs?|hs|dart|mm?)$/;
/** Statements that name modules without quotes, in Python and Rust. They may continue on other lines. */
const importing: [RegExp, RegExp][] = [
  [/\.pyi?$/, /^[ \t]*(?:from|import)\b[^\n(]*(?:\([^)]{0,2000}\))?/gm],
  [/\.rs$/, /^[ \t]*(?:pub(?:\([^)\n]{0,100}\))? )?(?:use|mod)\b[^;]{0,2000};/gm],
];
/** Settings and scripts that name files without quotes. */
const unquoted = /(^|\/)[^.]+$|\.(toml|ya?ml|cfg|ini|mk|sh|bash)$/;
const quoted = /(["'`])([^"'`\s]{1,200})\1/g;
const importLine = /\b(import|from|require\w*|include\w*|load\w*|export|mock\w*)\b/;
/** Characters of a file that are looked at. */
const maxChars = 100_000;

/** A file that stands for its whole folder. */
const standsForFolder = /\/(index|__init__|mod)(\.d)?\.\w+$|\.go$/;
/** Names that many projects give to their entry point. Such a name does not tell which files import it. */
const beginning = /^(|src|lib|sources?|index|main|mod|app|cli|server|__init__|__main__)$/i;

/** Returns the name by which other files import a program; '' for the package of Go in the root. */
export function moduleNameOf(path: string): string {
  const parts = (standsForFolder.test(path) ? path.slice(0, Math.max(0, path.lastIndexOf('/'))) : path).split('/');
  return (parts.at(-1) ?? '').replace(/(\.d)?\.\w+$/, '');
}

/**
 * Returns the path by which other files import a program. Several files can have the same, such as `a.ts`, `a.js` and
 * `a/index.js`; runners load one of them.
 */
export function importPathOf(path: string): string {
  const file = standsForFolder.test(path) && !path.endsWith('.go') ? path.slice(0, path.lastIndexOf('/')) : path;
  const name = file.slice(file.lastIndexOf('/') + 1);
  return file.slice(0, file.length - name.length) + name.replace(/(\.d)?\.\w+$/, '');
}

/** Returns whether a program has a name of its own, so that its users can be told from those of others. */
export function hasOwnName(path: string): boolean {
  return !beginning.test(moduleNameOf(path));
}

/** Returns the names of modules, among others, that a file mentions where it may import or run them. */
export function modulesNamedIn(path: string, content: string): Set<string> {
  const text = content.slice(0, maxChars);
  const found = new Set<string>();
  const add = (words: string) => {
    for (const word of words.split(/[^\w.-]+/))
      for (const name of [word, word.replace(/\.\w+$/, ''), ...word.split('.')]) found.add(name);
  };
  for (const line of text.split('\n')) {
    const imports = importLine.test(line);
    for (const [, , literal = ''] of line.matchAll(quoted)) if (imports || /[./]/.test(literal)) add(literal);
  }
  for (const [language, statement] of importing)
    if (language.test(path)) for (const [words] of text.matchAll(statement)) add(words);
  if (bySymbol.test(path) || unquoted.test(path)) add(text);
  found.delete('');
  return found;
}
