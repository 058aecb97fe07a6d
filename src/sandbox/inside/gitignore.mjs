// Patterns of .gitignore files and globs. Matching takes time proportional to pattern times text, because patterns come
// from repositories and models; a translation into regular expressions would not have that bound.

/** Splits a pattern of one path component into what matches one character, or `*`. */
function tokensOf(pattern) {
  const tokens = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    const end = char === '[' ? pattern.indexOf(']', at + 2) : -1;
    if (char === '*') tokens.push('*');
    else if (char === '?') tokens.push({ fits: () => true });
    else if (end > 0) {
      tokens.push({ fits: setOf(pattern.slice(at + 1, end)) });
      at = end;
    } else {
      if (char === '\\' && at + 1 < pattern.length) at += 1;
      const wanted = pattern[at];
      tokens.push({ fits: (c) => c === wanted });
    }
  }
  return tokens;
}

/** Parses the inside of `[...]`: characters, ranges, and negation by `!` or `^`. */
function setOf(inner) {
  const isNegated = /^[!^]/.test(inner);
  const chars = isNegated ? inner.slice(1) : inner;
  const ranges = [...chars.matchAll(/(.)-(.)|(.)/gs)].map(([, from, to, one]) => [from ?? one, to ?? one]);
  return (c) => ranges.some(([from, to]) => c >= from && c <= to) !== isNegated;
}

/** Matches a list of tokens against a list of items. `isMany` marks the tokens that match any number of items. */
function matchAll(tokens, items, { isMany, fits }) {
  let [token, item, retryToken, retryItem] = [0, 0, -1, 0];
  while (item < items.length) {
    if (token < tokens.length && isMany(tokens[token])) {
      [retryToken, retryItem] = [token, item];
      token += 1;
    } else if (token < tokens.length && fits(tokens[token], items[item])) {
      token += 1;
      item += 1;
    } else if (retryToken >= 0) {
      retryItem += 1;
      [token, item] = [retryToken + 1, retryItem];
    } else return false;
  }
  while (token < tokens.length && isMany(tokens[token])) token += 1;
  return token === tokens.length;
}

const inName = { isMany: (token) => token === '*', fits: (token, char) => token.fits(char) };
const inPath = { isMany: (part) => part === '**', fits: (part, name) => matchAll(part, name, inName) };

/** Parses a glob without braces. A `**` component matches any number of folders. */
function globOf(pattern) {
  const parts = pattern.split('/').map((part) => (part === '**' ? part : tokensOf(part)));
  return (path) => matchAll(parts, path.split('/'), inPath);
}

/** At most this many alternatives of braces are tried. */
const maxAlternatives = 50;

/** Returns a test of paths for a glob such as `src/**` + `/*.{ts,tsx}`. */
export function glob(pattern) {
  let patterns = [pattern];
  for (let i = 0; i < 5; i++)
    patterns = patterns
      .flatMap((one) => {
        const [, before, inner, after] = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(one) ?? [];
        return inner === undefined ? [one] : inner.split(',').map((choice) => before + choice + after);
      })
      .slice(0, maxAlternatives);
  const tests = patterns.map(globOf);
  return (path) => tests.some((test) => test(path));
}

/** Parses a .gitignore file of the folder `base` (relative to the root, '' for the root itself). */
export function ignoreRules(text, base) {
  return text.split(/\r?\n/).flatMap((line) => {
    const pattern = withoutBlanks(line);
    if (pattern === '' || pattern.startsWith('#')) return [];
    const isNegated = pattern.startsWith('!');
    const isForFolders = pattern.endsWith('/');
    const body = pattern.slice(isNegated ? 1 : 0, isForFolders ? -1 : undefined);
    // A pattern with a slash before its end counts from the folder of the file, any other one at every depth.
    const relative = body.includes('/') ? body.replace(/^\//, '') : `**/${body}`;
    if (body === '' || relative === '') return [];
    return [{ isNegated, isForFolders, base: base === '' ? '' : `${base}/`, test: globOf(relative) }];
  });
}

/** Removes the blanks at the end of a line, as git does, but keeps one that is escaped. */
function withoutBlanks(line) {
  const trimmed = line.trimEnd();
  return trimmed.endsWith('\\') && trimmed !== line ? `${trimmed} ` : trimmed;
}

/** Returns whether git would ignore a path, by the rules of its folders. The last rule that matches decides. */
export function isIgnored(rules, path, isFolder) {
  const rule = rules.findLast(
    ({ isForFolders, base, test }) =>
      (isFolder || !isForFolders) && path.startsWith(base) && test(path.slice(base.length)),
  );
  return rule !== undefined && !rule.isNegated;
}
