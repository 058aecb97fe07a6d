import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { githubView, isCut, type MarkdownNode as Node, plainView, restLeftOut, showsSame } from './github-view.ts';
import { piecesOf } from './html.ts';

/** A part of the text, and what readers see of it. */
export interface Part {
  from: number;
  to: number;
  shown: string;
}

/**
 * Returns Markdown without what GitHub does not show of it: HTML comments and attributes, definitions of links, footnotes, titles of
 * links, alternative texts of images, what follows the language of a code block, and cells beyond the header of a table. Addresses of
 * links and images stay. Of HTML, only comments and complete tags are understood: where something else begins, such as a comment that
 * is not closed or an element whose content browsers do not show, the rest of the text is left out. If GitHub's parser shows other words
 * than ours, the result is what GitHub shows, as plain text. Malicious Markdown can keep both busy for seconds, so call this in a worker
 * thread.
 * @throws Error for Markdown that is nested too deeply, would become much longer, or begins with several byte order marks
 */
export function shownText(text: string): string {
  const body = withoutMark(text);
  const tree = parseMarkdown(body);
  const view = githubView(body);
  if (!showsSame(view, tree)) return plainView(view);
  const parts = unshownParts(body, tree);
  // In a quote, a tag over several lines cuts the text here, and not in GitHub's HTML.
  if (parts.at(-1)?.shown === restLeftOut && !isCut(plainView(view))) return plainView(view);
  return withParts(body, parts, ({ shown }) => shown);
}

/**
 * Returns what is shown of each line of a text. What stands for a part that goes on over lines is on the first of them.
 * @throws Error if the result would become much longer
 */
export function shownLines(body: string, parts: Part[]): string[] {
  const onOneLine = ({ from, to, shown }: Part) =>
    shown.trim().replace(/\s+/g, ' ') + '\n'.repeat(linesOf(body.slice(from, to)).length - 1);
  return linesOf(withParts(body, parts, onOneLine));
}

export const linesOf = (text: string) => text.split(/\r\n|\n|\r/);

/** Puts something in place of each part of a text, except of those within others. */
function withParts(body: string, parts: Part[], insteadOf: (part: Part) => string): string {
  const shown: string[] = [];
  let at = 0;
  let length = 0;
  for (const part of parts) {
    if (part.from < at) continue;
    const instead = insteadOf(part);
    shown.push(body.slice(at, part.from), instead);
    length += part.from - at + instead.length;
    at = part.to;
    if (length > 2 * body.length + maxAdded) throw new Error('its links by reference have too long addresses');
  }
  return shown.join('') + body.slice(at);
}

/**
 * Removes a byte order mark, which shifts the positions of our parser.
 * @throws Error for several, because nobody knows how many of them GitHub removes
 */
export function withoutMark(text: string): string {
  if (text.startsWith('\uFEFF\uFEFF')) throw new Error('it begins with several byte order marks');
  return text.replace(/^\uFEFF/, '');
}

/** As `shownText`, with the milliseconds of processor time that it took. */
export function shownInTime(text: string): { shown: string; ms: number } {
  const before = process.threadCpuUsage();
  const shown = shownText(text);
  const { user, system } = process.threadCpuUsage(before);
  return { shown, ms: (user + system) / 1000 };
}

/** Each of many links by reference gets the address, so a text could become thousands of times longer. */
const maxAdded = 10_000;

