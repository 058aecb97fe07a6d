import { batching } from '../../../src/web/live/batch.ts';
import { isConnectionError } from '../../../src/web/live/errors.ts';
import { fetchAllPages } from '../../../src/web/live/fetch-lists.ts';

// How the reads of a page are combined into requests.

let sent: string[];
let answer: (url: string) => Response | Promise<Response>;
const send = async (input: string | URL | Request) => {
  sent.push(decodeURIComponent(String(input)));
  return answer(String(input));
};
beforeEach(() => {
  sent = [];
  answer = (url) => {
    const addresses = new URL(url, 'http://host').searchParams.getAll('get');
    return Response.json(addresses.map((body, i) => ({ status: i === 1 ? 404 : 200, body })));
  };
});

const read = async (fetch: typeof globalThis.fetch, path: string, init?: RequestInit) => {
  const reply = await fetch(`/api/v1${path}`, init);
  return [reply.status, await reply.json()];
};

test('reads of one moment are one request, and each gets its own reply', async () => {
  const fetch = batching(send);
  const replies = await Promise.all(['/me', '/tasks/t', '/tasks/t/runs?limit=100'].map((path) => read(fetch, path)));
  expect(sent).toEqual(['/api/v1/batch?get=/me&get=/tasks/t&get=/tasks/t/runs?limit=100']);
  expect(replies).toEqual([
    [200, '/me'],
    [404, '/tasks/t'],
    [200, '/tasks/t/runs?limit=100'],
  ]);
});

test('a read whose reply does not fit is sent again, as a request of its own', async () => {
  const ofBatch = answer;
  answer = async (url) => {
    if (!url.includes('/batch')) return Response.json('all of it', { headers: { Link: '</next>; rel="next"' } });
    const replies = (await (await ofBatch(url)).json()) as object[];
    return Response.json(
      replies.map((reply, i) => (i === 2 ? { status: 413, body: { message: 'too large' } } : reply)),
    );
  };
  const fetch = batching(send);
  const replies = await Promise.all(['/me', '/tasks/t', '/projects?limit=100'].map((path) => read(fetch, path)));
  expect(replies).toEqual([
    [200, '/me'],
    [404, '/tasks/t'],
    [200, 'all of it'],
  ]);
  expect(sent.at(-1)).toBe('/api/v1/projects?limit=100');
});

test('a list is fetched to its end, although the service cuts large pages', async () => {
  const items = Array.from({ length: 730 }, (_, i) => ({ id: `id${i}`, text: i > 650 ? 'x'.repeat(50_000) : '' }));
  const fits = (page: typeof items) => page.filter((_, i) => JSON.stringify(page.slice(0, i + 1)).length < 1_500_000);
  const offsets: number[] = [];
  const found = await fetchAllPages(async ({ limit, offset }) => {
    offsets.push(offset);
    return fits(items.slice(offset, offset + limit));
  });
  expect(found.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
  expect(offsets).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 680, 709, 730]);
});

test('a single read, writes, and large or slow reads are requests of their own', async () => {
  const fetch = batching(send);
  await read(fetch, '/me');
  const paths = ['/tasks/t/diff', '/projects/p/board?limit=2000'];
  await Promise.all([
    ...paths.map((path) => read(fetch, path)),
    read(fetch, '/tasks/t/start', { method: 'POST' }),
    read(fetch, '/me', { signal: new AbortController().signal }),
    fetch('/logout'),
  ]);
  expect(sent.sort()).toEqual(
    ['/api/v1/me', '/api/v1/me', '/api/v1/tasks/t/start', ...paths.map((p) => `/api/v1${p}`), '/logout'].sort(),
  );
});

test('a read to which 404 is an ordinary reply is never a request of its own', async () => {
  expect(await read(batching(send), '/repositories/r/environment')).toEqual([200, '/repositories/r/environment']);
  expect(sent).toEqual(['/api/v1/batch?get=/repositories/r/environment']);
});

test('many or long addresses are several requests', async () => {
  const fetch = batching(send);
  await Promise.all(Array.from({ length: 41 }, (_, i) => read(fetch, `/tasks/${i}`)));
  expect(sent.map((url) => url.split('get=').length - 1)).toEqual([20, 20, 0]);
  sent = [];
  await Promise.all(Array.from({ length: 3 }, (_, i) => read(fetch, `/tasks/${i}${'x'.repeat(1500)}`)));
  expect(sent).toHaveLength(2);
});

test('a refusal or an unreachable service is the answer to every read', async () => {
  const fetch = batching(send);
  answer = () => Response.json({ message: 'Too many' }, { status: 429 });
  expect(await Promise.all(['/a', '/b'].map((path) => read(fetch, path)))).toEqual([
    [429, { message: 'Too many' }],
    [429, { message: 'Too many' }],
  ]);
  answer = () => Promise.reject(new TypeError('Failed to fetch'));
  const settled = await Promise.allSettled(['/a', '/b'].map((path) => read(fetch, path)));
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('a read whose reply never comes is given up, and a write is not', async () => {
  let hasNoLimit = false;
  const silent: typeof globalThis.fetch = (_url, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      if (init?.signal === undefined) hasNoLimit = true;
    });
  const fetch = batching(silent, 1);
  const reads = await Promise.allSettled(['/a', '/b', '/tasks/t/diff'].map((path) => read(fetch, path)));
  expect(reads.map((each) => each.status === 'rejected' && isConnectionError(each.reason))).toEqual([true, true, true]);
  expect(hasNoLimit).toBe(false);
  void fetch('/api/v1/tasks/t/start', { method: 'POST' });
  expect(hasNoLimit).toBe(true);
});
