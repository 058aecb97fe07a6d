import { githubHtml } from './cmark-gfm.ts';
import { type Piece, piecesOf } from './html.ts';
import { type MarkdownNode, restLeftOut } from './tree.ts';

/** The HTML of a text, in the two ways in which GitHub may treat its check boxes. Both are the same if it has none. */
export interface GithubView {
  boxesAsElements: string;
  boxesAsText: string;
}

const hasBox = /\[[ x]\]/i;
/** A check box at the beginning of an entry of a list, where GitHub shows a box instead. */
const elements = /<input type="checkbox"(?: checked="")? disabled="" \/> /g;
const boxes = /(<li>\s*(?:<p>)?)\[[ x]\]\s/gi;

/** Renders Markdown as GitHub does, without its footnotes. */
export function githubView(markdown: string): GithubView {
  const boxesAsElements = withoutFootnotes(githubHtml(markdown, 'as elements')).replace(elements, '');
  if (!hasBox.test(markdown)) return { boxesAsElements, boxesAsText: boxesAsElements };
  const boxesAsText = withoutFootnotes(githubHtml(markdown, 'as text')).replace(boxes, '$1');
  return { boxesAsElements, boxesAsText };
}

function withoutFootnotes(html: string): string {
  const [text = ''] = html.split('<section class="footnotes"', 1);
  return text.replace(/<sup class="footnote-ref"><a [^<>]*>\d+<\/a><\/sup>/g, '');
}

/** Returns whether GitHub shows the same words of a text as its tree has, and the same ones as code and quotes. */
export function showsSame(view: GithubView, tree: MarkdownNode): boolean {
  const words = wordsOfTree(tree);
  return words === wordsOfHtml(view.boxesAsElements) && words === wordsOfHtml(view.boxesAsText);
}

/** Elements whose text is not the author's own, or no prose. */
const framed = new Set(['blockquote', 'code', 'pre']);

/**
 * What both parsers show is compared by its letters, digits and symbols, such as circled letters: both differ in spaces, and in punctuation,
 * which they leave as it is or take for marks. Nobody sees control characters, and no model gets them.
 */
const lettersOf = (text: string) => text.replace(/[\s\p{P}\p{Cc}\p{Cf}$+<=>^`|~]+/gu, '');

function wordsOfHtml(html: string): string {
  return wordsOf(piecesOf(html)).join('');
}

const ended = '<ended>';

/** Returns the letters that pieces show, and the tags of quotes and code. */
function wordsOf(pieces: Iterable<Piece>): string[] {
  return [...pieces].map(({ kind, name, shown }) => {
    if (kind === 'unknown') return ended;
    if (kind === 'text') return lettersOf(decoded(shown));
    return framed.has(name.replace('/', '')) ? `<${name}>` : '';
  });
}

/** Returns what a tree shows, in the same form. */
function wordsOfTree(tree: MarkdownNode): string {
  const words: string[] = [];
  const open: (MarkdownNode | string)[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === 'string') words.push(node);
    else if (node.type === 'html') words.push(...wordsOf(piecesOf(node.value ?? '')));
    else open.push(...partsOf(node).reverse());
    if (words.at(-1) === ended) break;
  }
  return words.join('');
}

function partsOf(node: MarkdownNode): (MarkdownNode | string)[] {
  const letters = lettersOf(node.value ?? '');
  switch (node.type) {
    case 'definition':
    case 'footnoteDefinition':
    case 'image':
    case 'imageReference':
      return [];
    case 'text':
      return [letters];
    case 'inlineCode':
      return ['<code>', letters, '</code>'];
    case 'code':
      return ['<pre><code>', letters, '</code></pre>'];
    case 'blockquote':
      return ['<blockquote>', ...(node.children ?? []), '</blockquote>'];
    case 'table': {
      const [header, ...rows] = node.children ?? [];
      const columns = header?.children?.length ?? 0;
      return [header, ...rows].flatMap((row) => row?.children?.slice(0, columns) ?? []);
    }
    default:
      return [...(node.children ?? [])];
  }
}

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

/** Returns what GitHub shows of a text, as plain text with the addresses of its links. */
export function plainView(view: GithubView): string {
  const [one, other] = [plainText(view.boxesAsElements), plainText(view.boxesAsText)];
  if (lettersOf(one) === lettersOf(other)) return isCut(one) ? one : one + formattingLeftOut;
  // Only what GitHub shows in both ways is certain.
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return one.slice(0, one.lastIndexOf('\n', same) + 1).trimEnd() + restLeftOut;
}

/** What stands in plain text for a tag. */
const instead: Record<string, string> = { li: '\n- ', td: ' | ', th: ' | ' };
const blocks = /^\/?(?:blockquote|br|details|div|dl|dt|dd|h[1-6]|hr|ol|p|pre|summary|table|tr|ul)$/;

function plainText(html: string): string {
  const links: string[] = [];
  const texts = [...piecesOf(html)].map((piece) => {
    if (piece.kind === 'unknown') return restLeftOut;
    if (piece.kind === 'text') return decoded(piece.shown);
    const address = addressIn(piece.shown);
    if (piece.name === 'a') links.push(address);
    if (piece.name === '/a') return shownAddress(links.pop());
    return media.has(piece.name) ? `![](${address})` : (instead[piece.name] ?? (blocks.test(piece.name) ? '\n' : ''));
  });
  return texts
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Returns the address of a link or an image. One with spaces is a sentence, and GitHub's parser has encoded them. */
function addressIn(tag: string): string {
  const address = decoded(/(?:href|src)=["']?([^\s"'>]+)/.exec(tag)?.[1] ?? '');
  return /%(?:20|0[9ad])/i.test(address) ? '' : address;
}

const media = new Set(['img', 'video', 'audio']);

const shownAddress = (address = '') => (address === '' ? '' : ` (${address})`);
