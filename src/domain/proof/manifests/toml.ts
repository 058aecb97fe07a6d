/** A value of a file in TOML: where it is, and its text without comments and without space between its parts. */
export interface Entry {
  path: string[];
  value: string;
}

/** A part that is no valid TOML, or is written in a way that is not read here. */
class Unreadable extends Error {}

/**
 * Returns the values of a file in TOML, in their order; undefined for a text that is no valid TOML, or has names with
 * escapes. The header of a table is an entry of its own, because an empty table can decide. Values are not evaluated.
 */
export function entriesOf(text: string): Entry[] | undefined {
  // Parsers disagree about other control characters and line ends.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  if (/[\0-\x08\x0b-\x1f\x7f\x85\u2028\u2029]/.test(text.replaceAll('\r\n', '\n'))) return undefined;
  try {
    return new Reader(text.replaceAll('\r\n', '\n')).entries();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  entries(): Entry[] {
    const found: Entry[] = [];
    const counts = new Map<string, number>();
    let table: string[] = [];
    for (this.#skip(/[ \t\n]/); this.#at < this.#text.length; this.#skip(/[ \t\n]/)) {
      if (this.#next() === '#') this.#skip(/[^\n]/);
      else if (this.#next() === '[') {
        table = this.#header(counts);
        found.push({ path: [...table, ''], value: '' });
      } else {
        const key = this.#key();
        this.#expect('=');
        found.push({ path: [...table, ...key], value: this.#value() });
      }
    }
    return found;
  }

  /** Reads the name of a table, and counts those of an array of tables. */
  #header(counts: Map<string, number>): string[] {
    const isOfArray = this.#text.startsWith('[[', this.#at);
    this.#at += isOfArray ? 2 : 1;
    const name = this.#key();
    this.#expect(isOfArray ? ']]' : ']');
    this.#endLine();
    if (!isOfArray) return name;
    const all = JSON.stringify(name);
    counts.set(all, (counts.get(all) ?? 0) + 1);
    return [...name, String(counts.get(all))];
  }

  #key(): string[] {
    const parts: string[] = [];
    do {
      if (parts.length > 0) this.#at += 1;
      this.#skip(/[ \t]/);
      const quote = this.#next();
      const from = this.#at;
      if (quote === '"' || quote === "'") this.#string();
      else this.#skip(/[\w-]/);
      const part = this.#text.slice(from, this.#at);
      if (part === '' || part.includes('\\') || part.includes('\n')) throw new Unreadable();
      parts.push(/^["']/.test(part) ? part.slice(1, -1) : part);
      this.#skip(/[ \t]/);
    } while (this.#next() === '.');
    return parts;
  }

  /** Reads a value up to the end of its line, or of the line on which its last bracket closes. */
  #value(): string {
    const parts: string[] = [];
    let depth = 0;
    while (this.#at < this.#text.length && !(depth === 0 && this.#next() === '\n')) {
      const part = this.#part();
      parts.push(part);
      if (part === '[' || part === '{') depth += 1;
      if (part === ']' || part === '}') depth -= 1;
    }
    const value = parts.join('');
    if (depth !== 0 || value === '') throw new Unreadable();
    return value;
  }

  /** Reads a text in quotes or a character of a value; nothing for a space or a comment. */
  #part(): string {
    const from = this.#at;
    const char = this.#next();
    if (char === '#') {
      this.#skip(/[^\n]/);
      return '';
    }
    if (char === '"' || char === "'") this.#string();
    else this.#at += 1;
    return /[ \t\n]/.test(char) ? '' : this.#text.slice(from, this.#at);
  }

  /** Skips a text in quotes, which may have several lines in three quotes. */
  #string(): void {
    const quote = this.#next();
    const isLong = this.#text.startsWith(quote.repeat(3), this.#at);
    const end = isLong ? quote.repeat(3) : quote;
    for (this.#at += end.length; !this.#text.startsWith(end, this.#at); this.#at += 1) {
      if (this.#at >= this.#text.length || (!isLong && this.#next() === '\n')) throw new Unreadable();
      if (quote === '"' && this.#next() === '\\') this.#at += 1;
    }
    this.#at += end.length;
    // A long text may end with quotes of its own.
    while (isLong && this.#next() === quote) this.#at += 1;
  }

  #endLine(): void {
    this.#skip(/[ \t]/);
    if (this.#next() === '#') this.#skip(/[^\n]/);
    if (this.#at < this.#text.length) this.#expect('\n');
  }

  #expect(text: string): void {
    if (!this.#text.startsWith(text, this.#at)) throw new Unreadable();
    this.#at += text.length;
  }

  #next(): string {
    return this.#text[this.#at] ?? '';
  }

  #skip(chars: RegExp): void {
    while (this.#at < this.#text.length && chars.test(this.#next())) this.#at += 1;
  }
}
