import { refusedAnswer } from '../errors.ts';

/** A page that is too large is read in this many parts. */
const parts = 5;
/** All parts together, in characters: a page is parsed as a whole. */
const maxChars = 80_000_000;

/**
 * Reads a page of a list again in smaller ones, if it was too large: strangers choose how long the texts on a page are, and
 * a list that cannot be read would stop whatever needs it. Returns the page, with the links of its own size; undefined for what is
 * no page of a list.
 * @throws what a smaller page throws
 */
export async function readInParts(
  error: unknown,
  address: string,
  read: (address: string) => Promise<Response>,
): Promise<Response | undefined> {
  const query = new URL(address).searchParams;
  const [size, page] = [Number(query.get('per_page')), Number(query.get('page') ?? 1)];
  if (!isTooLarge(error) || size === 0 || size % parts !== 0) return undefined;
  const lists: string[] = [];
  let chars = 0;
  for (let part = 1; ; part++) {
    const answer = await read(addressOf(address, size / parts, (page - 1) * parts + part));
    if (!answer.ok) return answer;
    const text = (await answer.text()).trim();
    chars += text.length;
    if (!text.startsWith('[') || chars > maxChars) return undefined;
    lists.push(text.slice(1, -1).trim());
    const next = nextOf(answer);
    // Without links to other pages, one that is full may have a next one.
    const isLast = next === undefined && (linkOf(answer) !== '' || JSON.parse(text).length < size / parts);
    if (isLast || part === parts) return joined(lists, answer, { size, page, next });
  }
}

const isTooLarge = (error: unknown) => refusedAnswer(error)?.what.startsWith('is larger') === true;

const linkOf = ({ headers }: Response) => headers.get('link') ?? '';
const nextOf = (answer: Response) => /<([^<>]+)>;\s*rel="next"/.exec(linkOf(answer))?.[1];

/** Returns a page of several lists, with links to pages of its own size. `last` is the answer with the last of the lists. */
function joined(
  lists: string[],
  last: Response,
  { size, page, next }: { size: number; page: number; next: string | undefined },
): Response {
  const headers = new Headers(last.headers);
  for (const name of ['content-length', 'content-encoding', 'link']) headers.delete(name);
  if (next !== undefined) headers.set('link', linkTo(next, { size, page, link: linkOf(last) }));
  return new Response(`[${lists.filter((list) => list !== '').join(',')}]`, { status: last.status, headers });
}

function addressOf(address: string, size: number, page: number): string {
  const url = new URL(address);
  url.searchParams.set('per_page', String(size));
  url.searchParams.set('page', String(page));
  // GitHub's links to pages of issues have both, and a cursor would count instead of the page.
  for (const cursor of ['after', 'before']) url.searchParams.delete(cursor);
  return url.href;
}

function linkTo(next: string, { size, page, link }: { size: number; page: number; link: string }): string {
  const last = Math.max(page + 1, Math.ceil(lastPage({ link }) / parts));
  return `<${addressOf(next, size, page + 1)}>; rel="next", <${addressOf(next, size, last)}>; rel="last"`;
}

/** Returns the number of the last page, which GitHub names in the `Link` header of the others. */
export function lastPage({ link = '' }: { link?: string | undefined }): number {
  return Number(/[?&]page=(\d+)[^>]*>; *rel="last"/.exec(link)?.[1] ?? 1);
}
