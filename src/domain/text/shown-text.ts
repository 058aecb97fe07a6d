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

/**
 * Returns Markdown without what GitHub does not show of it: HTML comments and attributes, unused definitions, titles of links,
 * alternative texts of images, what follows the language of a code block, cells beyond the header of a table, and elements such
 * as `<video>` that browsers do not render as text. Addresses of links and images stay. Malicious Markdown can keep the parser busy
 * for seconds, so call this in a worker thread.
 */
export function shownText(body: string): string {
  const shown: string[] = [];
  let at = 0;
  for (const { from, to, shown: instead } of unshownParts(body)) {
    if (from < at) continue;
    shown.push(body.slice(at, from), instead);
    at = to;
  }
  return shown.join('') + body.slice(at);
}

/** Parses Markdown as GitHub does. */
export const parseMarkdown = (body: string) =>
  fromMarkdown(body, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

/** Returns the parts of Markdown that GitHub does not show as they are written, in their order. Some lie within others. */
export function unshownParts(body: string, tree: Node = parseMarkdown(body)): Part[] {
  const all = [...nodesIn(tree)];
  const about: About = {
    body,
    // Of several definitions with the same label, the first one counts.
    urls: new Map(
      all
        .filter(({ type }) => type === 'definition')
        .map((n) => [n.identifier, n.url ?? ''] as const)
        .reverse(),
    ),
    notes: new Set(all.filter(({ type }) => type === 'footnoteReference').map(({ identifier }) => identifier)),
  };
  const parts = all.flatMap((node) => [
    ...[partOf(node, about)].filter((part) => part !== undefined),
    ...(node.type === 'table' ? cellsBeyond(node) : []),
    ...insideUnshown(node.children ?? [], body),
  ]);
  return parts.sort((a, b) => a.from - b.from || b.to - a.to);
}

interface About {
  body: string;
  /** The addresses of definitions by their label. */
  urls: Map<string | undefined, string>;
  /** The labels of the footnotes that the text refers to. */
  notes: Set<string | undefined>;
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

function partOf(node: Node, about: About): Part | undefined {
  const from = startOf(node);
  const to = endOf(node);
  const source = about.body.slice(from, to);
  const part = (shown: string, start = from) =>
    shown === about.body.slice(start, to) ? undefined : { from: start, to, shown };
  switch (node.type) {
    case 'html':
      return part(shownHtml(source));
    case 'definition':
      return part('');
    case 'footnoteDefinition':
      return about.notes.has(node.identifier) ? undefined : part('');
    case 'code':
      return codeOf(source, from);
    case 'image':
      return part(`![](${addressOf(node.url)})`);
    case 'imageReference':
      return part(`![](${addressOf(about.urls.get(node.identifier))})`);
    case 'link':
      // An address that is its own text has no brackets.
      return source.startsWith('[') ? part(`](${addressOf(node.url)})`, endOfLabel(node, about.body)) : undefined;
    case 'linkReference':
      return part(`](${addressOf(about.urls.get(node.identifier))})`, endOfLabel(node, about.body));
    default:
      return undefined;
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
function codeOf(source: string, from: number): Part | undefined {
  const [head] = /^(?:`{3,}|~{3,})[^\S\n]*\S{0,30}/.exec(source) ?? [];
  if (head === undefined) return undefined;
  const newline = source.search(/[\r\n]/);
  const to = newline < 0 ? source.length : newline;
  return to > head.length ? { from: from + head.length, to: from + to, shown: '' } : undefined;
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

/** Returns what is inside elements that browsers do not show, if their tags are in different nodes. Without its end, such an element reaches to the end of its parent. */
function insideUnshown(children: Node[], body: string): Part[] {
  const parts: Part[] = [];
  const html = children.filter(({ type }) => type === 'html');
  let open: { name: string; from: number } | undefined;
  const close = (to: number) => {
    if (open !== undefined && to > open.from) parts.push({ from: open.from, to, shown: '' });
    open = undefined;
  };
  for (const child of html)
    for (const { name, isEnd } of tagsIn(body.slice(startOf(child), endOf(child)))) {
      if (isEnd && name === open?.name) close(startOf(child));
      if (!isEnd && unshown.has(name)) open ??= { name, from: endOf(child) };
    }
  const last = children.at(-1);
  if (last !== undefined) close(endOf(last));
  return parts;
}

/** A tag of HTML, or something else between angle brackets. */
interface Tag {
  from: number;
  to: number;
  /** In small letters; '' for a comment, a declaration and the like. */
  name: string;
  isEnd: boolean;
  attributes: string;
}

/** What begins with the first of these ends with the second. */
const hiding = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<!', '>'],
] as const;

/** Finds the tags of HTML in linear time. What is never closed reaches to the end of the text. */
function* tagsIn(html: string): Generator<Tag> {
  for (let from = html.indexOf('<'); from >= 0; ) {
    const tag = tagAt(html, from);
    if (tag !== undefined) yield tag;
    from = html.indexOf('<', tag?.to ?? from + 1);
  }
}

function tagAt(html: string, from: number): Tag | undefined {
  const marks = hiding.find(([begin]) => html.startsWith(begin, from));
  if (marks !== undefined) {
    const [begin, end] = marks;
    const at = html.indexOf(end, from + begin.length);
    return { from, to: at < 0 ? html.length : at + end.length, name: '', isEnd: false, attributes: '' };
  }
  const [opening, slash, name] = /^<(\/?)([a-z][a-z0-9-]{0,40})(?=[\s/>])/i.exec(html.slice(from, from + 45)) ?? [];
  if (opening === undefined || name === undefined) return undefined;
  const to = endOfTag(html, from + opening.length);
  const attributes = html.slice(from + opening.length, to);
  return { from, to, name: name.toLowerCase(), isEnd: slash === '/', attributes };
}

/** Returns the place after the `>` that ends a tag. One within the quoted value of an attribute does not. */
function endOfTag(html: string, start: number): number {
  let isValue = false;
  for (let at = start; at < html.length; at++) {
    const character = html.charAt(at);
    if (character === '>') return at + 1;
    if (isValue && (character === '"' || character === "'")) {
      at = html.indexOf(character, at + 1);
      if (at < 0) return html.length;
    }
    if (character === '=') isValue = true;
    else if (!/\s/.test(character)) isValue = false;
  }
  return html.length;
}

/** The attributes that stay: addresses, which have no spaces. */
const kept = /\s(href|src)\s*=\s*("[^"\s<>]*"|'[^'\s<>]*'|[^"'\s<>]+)/gi;

/** Elements whose content browsers show only in place of something else, or not at all. */
const unshownNames = 'rp video audio template canvas object svg math datalist noscript';
const unshown = new Set(unshownNames.split(' '));

/**
 * Returns HTML without comments, declarations and the like, without the content of elements that browsers do not show as text,
 * and without all attributes except addresses.
 */
function shownHtml(html: string): string {
  const shown: string[] = [];
  let at = 0;
  let inside: string | undefined;
  for (const tag of tagsIn(html)) {
    const { from, to, name, isEnd } = tag;
    if (inside !== undefined && !(isEnd && name === inside)) continue;
    if (inside === undefined) shown.push(html.slice(at, from));
    inside = !isEnd && unshown.has(name) ? name : undefined;
    shown.push(shownTag(tag));
    at = to;
  }
  return inside === undefined ? shown.join('') + html.slice(at) : shown.join('');
}

function shownTag({ name, isEnd, attributes }: Tag): string {
  if (name === '') return '';
  if (isEnd) return `</${name}>`;
  const addresses = [...attributes.matchAll(kept)].map(([, key, value]) => ` ${key}=${value}`);
  return `<${name}${addresses.join('')}>`;
}
