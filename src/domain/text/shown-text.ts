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
 * is not closed or an element whose content browsers do not show, the rest of the text is left out. Malicious Markdown can keep the
 * parser busy for seconds, so call this in a worker thread.
 * @throws Error for Markdown that is nested too deeply, or would become much longer
 */
export function shownText(text: string): string {
  const body = spaced(text);
  const shown: string[] = [];
  let at = 0;
  let added = 0;
  for (const { from, to, shown: instead } of unshownParts(body)) {
    if (from < at) continue;
    shown.push(body.slice(at, from), instead);
    at = to;
    added += instead.length;
    if (added > body.length + maxAdded) throw new Error('its links by reference have too long addresses');
  }
  return shown.join('') + body.slice(at);
}

/** Each of many links by reference gets the address, so a text could become thousands of times longer. */
const maxAdded = 10_000;

/** GitHub's parser takes form feeds and vertical tabs for spaces. */
const spaced = (text: string) => text.replace(/[\f\v]/g, ' ');

/** Parses Markdown as GitHub does. */
export const parseMarkdown = (body: string) =>
  fromMarkdown(spaced(body), { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

/** Returns the parts of Markdown that GitHub does not show as they are written, in their order. Some lie within others. */
export function unshownParts(body: string, tree: Node = parseMarkdown(body)): Part[] {
  const all = [...nodesIn(tree)];
  // Of several definitions with the same label, the first one counts.
  const urls = new Map(
    all
      .filter(({ type }) => type === 'definition')
      .map((n) => [n.identifier, n.url ?? ''] as const)
      .reverse(),
  );
  const parts = all.flatMap((node) => (node.type === 'table' ? cellsBeyond(node) : partsOf(node, body, urls)));
  const rest = parts.filter(({ shown }) => shown === restLeftOut).sort((a, b) => a.from - b.from)[0];
  // The rest begins there also if that place is inside a part that is left out anyway.
  const end = rest?.from ?? body.length;
  const before = parts.filter(({ from }) => from < end).map((part) => ({ ...part, to: Math.min(part.to, end) }));
  return [...before.sort((a, b) => a.from - b.from || b.to - a.to), ...(rest === undefined ? [] : [rest])];
}

function* nodesIn(tree: Node): Generator<Node> {
  const open = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    for (const child of (node.children ?? []).toReversed()) open.push(child);
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
    case 'html':
      return partsOfHtml(body.slice(from, to), from, body.length);
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

/** An address with spaces is a sentence. */
const addressOf = (url = '') => (/[\s<>()]/.test(url) ? '' : url);

/** What follows the language of a fenced block, up to the end of its line. */
function afterLanguage(source: string, from: number): Part[] {
  const [head] = /^(?:`{3,}|~{3,})[^\S\n]*\S{0,30}/.exec(source) ?? [];
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
/** A tag: its name, and its attributes. */
const tag =
  /<(\/?[a-z][a-z0-9-]{0,40})((?:[ \t\r\n]+[a-z_:][\w:.-]{0,100}(?:[ \t\r\n]*=[ \t\r\n]*(?:"[^"<>]*"|'[^'<>]*'|[\w.:/#%?&=+~@,;-]+))?)*)[ \t\r\n]*\/?>/iy;
/** The attributes that stay: addresses, which have no spaces. */
const address = /[ \t\r\n](href|src)[ \t\r\n]*=[ \t\r\n]*("[^"\s]*"|'[^'\s]*'|[^"'\s]+)/gi;

/** Elements whose content browsers show only in place of something else, or not as GitHub's parser does. */
const unshownNames = 'rp video audio template canvas object svg math datalist noscript select option textarea';
const unshown = new Set(unshownNames.split(' '));

/** Returns the parts of HTML that are not shown as they are written. */
function partsOfHtml(html: string, start: number, endOfText: number): Part[] {
  const parts: Part[] = [];
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    const found = at === html.length ? undefined : readTag(html, at);
    if (found === undefined && !/^<[a-z/!?]/i.test(html.slice(at, at + 2))) {
      at += 1;
      continue;
    }
    const from = start + at;
    if (found === undefined) return [...parts, { from, to: endOfText, shown: restLeftOut }];
    if (found.shown !== html.slice(at, found.to)) parts.push({ from, to: start + found.to, shown: found.shown });
    at = found.to;
  }
  return parts;
}

/** Reads a comment or a tag; undefined if it is neither, or an element that is not shown. */
function readTag(html: string, at: number): { to: number; shown: string } | undefined {
  comment.lastIndex = at;
  if (comment.test(html)) return { to: comment.lastIndex, shown: '' };
  tag.lastIndex = at;
  const [whole, name = '', attributes = ''] = tag.exec(html) ?? [];
  if (whole === undefined || unshown.has(name.replace('/', '').toLowerCase())) return undefined;
  // Of several attributes with the same name, the first one counts.
  const addresses = new Map(
    [...attributes.matchAll(address)].reverse().map(([, key, value]) => [key?.toLowerCase(), value]),
  );
  const kept = [...addresses].map(([key, value]) => ` ${key}=${value}`);
  return { to: at + whole.length, shown: `<${name}${kept.join('')}>` };
}
