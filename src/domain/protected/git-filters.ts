/** Macros can refer to other macros. Beyond this depth, every macro is treated as a filter. */
const maxDepth = 20;

/**
 * Returns the lines of a .gitattributes file that choose a filter for files, in their order (gitattributes(5)). Filters
 * run commands. Only the file at the root defines macros, so `known` has those macros that contain a filter.
 */
export function filterLines(text: string, known: ReadonlySet<string> = new Set()): string[] {
  const lines = linesOf(text);
  const macros = macrosOf(lines, known);
  return lines.filter(({ attributes }) => attributes.some((each) => isFilter(each, macros))).map(({ line }) => line);
}

/** Returns the names of the macros with a filter that a .gitattributes file defines. */
export function filterMacros(text: string): Set<string> {
  return macrosOf(linesOf(text), new Set());
}

interface Line {
  line: string;
  pattern: string;
  attributes: string[];
}

function linesOf(text: string): Line[] {
  const found: Line[] = [];
  for (const raw of text.replace(/^(\ufeff|\xef\xbb\xbf)/, '').split('\n')) {
    const words = raw.split(/[ \t\r]+/).filter(Boolean);
    const [pattern] = words;
    if (pattern === undefined || pattern.startsWith('#')) continue;
    // A quoted pattern may contain spaces, and finding its end would require parsing every escape. Treating all words
    // as attributes may find too many filters, but never too few.
    const isQuoted = pattern.startsWith('"');
    const attributes = isQuoted ? words.flatMap((word) => word.split('"')) : words.slice(1);
    found.push({ line: words.join(' '), pattern, attributes });
  }
  return found;
}

const macroMark = '[attr]';

function macrosOf(lines: Line[], known: ReadonlySet<string>): Set<string> {
  const definitions = lines.filter(({ pattern }) => pattern.startsWith(macroMark) && pattern !== macroMark);
  const macros = new Set(known);
  for (let depth = 0; depth <= maxDepth; depth++) {
    const before = macros.size;
    for (const { pattern, attributes } of definitions)
      if (depth === maxDepth || attributes.some((each) => isFilter(each, macros)))
        macros.add(pattern.slice(macroMark.length));
    if (macros.size === before) break;
  }
  return macros;
}

/** Returns whether an attribute is `filter=name`, `filter`, `-filter` or `!filter`, or the same with a macro. */
function isFilter(attribute: string, macros: ReadonlySet<string>): boolean {
  const name = attribute.replace(/^[-!]/, '').replace(/=.*/s, '');
  return name === 'filter' || macros.has(name);
}
