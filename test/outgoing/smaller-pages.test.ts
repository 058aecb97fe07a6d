import { AnswerRefused } from '../../src/errors.ts';
import { lastPage, readInParts } from '../../src/outgoing/smaller-pages.ts';

const first = 'https://api.github.com/repos/acme/app/pulls?state=open&per_page=100';

/** A list of this many items, of which at most `fitting` fit into an answer. */
function listOf(count: number, fitting: number, hasLinks = true) {
  const asked: string[] = [];
  const request = async (address: string) => {
    const { searchParams } = new URL(address);
    const [size, number] = [Number(searchParams.get('per_page')), Number(searchParams.get('page') ?? 1)];
    asked.push(`${size}/${number}`);
    const data = Array.from({ length: count }, (_, i) => i).slice((number - 1) * size, number * size);
    if (data.length > fitting) throw new AnswerRefused('is larger than 32 MB');
    const last = Math.ceil(count / size);
    const to = (at: number) => `https://api.github.com/repositories/1/pulls?state=open&per_page=${size}&page=${at}`;
    const link = hasLinks && number < last ? `<${to(number + 1)}>; rel="next", <${to(last)}>; rel="last"` : '';
    return new Response(JSON.stringify(data), { headers: link === '' ? {} : { link } });
  };
  const read = async (address: string) => {
    try {
      return await request(address);
    } catch (error) {
      const page = await readInParts(error, address, request);
      if (page === undefined) throw error;
      return page;
    }
  };
  return { asked, read };
}

test.each([
  0, 19, 20, 21, 99, 100, 101, 120, 250, 300,
])('%i items are read once each, in smaller pages', async (count) => {
  const { read } = listOf(count, 20);
  const found: unknown[] = [];
  // As Octokit reads all pages.
  for (let next: string | undefined = first; next !== undefined; ) {
    const page: Response = await read(next);
    found.push(...((await page.json()) as unknown[]));
    next = /<([^<>]+)>;\s*rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  expect(found).toEqual(Array.from({ length: count }, (_, i) => i));
});

test('only the page that is too large is read again, and its last page is that of the usual size', async () => {
  const { asked, read } = listOf(250, 60);
  const page = await read(first);
  const link = page.headers.get('link') ?? '';
  expect([((await page.json()) as unknown[]).length, lastPage({ link })]).toEqual([100, 3]);
  await read(`${first}&page=3`);
  expect(asked).toEqual(['100/1', '20/1', '20/2', '20/3', '20/4', '20/5', '100/3']);
});

test('a server that names no other pages is asked until a page is not full', async () => {
  const { asked, read } = listOf(45, 20, false);
  expect(await (await read(first)).json()).toHaveLength(45);
  expect(asked).toEqual(['100/1', '20/1', '20/2', '20/3']);
});

test('what is no list or no page is not read in parts, and a refusal of a part is that of the page', async () => {
  const tooLarge = new AnswerRefused('is larger than 32 MB');
  const one = async () => new Response('{"total_count":1}');
  expect(await readInParts(tooLarge, first, one)).toBeUndefined();
  expect(await readInParts(tooLarge, 'https://api.github.com/repos/acme/app', one)).toBeUndefined();
  expect(await readInParts(new Error('no'), first, one)).toBeUndefined();
  const refused = await readInParts(tooLarge, first, async () => new Response('{}', { status: 403 }));
  expect(refused?.status).toBe(403);
});

test('the smaller pages of one that a cursor begins are counted, because the cursor would begin all of them', async () => {
  const addresses: string[] = [];
  const read = async (address: string) => {
    addresses.push(address);
    return new Response('[]', { headers: { link: '<https://api.github.com/x?page=1>; rel="first"' } });
  };
  await readInParts(new AnswerRefused('is larger than 32 MB'), `${first}&after=Y3Vyc29y&page=2`, read);
  const [{ searchParams } = new URL(first)] = addresses.map((address) => new URL(address));
  expect([searchParams.get('page'), searchParams.get('per_page'), searchParams.has('after')]).toEqual([
    '6',
    '20',
    false,
  ]);
});
