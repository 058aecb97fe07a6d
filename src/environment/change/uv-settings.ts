/**
 * Returns the statements of a TOML file that could configure uv, however they spell `tool.uv`; the whole text if it cannot
 * be read.
 */
export function settingsOfUv(text: string): string {
  const parts = partsOf(text);
  if (parts === undefined) return text;
  const statements = [''];
  let depth = 0;
  for (const part of parts) {
    if (part === '\n' && depth === 0) statements.push('');
    else if (!part.startsWith('#')) statements.push((statements.pop() ?? '') + part);
    if (/^[[{]$/.test(part)) depth++;
    if (/^[\]}]$/.test(part)) depth--;
  }
  // The root table may have keys of `tool`.
  let [isOfUv, mayNameUv] = [false, true];
  const settings = statements
    .map((each) => each.trim())
    .filter((statement) => {
      // A backslash may spell any name.
      const namesUv = /\buv\b|\\/.test(statement);
      if (statement.startsWith('[')) {
        isOfUv = namesUv;
        mayNameUv = /^\[\s*["']?tool["']?\s*\]$/.test(statement);
      }
      return isOfUv ? statement !== '' : mayNameUv && namesUv;
    });
  return settings.join('\n');
}

/** Whatever a string of TOML cannot begin in: comments, brackets, ends of lines, and the text between them. */
const outsideStrings = /#[^\n]*|[[\]{}]|\n|[^#"'[\]{}\n]+/y;

/** Splits a TOML file into its strings and what is between them. Returns undefined if a string has no end. */
function partsOf(text: string): string[] | undefined {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    outsideStrings.lastIndex = at;
    const end = outsideStrings.test(text) ? outsideStrings.lastIndex : endOfString(text, at);
    if (end === undefined) return undefined;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

/** Returns where the string ends that begins at a position. A pattern would look for the ends of all strings again. */
function endOfString(text: string, start: number): number | undefined {
  const sign = text[start] ?? '';
  const hasLines = text.startsWith(sign.repeat(3), start);
  const quotes = hasLines ? sign.repeat(3) : sign;
  for (let at = start + quotes.length; at < text.length; at++) {
    if (text[at] === '\\' && sign === '"') at++;
    else if (text.startsWith(quotes, at)) {
      let end = at + quotes.length;
      // A string of several lines may end with two quotes of its own.
      while (hasLines && end < at + 5 && text[end] === sign) end++;
      return end;
    }
    if (text[at] === '\n' && !hasLines) return undefined;
  }
  return undefined;
}
