import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LfsClient } from '../../../src/environment/files/lfs-client.ts';
import { longestBlock } from '../../support/machine/processor-time.ts';

const oid = 'a'.repeat(64);
const wanted = [{ oid, size: 1, path: 'x' }];

const clientOf = (host: (url: string, init: RequestInit) => Promise<Response>) =>
  new LfsClient({ url: 'https://example.org/a/b' }, host as typeof fetch, new AbortController().signal);
const answering = (body: string | ReadableStream) => clientOf(async () => new Response(body));
const answerWith = (header: unknown, href = 'https://example.org/x') =>
  answering(JSON.stringify({ objects: [{ oid, size: 1, actions: { download: { href, header } } }] }));

/** Returns what a client says about a host's answer, and how long it blocked the event loop at most, in milliseconds. */
async function refusal(client: LfsClient) {
  let failed: Error | undefined;
  const worst = await longestBlock(() =>
    client.find(wanted).then(
      () => undefined,
      (error) => {
        failed = error;
      },
    ),
  );
  if (failed === undefined) throw new Error('the answer was taken');
  return { failed, worst };
}

const list = (count: number, one: (i: number) => string) => Array.from({ length: count }, (_, i) => one(i)).join(',');
const headers = (count: number, value: string) => list(count, (i) => `"${i.toString(36)}":${value}`);
const withHeaders = (text: string) =>
  `{"objects":[{"oid":"${oid}","actions":{"download":{"href":"x","header":{${text}}}}}]}`;

test.each([
  ['130,000 headers', withHeaders(headers(130_000, '0')), 'is larger than 0.5 MB'],
  ['40,000 headers', withHeaders(headers(40_000, '0')), 'holds more than 10000 values'],
  ['4,000 headers', withHeaders(headers(4_000, '0')), 'names headers that cannot be sent'],
  ['1,900,000 levels', '['.repeat(1_900_000), 'is larger than 0.5 MB'],
  ['490,000 levels', '['.repeat(490_000), 'is nested more than 100 deep'],
  ['660,000 objects', `{"objects":[${list(660_000, () => '{}')}]}`, 'is larger than 0.5 MB'],
  ['160,000 objects', `{"objects":[${list(160_000, () => '{}')}]}`, 'holds more than 10000 values'],
  ['4,900 objects', `{"objects":[${list(4_900, () => '{}')}]}`, 'is not one of Git LFS'],
  ['no JSON', '<html>', 'is not one of Git LFS'],
])('an answer of the host with %s is refused at little cost', async (_what, body, why) => {
  const { failed, worst } = await refusal(answering(body));
  expect(failed).toMatchObject({ name: 'RunFailed', failure: { category: 'repository' } });
  expect(failed.message).toMatch(/^Git LFS: the answer of the host /);
  expect(failed.message).toContain(why);
  expect(worst).toBeLessThan(200);
});

test('an answer in very many pieces does not block the event loop', async () => {
  let left = 400_000;
  const pieces = new ReadableStream({ pull: (to) => (left-- > 0 ? to.enqueue(new Uint8Array([0x20])) : to.close()) });
  const { failed, worst } = await refusal(answering(pieces));
  expect(failed.message).toContain('is not one of Git LFS');
  expect(worst).toBeLessThan(200);
});

test.each([
  ['a value that is no text', { A: 1 }],
  ['a list', ['A']],
  ['a text', 'A: b'],
  ['too many of them', Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`X-${i}`, 'x']))],
  ['a long name', { [`X-${'a'.repeat(200)}`]: 'x' }],
  ['a long value', { A: 'x'.repeat(8_193) }],
  ['a name with a space', { 'A B': 'x' }],
  ['a value with a line feed', { A: 'x\r\nHost: y' }],
])('headers are refused: %s', async (_what, header) => {
  await expect(answerWith(header).find(wanted)).rejects.toMatchObject({
    message: expect.stringContaining('Git LFS: the answer of the host names headers that cannot be sent'),
    failure: { category: 'repository' },
  });
});

test('the headers that the host names are sent with the download, except those of the connection', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-lfs-client-'));
  const sent: unknown[] = [];
  const header = { 'X-Amz-Date': 'now', Host: 'other.example', 'transfer-encoding': 'chunked', 'Content-Length': '5' };
  const answer = { objects: [{ oid, size: 1, actions: { download: { href: 'https://example.org/x', header } } }] };
  const client = clientOf(async (url, init) => {
    if (url.endsWith('/objects/batch')) return new Response(JSON.stringify(answer));
    sent.push(init.headers);
    return new Response('y');
  });
  const found = await client.find(wanted);
  await expect(client.download(found, (each) => join(folder, each))).rejects.toThrow('is not what its pointer names');
  expect(sent).toEqual([{ 'X-Amz-Date': 'now' }]);
  rmSync(folder, { recursive: true });
});

test('a full answer for as many objects as are asked at once is taken', async () => {
  const many = Array.from({ length: 100 }, (_, i) => ({ oid: String(i).padStart(64, '0'), size: 1, path: `${i}` }));
  const header = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`X-Header-${i}`, 'x'.repeat(150)]));
  const download = { href: `https://example.org/${'x'.repeat(2_500)}`, header, expires_at: 'later', expires_in: 1 };
  const objects = many.map((each) => ({ ...each, authenticated: true, actions: { download, verify: download } }));
  const small = objects.map(({ actions: { download: only }, ...each }) => ({ ...each, actions: { download: only } }));
  const found = await answering(JSON.stringify({ objects: small, hash_algo: 'sha256' })).find(many);
  expect(found).toHaveLength(100);
});
