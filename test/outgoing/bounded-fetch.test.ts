import { gzipSync } from 'node:zlib';
import { boundedFetch } from '../../src/outgoing/bounded-fetch.ts';
import { answeringServers } from '../support/http/answering.ts';

const serve = answeringServers(({ method, url, headers }) => `${method} ${url} ${headers.authorization ?? ''}`);

const limits = { maxBytes: 100_000, maxMs: 60_000 };
const headers = { Authorization: 'Bearer key' };

test('a response within the limits arrives unchanged', async () => {
  const { url } = await serve((_req, res) => res.writeHead(201, { 'X-Kind': 'x' }).end(gzipSync('plain')));
  const answer = await boundedFetch(limits)(`${url}/a`);
  expect([answer.status, answer.headers.get('x-kind'), answer.url]).toEqual([201, 'x', `${url}/a`]);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(gzipSync('plain'));
  const empty = await serve((_req, res) => res.writeHead(204).end());
  expect(await (await boundedFetch(limits)(empty.url)).text()).toBe('');
});

test.each([
  ['too many bytes', 'x'.repeat(100_001), {}, /^the answer is larger than 0.1 MB$/],
  [
    'a small compressed body that decompresses to too many bytes',
    gzipSync('x'.repeat(100_001)),
    { 'Content-Encoding': 'gzip' },
    /larger/,
  ],
  ['too many values', '{"a":1},'.repeat(400), {}, /more than 1000 values/],
  ['values nested too deeply', '['.repeat(101), {}, /more than 100 deep/],
])('%s are refused', async (_what, body, more, message) => {
  const { url } = await serve((_req, res) => res.writeHead(200, more).end(body));
  const asking = boundedFetch({ ...limits, maxValues: 1000 })(url);
  await expect(asking).rejects.toMatchObject({ name: 'AnswerRefused', message: expect.stringMatching(message) });
});

test('punctuation inside strings does not count as values', async () => {
  const text = JSON.stringify({ text: '[{"a":1},\\'.repeat(2000) });
  const { url } = await serve((_req, res) => res.end(text));
  expect(await (await boundedFetch({ ...limits, maxValues: 10 })(url)).text()).toBe(text);
});

test('the body of an error is truncated, and its status is kept', async () => {
  const { url } = await serve((_req, res) => res.writeHead(500).end('x'.repeat(200_000)));
  const answer = await boundedFetch(limits)(url);
  expect(answer.status).toBe(500);
  expect(await answer.text()).toHaveLength(65_536);
});

test('the time limit applies to a server so fast that timers do not fire', async () => {
  const { url } = await serve((_req, res) => {
    const more = () => {
      while (!res.destroyed && res.write(Buffer.alloc(65_536)));
    };
    res.on('drain', more);
    more();
  });
  const asking = boundedFetch({ maxBytes: 1e12, maxMs: 300 })(url);
  await expect(asking).rejects.toMatchObject({ message: 'the answer was not complete after 0.3 s' });
});

test('a caller can stop reading', async () => {
  const { url } = await serve(() => {});
  const enough = new AbortController();
  const asking = boundedFetch(limits)(url, { signal: enough.signal });
  enough.abort(new Error('enough'));
  await expect(asking).rejects.toThrow('enough');
});

test('redirects are followed within the origin only, because the request may carry a key', async () => {
  const other = await serve((_req, res) => res.end('theirs'));
  const own = await serve((req, res) => {
    if (req.url === '/away') return res.writeHead(302, { Location: `${other.url}/` }).end();
    if (req.url === '/moved') return res.writeHead(308, { Location: '/here' }).end();
    if (req.url === '/found') return res.writeHead(302, { Location: '/here' }).end();
    if (req.url === '/round') return res.writeHead(307, { Location: '/round' }).end();
    res.end('ours');
  });
  const ask = boundedFetch(limits);
  expect(await (await ask(`${own.url}/moved`, { method: 'POST', body: 'x', headers })).text()).toBe('ours');
  expect(own.asked).toEqual(['POST /moved Bearer key', 'POST /here Bearer key']);
  expect(await (await ask(`${own.url}/found`, { headers })).text()).toBe('ours');
  await expect(ask(`${own.url}/away`, { headers })).rejects.toThrow('redirects to another host');
  await expect(ask(`${own.url}/round`, { headers })).rejects.toThrow('redirects too often');
  // A browser would turn the POST into a GET.
  await expect(ask(`${own.url}/found`, { method: 'POST', body: 'x' })).rejects.toThrow('redirects');
  expect(other.asked).toEqual([]);
});

describe('a stream of events', () => {
  const events = { maxBytes: 50_000, maxEvents: 10, maxEventBytes: 1000 };
  const read = async (pieces: string[]) => {
    const { url } = await serve(async (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      for (const piece of pieces) await new Promise((resolve) => res.write(piece, resolve));
      res.end();
    });
    const answer = await boundedFetch({ ...limits, events })(url);
    const seen: string[] = [];
    for await (const each of answer.body as ReadableStream<Uint8Array>) seen.push(Buffer.from(each).toString());
    return seen;
  };

  test('arrives event by event, however its bytes were split into chunks', async () => {
    const seen = await read(['data: a\n', '\ndata: b\r\n\r\nda', 'ta: c\n\n', 'data: rest']);
    expect(seen).toEqual(['data: a\n\n', 'data: b\r\n\r\n', 'data: c\n\n', 'data: rest']);
  });

  test.each([
    ['too many events', ['data: a\n\n'.repeat(11)], /more than 10 events/],
    ['an event too large', ['data: ', 'a'.repeat(1000)], /event larger than 0.001 MB/],
    ['events that carriage returns end', ['data: a\r\rdata: b\n\n'], /lone carriage return/],
    ['a carriage return at the end of a piece', ['data: a\r', 'data: b\n\n'], /lone carriage return/],
  ])('with %s is refused', async (_what, pieces, message) => {
    await expect(read(pieces)).rejects.toThrow(message);
  });
});
