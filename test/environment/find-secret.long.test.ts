import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findSecret, type SearchLimits } from '../../src/environment/keep/find-secret.ts';
import { timeOf } from '../support/machine/processor-time.ts';

const root = mkdtempSync(join(tmpdir(), 'deckhand-secrets-'));
afterEach(() => {
  for (const name of ['work', 'outside']) rmSync(join(root, name), { recursive: true, force: true });
});
afterAll(() => rmSync(root, { recursive: true }));

const write = (path: string, content: string | Buffer = '') => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
};
const oddName = Buffer.concat([Buffer.from(`${root}/work/`), Buffer.of(0xff)]);

const value = 'npm_s3cret/value with+"spaces"!';
const secrets = [
  { name: 'OTHER', value: 'never written anywhere' },
  { name: 'NPM_TOKEN', value },
];
const base64 = Buffer.from(`user:${value}`).toString('base64');
const limits = { signal: new AbortController().signal, maxBytes: 10 * 2 ** 30, seconds: 60 };
const find = (more: Partial<SearchLimits> = {}) => findSecret(root, ['work'], secrets, { ...limits, ...more });
test.each<[string, () => void]>([
  ['as it is', () => write('work/deep/er/file', `token=${value}\n`)],
  ['in base64, at any offset', () => write('work/file', `Basic ${base64}`)],
  ['in base64 over several lines', () => write('work/file', base64.replace(/(.{20})/g, '$1\n'))],
  ['in hex', () => write('work/file', Buffer.from(value).toString('hex').toUpperCase())],
  ['in a URL', () => write('work/file', `https://user:${encodeURIComponent(value)}@registry.example.org/`)],
  [
    'in a URL with lower-case codes',
    () =>
      write(
        'work/file',
        encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
      ),
  ],
  ['in hex with colons', () => write('work/file', Buffer.from(value).toString('hex').replace(/(..)/g, '$1:'))],
  [
    'in JSON with every character escaped',
    () =>
      write(
        'work/file',
        value.replace(/./g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
      ),
  ],
  ['in a form', () => write('work/file', String(new URLSearchParams({ a: value })))],
  ['in JSON', () => write('work/file', JSON.stringify({ value }))],
  ['in UTF-16', () => write('work/file', Buffer.from(value, 'utf16le'))],
  ['across the border of two portions', () => write('work/file', `${'x'.repeat(262_144 - 10)}${value}`)],
  ['in the name of a folder', () => write(`work/${base64.replaceAll('/', '_')}/x`)],
  [
    'below a name that is not UTF-8',
    () => {
      mkdirSync(oddName, { recursive: true });
      writeFileSync(Buffer.concat([oddName, Buffer.from('/file')]), value);
    },
  ],
  [
    'in the target of a link',
    () => {
      mkdirSync(join(root, 'work'));
      symlinkSync(`/a/${value}`, join(root, 'work/file'));
    },
  ],
])('a secret is found %s', async (_name, put) => {
  put();
  expect(await find()).toMatchObject({ name: 'NPM_TOKEN' });
});

test('of several secrets, the one that is found is named', async () => {
  write('work/file', `x ${secrets[0]?.value}`);
  expect(await find()).toEqual({ name: 'OTHER', path: 'work/file' });
});

test('secrets and files that somebody chose to be alike are compared in bounded time', async () => {
  const chosen = Array.from({ length: 100 }, (_, i) => ({ name: `S${i}`, value: `b${'a'.repeat(1300 + i)}` }));
  write('work/file', Buffer.alloc(250_000, '6161'));
  const took = await timeOf(async () => expect(await findSecret(root, ['work'], chosen, limits)).toBeUndefined());
  expect(took).toBeLessThan(3000);
});

test('a secret is not looked for through links, in pipes and outside the names', async () => {
  write('outside', value);
  write('work/fine', 'x'.repeat(600_000));
  symlinkSync('../outside', join(root, 'work/link'));
  expect(await find()).toBeUndefined();
  expect(await findSecret(root, ['outside'], [], limits)).toBeUndefined();
  expect(await findSecret(root, ['outside'], secrets, limits)).toEqual({ name: 'NPM_TOKEN', path: 'outside' });
});

describe('what set-up left is searched within limits', () => {
  const sparse = (path: string, bytes: number) => {
    write(path, 'x');
    truncateSync(join(root, path), bytes);
  };

  test('holes are not read, and a value beyond one or around one is found', async () => {
    for (let i = 0; i < 30; i++) sparse(`work/${i}`, 255e6);
    sparse('work/0', 255e6);
    writeFileSync(join(root, 'work/0'), value, { flag: 'a' });
    const began = process.cpuUsage();
    expect(await find()).toEqual({ name: 'NPM_TOKEN', path: 'work/0' });
    // Reading the holes took twenty seconds.
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1e6).toBeLessThan(5);
    writeFileSync(join(root, 'work/0'), value.slice(0, 9));
    truncateSync(join(root, 'work/0'), 255e6);
    writeFileSync(join(root, 'work/0'), value.slice(9), { flag: 'a' });
    expect(await find()).toEqual({ name: 'NPM_TOKEN', path: 'work/0' });
  });

  test('files that are too long together are refused before they are read', async () => {
    for (let i = 0; i < 50; i++) sparse(`work/${i}`, 255e6);
    const { message } = await find().catch((error) => error);
    expect(message).toMatch(/^more than 10240 MB to search, at work\/\d+$/);
  });

  test('the time limit and the signal end the search', async () => {
    write('work/file', Buffer.alloc(20e6, 'x'));
    await expect(find({ seconds: 0 })).rejects.toThrow('more than 0 s to search, at work');
    const run = new AbortController();
    const searching = find({ signal: run.signal });
    setImmediate(() => run.abort(new Error('cancelled')));
    await expect(searching).rejects.toThrow('cancelled');
  });
});
