import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** The fields of a Markdown (mdast) node that we use. */
interface Node {
  type: string;
  position?: { start: { offset?: number | undefined }; end: { offset?: number | undefined } } | undefined;
  children?: Node[];
  identifier?: string;
  url?: string;
}

/** A part of the text, and what readers see of it. */
interface Part {
  from: number;
  to: number;
  shown: string;
}

/** Stands for the rest of a text in which GitHub, or a browser, may show less than a parser of Markdown can know. */
const restLeftOut = '\n\n(The rest of this text is left out here, because GitHub may not show it: look at its HTML.)';

/**
 * Returns Markdown without what GitHub does not show of it: HTML comments and attributes, definitions of links, footnotes, titles of
 * links, alternative texts of images, what follows the language of a code block, and cells beyond the header of a table. Addresses of
 * links and images stay. Of HTML, only comments and complete tags are understood: where something else begins, such as a comment that
 * is not closed or an element whose content browsers do not show, the rest of the text is left out. So it is where GitHub's parser may
 * read something else than ours (`doubtIn`). Malicious Markdown can keep the parser busy for seconds, so call this in a worker thread.
 * @throws Error for Markdown that is nested too deeply, or would become much longer
 */
export function shownText(text: string): string {
  const body = withoutMark(text);
  const shown: string[] = [];
  let at = 0;
  let length = 0;
  for (const { from, to, shown: instead } of unshownParts(body)) {
    if (from < at) continue;
    shown.push(body.slice(at, from), instead);
    length += from - at + instead.length;
    at = to;
    if (length > 2 * body.length + maxAdded) throw new Error('its links by reference have too long addresses');
  }
  return shown.join('') + body.slice(at);
}

/** Removes a byte order mark, which shifts the positions of our parser. */
export const withoutMark = (text: string) => text.replace(/^\uFEFF+/, '');

/** As `shownText`, with the milliseconds of processor time that it took. */
export function shownInTime(text: string): { shown: string; ms: number } {
  const before = process.threadCpuUsage();
  const shown = shownText(text);
  const { user, system } = process.threadCpuUsage(before);
  return { shown, ms: (user + system) / 1000 };
}

/** Each of many links by reference gets the address, so a text could become thousands of times longer. */
const maxAdded = 10_000;

