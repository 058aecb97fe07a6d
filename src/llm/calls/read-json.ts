import { parseWithin } from '../../domain/json/json-cost.ts';

/** The reading of a text that should be a JSON value. A problem is a message for the model. */
export type Reading = { value: unknown; problem?: undefined } | { value?: undefined; problem: string };

/** The deepest nesting that is read. */
const maxDepth = 50;
/** The most values that are read. Our largest tool needs about 2,000. */
const maxValues = 5000;

/**
 * Reads JSON as models write it. Valid JSON is read as it is. Otherwise repairs mistakes that leave only one reading:
 * line breaks and tabs inside strings, commas before a closing bracket, missing brackets at the end, single quotes, a
 * code fence or leftover brackets around the value. Everything else is refused, and so is what breaks off in the middle
 * of a string or after a comma, because the missing part is unknown.
 *
 * @param isCut whether the model's answer reached its length limit; then nothing is added at the end
 */
export function readJson(text: string, { isCut = false }: { isCut?: boolean } = {}): Reading {
  const bare = withoutFence(text.trim());
  if (bare === '') return isCut ? { problem: 'the arguments were cut off' } : { value: {} };
  try {
    return { value: parseWithin(bare, maxValues) };
  } catch {
    // This includes text with too many values: the count takes the contents of strings in single quotes for values.
    return repaired(bare, isCut);
  }
}

/** Removes the marks of a code block around a value. */
function withoutFence(text: string): string {
  const lines = text.split('\n');
  const isFenced = lines.length > 2 && /^```\w*$/.test(lines[0] ?? '') && lines.at(-1)?.trim() === '```';
  return isFenced ? lines.slice(1, -1).join('\n').trim() : text;
}

function repaired(text: string, isCut: boolean): Reading {
  try {
    const scanner = new Scanner(text, isCut);
    const value = scanner.value(0);
    return isLeftover(scanner.rest(), value) ? { value } : { problem: 'there is more text after the JSON object' };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

/** Returns whether the text after a value can be left out: brackets, fences, marks of a chat format, the value again. */
function isLeftover(rest: string, value: unknown): boolean {
  const text = rest.trim();
  if (text.length > 100_000) return false;
  if (/^(?:[\]}`;,"]|<\/?[\w|:.-]{1,60}>|\s){0,40}$/.test(text)) return true;
  try {
    return JSON.stringify(parseWithin(text, maxValues)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

class Unreadable extends Error {}

const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const words: Record<string, unknown> = { true: true, false: false, null: null, True: true, False: false, None: null };

/** Reads one value from a text, in one pass. */
class Scanner {
  #at = 0;
  #values = 0;
  readonly #text: string;
  readonly #isCut: boolean;

  constructor(text: string, isCut: boolean) {
    this.#text = text;
    this.#isCut = isCut;
  }

  rest(): string {
    return this.#text.slice(this.#at);
  }

  value(depth: number): unknown {
    this.#values += 1;
    if (this.#values > maxValues) throw new Unreadable(`it has more than ${maxValues} values; send fewer`);
    if (depth > maxDepth) throw new Unreadable(`the value is nested deeper than ${maxDepth} levels`);
    const char = this.#peek();
    if (char === '{') return this.#object(depth);
    if (char === '[') return this.#list(depth);
    if (char === '"' || char === "'") return this.#string(char);
    return this.#word();
  }

  #object(depth: number): object {
    const entries = new Map<string, unknown>();
    this.#at += 1;
    while (!this.#closes('}', entries.size)) {
      const quote = this.#peek();
      const key = quote === '"' || quote === "'" ? this.#string(quote) : this.#name();
      if (entries.has(key)) throw new Unreadable(`the key ${key.slice(0, 50)} occurs twice`);
      if (this.#peek() !== ':') throw this.#unexpected('a colon after a key');
      this.#at += 1;
      entries.set(key, this.value(depth + 1));
    }
    return Object.fromEntries(entries);
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    while (!this.#closes(']', items.length)) items.push(this.value(depth + 1));
    return items;
  }

  /** Reads what follows an entry. Returns true when the object or list ends here. */
  #closes(bracket: '}' | ']', count: number): boolean {
    let char = this.#peek();
    const hasComma = count > 0 && char === ',';
    if (hasComma) {
      this.#at += 1;
      char = this.#peek();
    }
    if (char === bracket) {
      this.#at += 1;
      return true;
    }
    // A missing bracket at the end of a complete answer. After a comma an entry may be missing too.
    if (char === undefined && !hasComma && count > 0 && !this.#isCut) return true;
    if (char === undefined) throw new Unreadable('the arguments break off before their end');
    if (count > 0 && !hasComma) throw this.#unexpected(`a comma or ${bracket}`);
    return false;
  }

  #string(quote: string): string {
    let result = '';
    let oddities = 0;
    let ambiguous = 0;
    for (this.#at += 1; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at] as string;
      if (char === quote) {
        this.#at += 1;
        // A lone backslash is meant literally, as in \d. Then \n beside it could be meant literally too.
        if (oddities > 0 && ambiguous > 0) throw new Unreadable('a string mixes single and double backslashes');
        return result;
      }
      if (char !== '\\') {
        result += char;
        continue;
      }
      this.#at += 1;
      const [read, kind] = this.#escape();
      result += read;
      if (kind === 'odd') oddities += 1;
      if (kind === 'ambiguous') ambiguous += 1;
    }
    throw new Unreadable('the arguments break off inside a string');
  }

  /** Reads the character or characters after a backslash. */
  #escape(): [text: string, kind: 'plain' | 'ambiguous' | 'odd'] {
    const char = this.#text[this.#at] ?? '';
    if (char === '"' || char === '\\' || char === '/' || char === "'" || char === '\n') return [char, 'plain'];
    const known = escapes[char];
    if (known !== undefined) return [known, 'ambiguous'];
    const code = char === 'u' ? /^[0-9a-fA-F]{4}/.exec(this.#text.slice(this.#at + 1, this.#at + 5))?.[0] : undefined;
    if (code === undefined) return [`\\${char}`, 'odd'];
    this.#at += 4;
    return [String.fromCharCode(Number.parseInt(code, 16)), 'ambiguous'];
  }

  /** Reads a key without quotes. */
  #name(): string {
    const [name] = /^[A-Za-z_]\w{0,60}/.exec(this.#text.slice(this.#at, this.#at + 70)) ?? [];
    if (name === undefined) throw this.#unexpected('a key in double quotes');
    this.#at += name.length;
    return name;
  }

  #word(): unknown {
    const [word] = /^[\w.+-]{1,40}/.exec(this.#text.slice(this.#at, this.#at + 41)) ?? [];
    if (word === undefined) throw this.#unexpected('a value');
    this.#at += word.length;
    if (Object.hasOwn(words, word)) return words[word];
    if (/^-?\d+(?:\.\d+)?$/.test(word)) return Number(word);
    throw new Unreadable(`the value ${word} must be in double quotes`);
  }

  /** Returns the next character that is not a blank, without reading it; undefined at the end. */
  #peek(): string | undefined {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    return this.#text[this.#at];
  }

  #unexpected(expected: string): Unreadable {
    const found = this.#text.slice(this.#at, this.#at + 20) || 'nothing';
    return new Unreadable(`expected ${expected}, found ${JSON.stringify(found)} at character ${this.#at}`);
  }
}
