import { AnswerRefused } from '../../src/errors.ts';
import { lastPage } from '../../src/outgoing/fetch-from.ts';
import { readInParts } from '../../src/outgoing/smaller-pages.ts';

interface Asked {
  url: string;
  per_page?: number;
  page?: number;
}

/** A list of this many items, of which at most `fitting` fit into an answer. */
function listOf(count: number, fitting: number) {
  const asked: string[] = [];
  const request = async ({ url, per_page = 30, page = 1 }: Asked) => {
    const query = new URLSearchParams(url.split('?')[1]);
    const [size, number] = [Number(query.get('per_page') ?? per_page), Number(query.get('page') ?? page)];
    asked.push(`${size}/${number}`);
    const data = Array.from({ length: count }, (_, i) => i).slice((number - 1) * size, number * size);
    if (data.length > fitting)
      throw Object.assign(new Error('HttpError', { cause: new AnswerRefused('is larger than 32 MB') }), {
        status: 500,
      });
    const last = Math.ceil(count / size);
    const to = (at: number) => `https://api.github.com/repositories/1/pulls?state=open&per_page=${size}&page=${at}`;
    const link = number < last ? `<${to(number + 1)}>; rel="next", <${to(last)}>; rel="last"` : undefined;
    return { data, headers: { link } };
  };
  const read = async (options: Asked) => {
    try {
      return await request(options);
    } catch (error) {
      const answer = await readInParts(error, options, request);
      if (answer === undefined) throw error;
      return answer;
    }
  };
  return { asked, read };
}

/** Reads all pages as Octokit does. */
async function readAll(read: ReturnType<typeof listOf>['read']) {
  const found: unknown[] = [];
  for (
    let options: Asked | undefined = { url: '/repos/{owner}/{repo}/pulls', per_page: 100 };
    options !== undefined;
  ) {
    const { data, headers } = await read(options);
    found.push(...(data as unknown[]));
    const next: string | undefined = /<([^<>]+)>;\s*rel="next"/.exec(headers.link ?? '')?.[1];
    options = next === undefined ? undefined : { url: next };
  }
  return found;
}

test.each([
  0, 19, 20, 21, 99, 100, 101, 120, 250, 300,
])('%i items are read once each, in smaller pages', async (count) => {
  const { read } = listOf(count, 20);
  expect(await readAll(read)).toEqual(Array.from({ length: count }, (_, i) => i));
});

test('only the page that is too large is read again, and its last page is that of the usual size', async () => {
  const { asked, read } = listOf(250, 60);
  const first = await read({ url: '/repos/{owner}/{repo}/pulls', per_page: 100 });
  expect([(first.data as unknown[]).length, lastPage(first.headers)]).toEqual([100, 3]);
  await read({ url: '/repos/{owner}/{repo}/pulls', per_page: 100, page: 3 });
  expect(asked).toEqual(['100/1', '20/1', '20/2', '20/3', '20/4', '20/5', '100/3']);
});

test('what is no list, no page, or no reading is not read in parts', async () => {
  const tooLarge = new AnswerRefused('is larger than 32 MB');
  const one = async () => ({ data: { total_count: 1 }, headers: {} });
  const url = '/repos/{owner}/{repo}/pulls';
  expect(await readInParts(tooLarge, { url, per_page: 100 }, one)).toBeUndefined();
  expect(await readInParts(tooLarge, { url }, one)).toBeUndefined();
  expect(await readInParts(tooLarge, { url, method: 'POST', per_page: 100 }, one)).toBeUndefined();
  expect(await readInParts(new Error('no'), { url, per_page: 100 }, one)).toBeUndefined();
});
