/** A piece of HTML: text, or a tag or comment. `unknown` stands for all from a place at which neither begins. */
export interface Piece {
  kind: 'text' | 'tag' | 'unknown';
  from: number;
  to: number;
  /** The name of a tag, in lower case, with a slash before it if it ends an element; empty for comments and text. */
  name: string;
  /** What of it readers see: text, or a tag without the attributes that browsers do not show. */
  shown: string;
}

/** A comment. `<!-->` is an empty one for browsers, and `--!>` ends one, too, so neither may occur. */
const comment = /<!--(?!-?>)(?:(?!-->|--!>)[\s\S])*-->/y;
/** Begins an HTML page, and shows nothing. */
const doctype = /<!doctype html>/iy;
/** A tag: its name, and its attributes. */
const tag =
  /<(\/?[a-z][a-z0-9-]{0,40})((?:[ \t\r\n]+[^\s"'<>/=\0]{1,100}(?:[ \t\r\n]*=[ \t\r\n]*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<=>`]+))?)*)[ \t\r\n]*\/?>/iy;
/** The attributes that stay: addresses, which have no spaces. */
const address = /[ \t\r\n](href|src)[ \t\r\n]*=[ \t\r\n]*("[^"\s]*"|'[^'\s]*'|[^"'\s]+)/gi;

/** Elements whose content browsers show only in place of something else, or not as GitHub's parser does. */
const unshownNames = 'rp video audio template canvas object svg math datalist noscript select option textarea search';
const unshown = new Set(unshownNames.split(' '));

/** Elements that GitHub knows, or that make a browser begin a block. It drops the tags of others, so a sentence could be made of them. */
const knownNames =
  'a abbr b bdo blockquote br caption center cite code dd del details dfn div dl dt em figcaption figure font h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q rt ruby s samp small source span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr';
const known = new Set(knownNames.split(' '));

/**
 * Reads HTML of which only comments and complete tags are understood. A browser gives an attribute without its end, or a comment in a
 * quote, another end than a parser of Markdown does. So does an element whose content browsers do not show: unless it is empty, all from it on
 * is unknown. In a quote, each line begins with a `>`, so a tag may not go on over lines.
 */
export function* piecesOf(html: string, isQuoted = false): Generator<Piece> {
  for (let at = 0; at < html.length; ) {
    const piece = readTag(html, at, isQuoted) ?? textFrom(html, at);
    yield piece;
    at = piece.kind === 'unknown' ? html.length : piece.to;
  }
}

/** Returns the text up to the next tag. */
function textFrom(html: string, from: number): Piece {
  let to = from;
  while (to < html.length && !beginsTag(html, to)) {
    const next = html.indexOf('<', to + 1);
    to = next < 0 ? html.length : next;
  }
  return to === from
    ? { kind: 'unknown', from, to: html.length, name: '', shown: '' }
    : { kind: 'text', from, to, name: '', shown: html.slice(from, to) };
}

const beginsTag = (html: string, at: number) => /^<[a-z/!?]/i.test(html.slice(at, at + 2));

/** Reads a comment or a tag; undefined if neither begins here, or an element that is not shown. */
function readTag(html: string, from: number, isQuoted: boolean): Piece | undefined {
  if (html.charAt(from) !== '<') return undefined;
  for (const nothing of [comment, doctype]) {
    nothing.lastIndex = from;
    if (nothing.test(html)) return { kind: 'tag', from, to: nothing.lastIndex, name: '', shown: '' };
  }
  tag.lastIndex = from;
  const [whole, written = '', attributes = ''] = tag.exec(html) ?? [];
  if (whole === undefined || (isQuoted && /[\r\n]/.test(whole))) return undefined;
  const name = written.toLowerCase();
  const to = from + whole.length;
  if (unshown.has(name.replace('/', ''))) return readEmpty(html, from, to, name, attributes);
  if (!known.has(name.replace('/', ''))) return { kind: 'tag', from, to, name, shown: '' };
  return { kind: 'tag', from, to, name, shown: `<${written}${addressesIn(attributes)}>` };
}

/** Returns the addresses among attributes. Of several with the same name, the first one counts. */
function addressesIn(attributes: string): string {
  const found = [...attributes.matchAll(address)]
    .reverse()
    .map(([, key, value]) => [key?.toLowerCase(), value] as const);
  return [...new Map(found)].map(([key, value]) => ` ${key}=${value}`).join('');
}

/** Reads an element that is not shown, if its end follows at once: `<video src="…"></video>`. */
function readEmpty(html: string, from: number, to: number, name: string, attributes: string): Piece | undefined {
  const end = `</${name}>`;
  if (html.slice(to, to + end.length).toLowerCase() !== end) return undefined;
  return { kind: 'tag', from, to: to + end.length, name, shown: `<${name}${addressesIn(attributes)}>${end}` };
}
