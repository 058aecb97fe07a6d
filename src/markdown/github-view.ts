import { fenced } from '../domain/text/sanitize.ts';
import { githubHtml } from './cmark-gfm.ts';
import { type Piece, piecesOf } from './html.ts';

/** The fields of a Markdown (mdast) node that we use. */
export interface MarkdownNode {
  type: string;
  position?:
    | { start: { line: number; offset?: number | undefined }; end: { line: number; offset?: number | undefined } }
    | undefined;
  children?: readonly MarkdownNode[];
  value?: string;
  identifier?: string;
  url?: string;
}

/** Stands for the rest of a text in which GitHub, or a browser, may show less than a parser of Markdown can know. */
export const restLeftOut =
  '\n\n(The rest of this text is left out here, because GitHub may not show it: look at its HTML.)';

/** The HTML of a text, in the two ways in which GitHub may treat its check boxes. Both are the same if it has none. */
export interface GithubView {
  boxesAsElements: Piece[];
  boxesAsText: Piece[];
  /** Whether the author wrote tags of quotes as HTML. */
  hasQuoteTags: boolean;
}

const hasBox = /\[[ x]\]/i;

/** Renders Markdown as GitHub does, without its footnotes. */
export function githubView(markdown: string): GithubView {
  const boxesAsElements = [...piecesOf(githubHtml(markdown, 'as elements'))];
  const hasQuoteTags = /<\/?blockquote/i.test(markdown);
  if (!hasBox.test(markdown)) return { boxesAsElements, boxesAsText: boxesAsElements, hasQuoteTags };
  const boxesAsText = withoutBoxes([...piecesOf(githubHtml(markdown, 'as text'))]);
  return { boxesAsElements, boxesAsText, hasQuoteTags };
}

/** Removes the check boxes at the beginning of entries of lists, where GitHub shows elements instead. */
function withoutBoxes(pieces: Piece[]): Piece[] {
  let begins = false;
  return pieces.map((piece) => {
    if (piece.kind === 'text' && begins && piece.shown.trim() !== '') {
      begins = false;
      return { ...piece, shown: piece.shown.replace(/^\s*\[[ x]\]\s/i, '') };
    }
    if (piece.kind === 'tag') begins = piece.name === 'li' || (begins && piece.name === 'p');
    return piece;
  });
}

/** Returns whether GitHub shows the same words of a text as its tree has, on the same lines, and the same ones as code and quotes. */
export function showsSame(view: GithubView, tree: MarkdownNode): boolean {
  const words = wordsOfTree(tree);
  return words === joined(wordsOf(view.boxesAsElements)) && words === joined(wordsOf(view.boxesAsText));
}

/** Tags that begin a line of their own, besides those of quotes and code. */
const breaking =
  /^\/?(?:br|caption|center|details|div|dl|dt|dd|figcaption|figure|h[1-6]|hr|li|ol|p|summary|table|tbody|td|tfoot|th|thead|tr|ul)$/;

/**
 * Keeps the letters, digits, symbols and line breaks of a text, and the `/` and `@` that begin commands. Symbols count because a model reads
 * circled letters. Spaces and other punctuation do not: one parser shows marks that the other one takes for formatting.
 */
