import { stripVTControlCharacters } from 'node:util';
import { oneLine, visible } from '../../../src/domain/text/sanitize.ts';

/** Where a command prints. Text from the service is data: nothing in it reaches the terminal as an order. */
export interface Terminal {
  isJson: boolean;
  /** Whether a line can be written again in its place. */
  isLive: boolean;
  /** Prints text as it is shown to people; nothing with `--json`. */
  say(text: string): void;
  /** Prints what the command found: the value itself with `--json`, otherwise its text. */
  print(value: unknown, text: () => string): void;
  /** The same for one of many values, each on a line of its own. */
  printEach(value: unknown, text: () => string): void;
  /** Prints advice that does not belong to the output. */
  advise(text: string): void;
  /** Shows a line that the next one replaces. */
  live(line: string): void;
  /** Removes this text from everything that is printed, if it is as long as a secret. */
  hide(secret: string): void;
}

/** Returns text without characters that move the cursor, set colours, hide or reorder text. */
export function shown(text: string): string {
  return visible(stripVTControlCharacters(text)).replace(/\r\n?|[\v\f\u2028\u2029]/g, '\n');
}

/** Returns text as one line without such characters. */
export const shownLine = (text: string, max = 200): string => oneLine(shown(text), max);

/** JSON may hold every character as an escape, so that none reaches the terminal. */
function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, (found) =>
    Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );
}

export function openTerminal(isJson: boolean): Terminal {
  const { stdout, stderr } = process;
  const secrets: string[] = [];
  const isLive = stdout.isTTY === true && !isJson && process.env.TERM !== 'dumb';
  let hasLine = false;
  const clean = (text: string) => secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
  const clear = () => {
    if (hasLine) stdout.write('\r\x1b[2K');
    hasLine = false;
  };
  const write = (text: string) => {
    clear();
    stdout.write(`${clean(text)}\n`);
  };
  return {
    isJson,
    isLive,
    say: (text) => {
      if (!isJson) write(shown(text));
    },
    print: (value, text) => write(isJson ? jsonText(value, 2) : shown(text())),
    printEach: (value, text) => write(isJson ? jsonText(value) : shown(text())),
    advise: (text) => {
      clear();
      stderr.write(`${clean(isJson ? text : shown(text))}\n`);
    },
    live: (line) => {
      if (!isLive) return;
      clear();
      // Terminals without a size say that they have 0 columns.
      stdout.write(clean(cut(shownLine(line, 1000), (stdout.columns || 80) - 1)));
      hasLine = true;
    },
    hide: (secret) => {
      // A typo such as "a" is no secret, and hiding it would take letters out of every message.
      if (secret.length >= 8) secrets.push(secret);
    },
  };
}

/** Cuts a line to the width of the terminal, in which letters of East Asia take two columns. */
function cut(line: string, columns: number): string {
  let width = 0;
  let end = 0;
  for (const letter of line) {
    width += (letter.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1;
    if (width > columns) return `${line.slice(0, Math.max(0, end - 1))}…`;
    end += letter.length;
  }
  return line;
}

/** Returns an error as JSON, for programs. */
export function errorJson(error: { status: number | null; message: string; errors: unknown[] }): string {
  return jsonText({ error });
}
