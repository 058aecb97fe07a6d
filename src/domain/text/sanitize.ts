/** Returns text that PostgreSQL can store: replaces NUL characters and lone surrogates by U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Copies a JSON value and makes every string in it storable in PostgreSQL. */
export function storable<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (_key, v) => (typeof v === 'string' ? storableText(v) : v)));
}

/** Converts a value to JSON and makes every string in it storable in PostgreSQL. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, v) => (typeof v === 'string' ? storableText(v) : v));
}

/**
 * Removes all of these characters from the end of a text, in linear time. A regular expression such as `/x+$/` would start
 * again at each of many that are not at the end.
 */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/**
 * Converts a title to lower-case letters and digits joined by dashes, without accents. Returns an empty string for a
 * title with no letters or digits.
 */
export function slug(title: string, max = 40): string {
  return title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, max)
    .replace(/-+$/, '');
}

/** What begins an image, unless it is an attachment on GitHub, whose address nobody else can choose. */
const remoteImage =
  /!(?=\[)(?!\[[\w .-]{0,100}\]\(https:\/\/(?:github\.com\/user-attachments\/assets\/[0-9a-f-]{36}|(?:private-)?user-images\.githubusercontent\.com\/[\w./-]{1,200})\))/g;

/** Which images a text may have on GitHub: none, or what somebody has attached there, in texts of people. */
export type Images = 'none' | 'attached';

/**
 * Makes text by people or a model harmless in a comment or pull request. The text mentions nobody, closes and links no
 * issue, runs no command and opens no HTML comment. It looks the same to a reader, except that a diagram is code, and an image is a
 * link: GitHub fetches images when somebody looks, so their addresses could carry what the model has read. Never cut the result, but call
 * `harmlessText`: a cut could leave the beginning of an attached image, which a definition in the text would complete.
 */
export function harmless(text: string, commandPrefix: string, images: Images = 'none'): string {
  const joiner = '\u2060';
  return (
    text
      .replace(/\r\n?/g, '\n')
      // GitHub does not store some of these, so what stands on both sides would come together.
      .replace(/[\u202A-\u202E\u2066-\u2069]|(?![\t\n])\p{Cc}|\p{Cs}/gu, '')
      .replace(/&(?=#\d+;|#x[0-9a-f]+;|[a-z]+;)/gi, '&amp;')
      .replace(/<!--/g, '&lt;!--')
      .replace(images === 'none' ? /!(?=\[)/g : remoteImage, `!${joiner}`)
      // GitHub draws these from what the text says, and a diagram may load images.
      .replace(/(?<=```|~~~)(?=[^\S\n]*(?:mermaid|geojson|topojson|stl)(?![\w-]))/gi, joiner)
      // An HTML tag could format, hide or swallow the text after it.
      .replace(/<(?=[a-z/?!])/gi, `<${joiner}`)
      .replace(
        /\b(clos|fix|resolv)(?=(?:e[sd]?|es|ed)?:?\s+[<[(\u2060]*(?:[\w.-]+\/[\w.-]+)?(?:#|GH-|https?:))/gi,
        `$1${joiner}`,
      )
      .replace(/@(?=[A-Za-z0-9_])/g, `@${joiner}`)
      .replace(/#(?=\d)/g, `#${joiner}`)
      .replace(/\bGH-(?=\d)/gi, (found) => found + joiner)
      .replace(new RegExp(`(^|\\n)([^\\S\\n]*)(?=${commandPrefix})`, 'gi'), `$1$2${joiner}`)
  );
}

/** Makes at most `max` characters of a text harmless, and closes a code block that they leave open. */
export function harmlessText(text: string, max: number, commandPrefix: string, images?: Images): string {
  let made = harmless(text.slice(0, max), commandPrefix, images);
  // What makes text harmless makes it longer.
  for (let end = Math.min(text.length, max); made.length > max; ) {
    end = Math.floor((end * max) / made.length);
    made = harmless(text.slice(0, end), commandPrefix, images);
  }
  return closedBlocks(made);
}

/**
 * Returns text as readers of the rendered comment see it: without HTML comments, invisible characters, and characters
 * that change the direction of text. Anything hidden from those readers must not reach a model as an instruction.
 */
export function plain(text: string): string {
  return visible(withoutComments(text));
}

/** Removes invisible characters, such as those that change the direction or the look of others. */
export function visible(text: string): string {
  return text.replace(/\p{Default_Ignorable_Code_Point}|[\u{E0000}-\u{E0FFF}]|(?!\s)\p{Cc}/gu, '');
}

/** Removes HTML comments in linear time. As on GitHub, a comment that is never closed hides all text after it. */
function withoutComments(text: string): string {
  const shown: string[] = [];
  for (let at = 0; ; ) {
    const begin = text.indexOf('<!--', at);
    if (begin < 0) return shown.join('') + text.slice(at);
    shown.push(text.slice(at, begin));
    const end = text.indexOf('-->', begin + 4);
    if (end < 0) return shown.join('');
    at = end + 3;
  }
}

/**
 * Wraps text in a code block. The fence is longer than any run of backticks in the text, so the text cannot close it.
 */
export function fenced(text: string): string {
  let longest = 2;
  for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/**
 * Makes text harmless and puts it on one line of at most `max` characters. The line cannot begin a code block, heading,
 * quote, table or list. It holds no image.
 */
export function harmlessLine(text: string, max: number, commandPrefix: string): string {
  const line = harmless(oneLine(text, max), commandPrefix).slice(0, max + 50);
  return /^[`~#>|+*=-]|^\d+[.)]/.test(line) ? `\u2060${oneLine(line, max - 1)}` : oneLine(line, max);
}

/** What tells CI systems in a commit message to skip a commit: `[skip ci]` and the like, `--skip-ci` (CodeShip), `***NO_CI***`, `skip-checks: true`. */
const ciSkips =
  /\[(?!\u2060)(?=[^[\]\n]{0,40}(?<![a-z])skip(?![a-z])|[^[\]\n]{0,40}(?<![a-z])no[ _-]ci(?![a-z]))|--(?=skip-ci(?![a-z]))|\*{3}(?=no_ci)|^[ \t]*skip(?=-checks[ \t]*:)/gim;

/**
 * Breaks what CI systems would take as an order to skip a commit, without changing what people see. Used for messages of
 * commits, and for titles and bodies of pull requests, which become messages when they are squashed. A second call changes
 * nothing.
 */
export function withoutCiSkips(text: string): string {
  return text.replace(ciSkips, '$&\u2060');
}

/** Turns blocks that GitHub would offer to apply to a pull request into blocks that only show code. */
export function withoutSuggestions(text: string): string {
  return text.replace(/(?<=```|~~~)(?=[^\S\n]*suggestion)/gi, '\u2060');
}

/** Closes a code block that the text leaves open, so that later text is not part of the block. */
export function closedBlocks(text: string): string {
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark === undefined) continue;
    if (fence === undefined) fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = undefined;
  }
  return fence === undefined ? text : `${text}\n${fence}`;
}

/**
 * Puts text on one line of at most `max` characters. An ellipsis marks a cut. Reads only the beginning of long text.
 */
export function oneLine(text: string, max: number): string {
  const read = text.slice(0, max * 10);
  const line = read.replace(/\s+/g, ' ').trim();
  const isWhole = line.length <= max && read.length === text.length;
  return isWhole ? line : `${line.slice(0, max - 1).trimEnd()}…`;
}