/** Parses Markdown as GitHub does, except for rare cases (`doubtIn`). */
export const parseMarkdown = (body: string) =>
  fromMarkdown(body, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

/** Returns the parts of Markdown that GitHub does not show as they are written, in their order. Some lie within others. */
export function unshownParts(body: string, tree: Node = parseMarkdown(body)): Part[] {
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
  const nodes = all.map(({ node }) => node);
  const rests = parts.filter(({ shown }) => shown === restLeftOut).map(({ from }) => from);
  const end = rests.reduce((first, from) => Math.min(first, from), doubtIn(body, nodes));
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

/** A comment. `<!-->` is an empty one for browsers, and `--!>` ends one, too, so neither may occur. */
const comment = /<!--(?!-?>)(?:(?!-->|--!>)[\s\S])*-->/y;
/** Begins an HTML page, and shows nothing. */
const doctype = /<!doctype html>/iy;
/** A tag: its name, and its attributes. */
const tag =
  /<(\/?[a-z][a-z0-9-]{0,40})((?:[ \t\r\n]+[^\s"'<>/=\0]{1,100}(?:[ \t\r\n]*=[ \t\r\n]*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=`]+))?)*)[ \t\r\n]*\/?>/iy;
/** The attributes that stay: addresses, which have no spaces. */
const address = /[ \t\r\n](href|src)[ \t\r\n]*=[ \t\r\n]*("[^"\s]*"|'[^'\s]*'|[^"'\s]+)/gi;

/** Elements whose content browsers show only in place of something else, or not as GitHub's parser does. */
const unshownNames = 'rp video audio template canvas object svg math datalist noscript select option textarea search';
const unshown = new Set(unshownNames.split(' '));

/** Elements that GitHub knows, or that make a browser begin a block. It drops the tags of others, so a sentence could be made of them. */
const knownNames =
  'a abbr b bdo blockquote br caption center cite code dd del details dfn div dl dt em figcaption figure font h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q rt ruby s samp small source span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr';
const known = new Set(knownNames.split(' '));

/** Returns the parts of HTML that are not shown as they are written. */
function partsOfHtml(node: Node, body: string, isQuoted: boolean): Part[] {
  const start = startOf(node);
  const html = body.slice(start, endOf(node));
  const parts: Part[] = [];
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    const found = at === html.length ? undefined : readTag(html, at, isQuoted);
    if (found === undefined && !/^<[a-z/!?]/i.test(html.slice(at, at + 2))) {
      at += 1;
      continue;
    }
    const from = start + at;
    if (found === undefined) return [...parts, { from, to: body.length, shown: restLeftOut }];
    if (found.shown !== html.slice(at, found.to)) parts.push({ from, to: start + found.to, shown: found.shown });
    at = found.to;
  }
  return parts;
}

/** Reads a comment or a tag; undefined if it is neither, or an element that is not shown. In a quote, each line begins with a `>`. */
function readTag(html: string, at: number, isQuoted: boolean): { to: number; shown: string } | undefined {
  for (const nothing of [comment, doctype]) {
    nothing.lastIndex = at;
    if (nothing.test(html)) return { to: nothing.lastIndex, shown: '' };
  }
  tag.lastIndex = at;
  const [whole, name = '', attributes = ''] = tag.exec(html) ?? [];
  const element = name.replace('/', '').toLowerCase();
  if (whole === undefined || unshown.has(element) || (isQuoted && /[\r\n]/.test(whole))) return undefined;
  const to = at + whole.length;
  if (!known.has(element)) return { to, shown: '' };
  // Of several attributes with the same name, the first one counts.
  const addresses = new Map(
    [...attributes.matchAll(address)].reverse().map(([, key, value]) => [key?.toLowerCase(), value]),
  );
  const kept = [...addresses].map(([key, value]) => ` ${key}=${value}`);
  return { to, shown: `<${name}${kept.join('')}>` };
}

/**
 * Returns the beginning of the first paragraph that GitHub's parser (cmark-gfm) may read otherwise than ours (micromark), and hide;
 * the length of the body if there is none. A fuzzer that compares both found these cases.
 */
function doubtIn(body: string, nodes: Node[]): number {
  const text = masked(
    body,
    nodes.flatMap((node) => masksOf(node, body)),
  );
  const found = [
    ...doubtsInBody.map((each) => body.search(each)),
    ...doubtsInText.map((each) => text.search(each)),
    doubtfulBracket(text),
    doubtfulTag(text),
    doubtfulFootnote(body, nodes),
  ];
  const first = Math.min(body.length, ...found.filter((at) => at >= 0));
  return first === body.length ? first : startOfParagraph(body, first);
}

/** Returns the place after the last empty line before a place, also in a quote. */
function startOfParagraph(body: string, at: number): number {
  let start = 0;
  for (const { index } of body.slice(0, at).matchAll(/(?<=[\r\n])(?=[ \t>]*[\r\n])/g)) start = index;
  return start;
}

const doubtsInBody = [
  // GitHub's parser takes some control characters for spaces.
  /[\0\f\v]/,
  // It knows code between at most 80 of these.
  /`{81}/,
  // After a check box, it may begin another block.
  /^[ \t>*+\d.)-]*\[[ x]\][ \t]+(?:```|~~~)/im,
];

const doubtsInText = [
  /^[ \t>*+\d.)-]*\[[ x]\][ \t]+(?:<|[^ \t\r\n].*\]:|\[[^\]]{0,1100}\]:)/im,
  // More lines can begin a table.
  /^(?=.*-)(?=.*[|:])[ \t>|:-]+$/m,
  // Its labels may be a letter longer.
  /\[[^[\]]{900,}\][:([]/,
  // It knows an element that ours does not know.
  /^[ \t>*+\d.)-]*<\/?source\b/im,
];

/**
 * Returns the place of a word in which GitHub's parser may find a link, a definition or a footnote that ours does not find: the
 * parentheses of an address need not be balanced, and the label of a footnote may hold brackets. -1 if there is none.
 */
function doubtfulBracket(text: string): number {
  let isOpen = false;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    if (/^>+$/.test(word)) continue;
    const begin = isOpen ? 0 : word.search(/\][(:]/) + 2;
    const isAddress = isOpen || begin > 1;
    if (
      isAddress &&
      isUnbalanced(word.slice(begin)) &&
      mayEnd(text.slice(index + word.length, index + word.length + 1000))
    )
      return index;
    const note = word.indexOf('[^');
    if (note >= 0 && /\][:[(]/.test(word.slice(note))) return index;
    isOpen = /\][(:]$/.test(word);
  }
  return -1;
}

const isUnbalanced = (address: string) => address.split('(').length > address.split(')').length;

/** Returns whether what follows an address may belong to a link or a definition: its end, or a title. */
const mayEnd = (rest: string) => /^[ \t]*(?:[\r\n]|$)|^[ \t]*["'()]/.test(rest);

/** Returns the place of a tag that only GitHub's parser finds, because the value of an attribute contains a slash; -1 if there is none. */
function doubtfulTag(text: string): number {
  const tags = [...text.matchAll(/<[a-z][a-z0-9-]*[ \t\r\n][^<>]*>/gi)];
  return tags.find(([each]) => /=[ \t\r\n]*[^\s"'=<>`]*\//.test(each))?.index ?? -1;
}

/** Returns the end of a footnote after which our parser begins another block, where GitHub's goes on; -1 if there is none. */
function doubtfulFootnote(body: string, nodes: Node[]): number {
  const ends = nodes.filter(({ type }) => type === 'footnoteDefinition').map(endOf);
  return ends.find((end) => /^[ \t]*(?:\r\n?|\n)(?![ \t>]*(?:\[\^|[\r\n]|$))/.test(body.slice(end, end + 1000))) ?? -1;
}

/** A part of a body. A line of HTML may be part of a table instead. */
interface Mask {
  from: number;
  to: number;
  isHtml?: boolean;
}

/** Returns the parts of a node that are certain, as code is, or left out anyway. */
function masksOf(node: Node, body: string): Mask[] {
  const from = startOf(node);
  const to = endOf(node);
  switch (node.type) {
    case 'html':
      return /^<\/?source\b/i.test(body.slice(from, to)) ? [] : [{ from, to, isHtml: true }];
    case 'inlineCode':
      // A line within it may be part of a table instead.
      return /[\r\n]/.test(body.slice(from, to)) ? [] : [{ from, to }];
    case 'code':
    case 'definition':
    case 'footnoteDefinition':
    case 'image':
    case 'imageReference':
      return [{ from, to }];
    case 'link':
      return [{ from: body.charAt(from) === '[' ? endOfLabel(node, body) : from, to }];
    case 'linkReference': {
      // A colon after a label alone may make it a definition.
      const end = endOfLabel(node, body);
      return end + 1 === to ? [] : [{ from: end, to }];
    }
    case 'table': {
      const [header, first] = node.children ?? [];
      return header === undefined ? [] : [{ from: endOf(header), to: first === undefined ? to : startOf(first) }];
    }
    default:
      return [];
  }
}

/** Replaces what is in some parts. */
function masked(body: string, masks: Mask[]): string {
  const text: string[] = [];
  let at = 0;
  for (const { from, to, isHtml = false } of masks.toSorted((a, b) => a.from - b.from)) {
    if (to <= at) continue;
    const letters = isHtml ? /[^\s>|:-]/g : /[^\r\n]/g;
    text.push(body.slice(at, from), body.slice(Math.max(from, at), to).replace(letters, 'x'));
    at = to;
  }
  return text.join('') + body.slice(at);
}