/** Parses Markdown as GitHub does, except for rare cases (see `showsSame`). */
export const parseMarkdown = (body: string): Node =>
  fromMarkdown(body, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

/** Returns the parts of Markdown that GitHub does not show as they are written, in their order. Some lie within others. */
export function unshownParts(body: string, tree: Node): Part[] {
  const all = [...nodesIn(tree)];
  // Of several definitions with the same label, the first one counts.
  const urls = new Map(
    all
      .filter(({ node }) => node.type === 'definition')
      .map(({ node }) => [node.identifier, node.url ?? ''] as const)
      .reverse(),
  );
  const parts = all.flatMap(({ node, isQuoted }) => {
    if (node.type === 'table') return cellsBeyond(node);
    return node.type === 'html' ? partsOfHtml(node, body, isQuoted) : partsOf(node, body, urls);
  });
  const rests = parts.filter(({ shown }) => shown === restLeftOut).map(({ from }) => from);
  const end = rests.reduce((first, from) => Math.min(first, from), body.length);
  // The rest begins there also if that place is inside a part that is left out anyway.
  const before = parts.filter(({ from }) => from < end).map((part) => ({ ...part, to: Math.min(part.to, end) }));
  const rest = end < body.length ? [{ from: end, to: body.length, shown: restLeftOut }] : [];
  return [...before.sort((a, b) => a.from - b.from || b.to - a.to), ...rest];
}

/** A node, and whether it is in a quote. */
interface Found {
  node: Node;
  isQuoted: boolean;
}

/** Returns all nodes but those without a position, which are addresses found in the text of others. */
function* nodesIn(tree: Node): Generator<Found> {
  const open: Found[] = [{ node: tree, isQuoted: false }];
  for (let found = open.pop(); found !== undefined; found = open.pop()) {
    if (found.node.position === undefined) continue;
    yield found;
    const isQuoted = found.isQuoted || found.node.type === 'blockquote';
    for (const node of (found.node.children ?? []).toReversed()) open.push({ node, isQuoted });
  }
}

const startOf = ({ position }: Node) => position?.start.offset ?? 0;
const endOf = ({ position }: Node) => position?.end.offset ?? 0;

/** The addresses of definitions by their label. */
type Urls = Map<string | undefined, string>;

function partsOf(node: Node, body: string, urls: Urls): Part[] {
  const from = startOf(node);
  const to = endOf(node);
  const instead = (shown: string, start = from) =>
    shown === body.slice(start, to) ? [] : [{ from: start, to, shown }];
  switch (node.type) {
    case 'definition':
    case 'footnoteDefinition':
    case 'footnoteReference':
      return instead('');
    case 'code':
      return afterLanguage(body.slice(from, to), from);
    case 'image':
      return instead(`![](${addressOf(node.url)})`);
    case 'imageReference':
      return instead(`![](${addressOf(urls.get(node.identifier))})`);
    case 'link':
      // An address that is its own text has no brackets.
      return body.charAt(from) === '[' ? instead(`](${addressOf(node.url)})`, endOfLabel(node, body)) : [];
    case 'linkReference':
      return instead(`](${addressOf(urls.get(node.identifier))})`, endOfLabel(node, body));
    default:
      return [];
  }
}

/** Returns the place of the bracket that ends what is shown of a link. */
function endOfLabel(link: Node, body: string): number {
  const last = link.children?.at(-1);
  return body.indexOf(']', last === undefined ? startOf(link) : endOf(last));
}

/** An address with spaces is a sentence. One with a parenthesis too many would not end where it should. */
const addressOf = (url = '') => (/^(?:[^\s<>()]|\([^\s<>()]*\))*$/.test(url) ? url : '');

/** What follows the language of a fenced block, up to the end of its line. */
function afterLanguage(source: string, from: number): Part[] {
  const [head] = /^(?:`{3,}|~{3,})[^\S\n]*[\w+#.-]{0,30}/.exec(source) ?? [];
  if (head === undefined) return [];
  const newline = source.search(/[\r\n]/);
  const to = newline < 0 ? source.length : newline;
  return to > head.length ? [{ from: from + head.length, to: from + to, shown: '' }] : [];
}

/** Cells beyond those of the header are not shown. */
function cellsBeyond({ children: [header, ...rows] = [] }: Node): Part[] {
  const columns = header?.children?.length ?? 0;
  return rows.flatMap((row) => {
    const last = row.children?.[columns - 1];
    return last !== undefined && (row.children?.length ?? 0) > columns
      ? [{ from: endOf(last), to: endOf(row), shown: '|' }]
      : [];
  });
}

/** Returns the parts of HTML that are not shown as they are written. */
function partsOfHtml(node: Node, body: string, isQuoted: boolean): Part[] {
  const start = startOf(node);
  const html = body.slice(start, endOf(node));
  return [...piecesOf(html, isQuoted)].flatMap(({ kind, from, to, shown }) => {
    if (kind === 'unknown') return [{ from: start + from, to: body.length, shown: restLeftOut }];
    return shown === html.slice(from, to) ? [] : [{ from: start + from, to: start + to, shown }];
  });
}
