/** Macros may name macros; beyond this depth everything counts as a filter. */
const maxDepth = 20;

/**
 * The lines of a .gitattributes file that decide which filter a file goes through (gitattributes(5)), as they stand.
 * `known` are macros with a filter that are defined elsewhere: only the file at the root may define any.
 */
export function filterLines(text: string, known: ReadonlySet<string> = new Set()): string[] {
  const lines = linesOf(text);
  const macros = macrosOf(lines, known);
  return lines.filter(({ attributes }) => attributes.some((each) => isFilter(each, macros))).map(({ line }) => line);
}

/** The names of the macros that a .gitattributes file defines and that have a filter. */
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
    // A pattern in quotation marks may hold blanks. Where it ends depends on every escape in it, so all of its words count.
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

/** `filter=name`, `filter`, `-filter` and `!filter`, or the same with a macro. */
function isFilter(attribute: string, macros: ReadonlySet<string>): boolean {
  const name = attribute.replace(/^[-!]/, '').split('=', 1)[0] ?? '';
  return name === 'filter' || macros.has(name);
}
