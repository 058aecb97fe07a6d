import { refusedAnswer } from '../errors.ts';
import { lastPage } from './fetch-from.ts';

/** A page that is too large is read in this many parts. */
const parts = 5;

interface Asked {
  method?: string;
  url: string;
  per_page?: unknown;
  page?: unknown;
}

interface Answer {
  data: unknown;
  headers: { link?: string | undefined };
}

/**
 * Reads a page of a list again in smaller ones, if it was too large: strangers choose how long the texts on a page are, and
 * a list that cannot be read would stop whatever needs it. Returns undefined for what is no page of a list.
 * @throws what a smaller page throws
 */
export async function readInParts<A extends Answer, O extends Asked>(
  error: unknown,
  options: O,
  request: (options: O) => Promise<A>,
): Promise<A | undefined> {
  const { size, page } = pageOf(options);
  if (!isTooLarge(error) || (options.method ?? 'GET') !== 'GET' || !canBeDivided(size)) return undefined;
  const data: unknown[] = [];
  for (let part = 1; ; part++) {
    const answer = await request(withPage(options, size / parts, (page - 1) * parts + part));
    if (!Array.isArray(answer.data)) return undefined;
    data.push(...answer.data);
    const { link } = answer.headers;
    const isLast = link === undefined || !link.includes('rel="next"');
    if (!isLast && part < parts) continue;
    const last = isLast ? page : Math.max(page + 1, Math.ceil(lastPage(answer.headers) / parts));
    return {
      ...answer,
      data,
      headers: { ...answer.headers, link: isLast ? undefined : linkTo(link, size, page, last) },
    };
  }
}

const isTooLarge = (error: unknown) => refusedAnswer(error)?.what.startsWith('is larger') === true;
const canBeDivided = (size: number) => size > 0 && size % parts === 0;

/** Links to further pages name the page in their address, and requests in their parameters. */
function pageOf({ url, per_page, page }: Asked): { size: number; page: number } {
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  return { size: Number(query.get('per_page') ?? per_page ?? 0), page: Number(query.get('page') ?? page ?? 1) };
}

function withPage<O extends Asked>(options: O, size: number, page: number): O {
  if (!options.url.includes('?')) return { ...options, per_page: size, page };
  return { ...options, url: addressOf(options.url, size, page) };
}

function addressOf(url: string, size: number, page: number): string {
  const [path = '', query = ''] = url.split('?');
  const fields = new URLSearchParams(query);
  fields.set('per_page', String(size));
  fields.set('page', String(page));
  return `${path}?${fields}`;
}

function linkTo(link: string, size: number, page: number, last: number): string | undefined {
  const [, next] = /<([^<>]+)>;\s*rel="next"/.exec(link) ?? [];
  if (next === undefined) return undefined;
  return `<${addressOf(next, size, page + 1)}>; rel="next", <${addressOf(next, size, last)}>; rel="last"`;
}
