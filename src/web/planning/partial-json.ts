/** A place where JSON can be cut, and the brackets that are open there. */
interface Cut {
  at: number;
  closers: string;
}

/** A string, which may be cut, or a character of the structure. */
const tokens = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\],]/gs;
const wholeString = /^"(?:[^"\\]|\\.)*"$/s;
/** An escape that is cut in the middle would make the string invalid. */
const cutEscape = /(?<!\\)((?:\\\\)*)\\(?:u[\da-f]{0,3})?$/i;

/** Parses JSON that may end anywhere, as far as it goes. Returns undefined before the first value. */
export function partialJson(text: string): unknown {
  const { closers, last, isInString } = scan(text);
  return parsed((isInString ? endedString(text) : text) + closers) ?? (last && parsed(upTo(text, last)));
}

function scan(text: string): { closers: string; last: Cut | undefined; isInString: boolean } {
  let closers = '';
  let last: Cut | undefined;
  let isInString = false;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      closers = `${token === '{' ? '}' : ']'}${closers}`;
      last = { at: index + 1, closers };
    } else if (token === '}' || token === ']') closers = closers.slice(1);
    else if (token === ',') last = { at: index, closers };
    else isInString = !wholeString.test(token);
  }
  return { closers, last, isInString };
}

function endedString(text: string): string {
  return `${text.replace(cutEscape, '$1')}"`;
}

function upTo(text: string, { at, closers }: Cut): string {
  return text.slice(0, at) + closers;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