const wordsIn = (text: string) =>
  text.replace(/\r\n?/g, '\n').replace(/(?![\n/@])[\s\p{P}\p{Cc}\p{Cf}$+<=>^`|~]/gu, '');

const joined = (words: string[]) => words.join('').replace(/\n+/g, '\n').trim();

const ended = '<ended>';

/** Returns the words that pieces show, and marks for quotes and code. */
function wordsOf(pieces: Iterable<Piece>): string[] {
  let isInPre = false;
  const words: string[] = [];
  for (const { kind, name, shown } of pieces) {
    if (kind === 'unknown') return [...words, ended];
    if (kind === 'text') words.push(wordsIn(decoded(shown)));
    else if (/^\/?(?:pre|blockquote)$/.test(name)) words.push(`\n<${name}>\n`);
    else if (/^\/?code$/.test(name) && !isInPre) words.push(`<${name}>`);
    else if (breaking.test(name)) words.push('\n');
    if (/^\/?pre$/.test(name)) isInPre = name === 'pre';
  }
  return words;
}

/** Returns what a tree shows, in the same form. */
function wordsOfTree(tree: MarkdownNode): string {
  const words: string[] = [];
  const open: (MarkdownNode | string)[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === 'string') words.push(node);
    else if (node.type === 'html') words.push(...wordsOf(piecesOf(node.value ?? '')));
    else open.push(...partsOf(node).toReversed());
    if (words.at(-1) === ended) break;
  }
  return joined(words);
}

function partsOf(node: MarkdownNode): readonly (MarkdownNode | string)[] {
  const words = wordsIn(node.value ?? '');
  const children = node.children ?? [];
  switch (node.type) {
    case 'definition':
    case 'footnoteDefinition':
    case 'image':
    case 'imageReference':
      return [];
    case 'text':
      return [words];
    case 'break':
      return ['\n'];
    case 'inlineCode':
      return ['<code>', words.replaceAll('\n', ''), '</code>'];
    case 'code':
      return ['\n<pre>\n', words, '\n</pre>\n'];
    case 'blockquote':
      return ['\n<blockquote>\n', ...onLines(children), '\n</blockquote>\n'];
    case 'table': {
      const columns = children[0]?.children?.length ?? 0;
      return onLines(children.flatMap((row) => row.children?.slice(0, columns) ?? []));
    }
    case 'root':
    case 'list':
    case 'listItem':
      return onLines(children);
    default:
      return children;
  }
}

const onLines = (nodes: readonly MarkdownNode[]) => nodes.flatMap((node) => ['\n', node, '\n']);

/** GitHub's parser has resolved all other entities, except in raw HTML. */
const decoded = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot);/g,
    (_, name: 'amp' | 'lt' | 'gt' | 'quot') => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name],
  );

const formattingLeftOut =
  '\n\n(This is what GitHub shows of the text. Its formatting is left out here, because Deckhand reads its Markdown in another way.)';

/** Returns whether the rest of a text is left out. */
export const isCut = (text: string) => text.endsWith(restLeftOut.trim());

/** Returns what GitHub shows of a text: plain text with its quotes, its blocks of code, and the addresses of its links. */
export function plainView(view: GithubView): string {
  const [one = '', other = ''] = [view.boxesAsElements, view.boxesAsText].map((each) =>
    plainText(each, view.hasQuoteTags),
  );
  if (wordsIn(one) === wordsIn(other)) return isCut(one) ? one : one + formattingLeftOut;
  // Only what GitHub shows in both ways is certain.
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return one.slice(0, one.lastIndexOf('\n', same) + 1).trimEnd() + restLeftOut;
}

/** A quote, a block of code or a link that has begun, with what it has so far. The whole text has no name. */
interface Open {
  name: string;
  address: string;
  texts: string[];
}

/** A quote goes on to the end of the text if its end may be one that browsers ignore, as in a cell of a table. */
function plainText(pieces: Piece[], hasQuoteTags: boolean): string {
  const whole: Open = { name: '', address: '', texts: [] };
  const open = [whole];
  const unknown = pieces.find(({ kind }) => kind === 'unknown');
  for (const piece of pieces)
    if (piece.kind === 'text') open.at(-1)?.texts.push(decoded(piece.shown));
    else if (piece.kind === 'tag' && !(hasQuoteTags && piece.name === '/blockquote')) addTag(open, piece);
  endTo(open, whole);
  return (tidy(whole.texts) + (unknown === undefined ? '' : restLeftOut)).trim();
}

const holding = new Set(['a', 'blockquote', 'pre']);
const media = new Set(['img', 'video', 'audio']);
/** What stands in plain text for a tag, if that is no line break. */
const instead: Record<string, string> = { li: '\n- ', td: ' | ', th: ' | ', '/td': '', '/th': '' };

function addTag(open: Open[], { name, shown }: Piece): void {
  // What began before a quote does not end in it.
  const quote = open.findLastIndex((each) => each.name === 'blockquote');
  const begun = open.slice(Math.max(0, quote)).findLast((each) => `/${each.name}` === name);
  if (holding.has(name)) open.push({ name, address: addressIn(shown), texts: [] });
  else if (begun !== undefined) endTo(open, open[open.indexOf(begun) - 1]);
  else if (media.has(name)) open.at(-1)?.texts.push(`![](${addressIn(shown)})`);
  else open.at(-1)?.texts.push(instead[name] ?? (breaking.test(name) ? '\n' : ''));
}

/** Ends what has begun inside of something. */
function endTo(open: Open[], outer: Open | undefined): void {
  while (open.length > 1 && open.at(-1) !== outer) {
    const last = open.pop();
    if (last !== undefined) open.at(-1)?.texts.push(shownAs(last));
  }
}

const tidy = (texts: string[]) =>
  texts
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^- +/gm, '- ');

function shownAs({ name, address, texts }: Open): string {
  if (name === 'pre') return `\n${fenced(texts.join('').replace(/\n$/, ''))}\n`;
  if (name === 'blockquote') return `\n${tidy(texts).trim().replace(/^/gm, '> ')}\n`;
  return tidy(texts) + (address === '' ? '' : ` (${address})`);
}

/** Returns the address of a link or an image. One with spaces is a sentence, and GitHub's parser has encoded them. */
function addressIn(tag: string): string {
  const address = decoded(/(?:href|src)=["']?([^\s"'>]+)/.exec(tag)?.[1] ?? '');
  return /%(?:20|0[9ad])/i.test(address) ? '' : address;
}
