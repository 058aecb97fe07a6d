import { containsSome, needlesOf, withoutSecrets } from '../../src/domain/secrets.ts';
import type { Change, Checkout } from '../../src/git/engine.ts';
import { OverLimit } from '../../src/threads/start-thread.ts';
import { objectionsTo, objectionToSending, tooSlow, whereItFits } from '../../src/worker/leaving/scan-change.ts';

const blobs = new Map<string, Buffer>();
const checkout = {
  readBlobs: async (oids: string[], maxBytes = Number.POSITIVE_INFINITY) =>
    new Map(
      oids
        .flatMap((oid) => [[oid, blobs.get(oid) ?? Buffer.alloc(0)] as const])
        .filter(([, b]) => b.length <= maxBytes),
    ),
} as unknown as Checkout;
const secret = 'ghs_16C7e42F292c6912E7710c838347Ae178B4a';

async function reasonFor(
  path: string,
  content: string | Buffer,
  change: Partial<Change> = {},
): Promise<string | undefined> {
  blobs.set('new', Buffer.from(content));
  const whole = { path, oldMode: '000000', newMode: '100644', oldOid: 'none', newOid: 'new', ...change };
  return (await objectionsTo(checkout, [whole], [secret]))[0]?.reason;
}

function wrapped(text: string, columns: number): string {
  return (text.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []).join('\n');
}

test('ordinary files pass', async () => {
  expect(await reasonFor('src/a.js', 'let x = 1;\n')).toBeUndefined();
  expect(await reasonFor('gone', '', { newMode: '000000' })).toBeUndefined();
  expect(await reasonFor('link', '../b', { newMode: '120000', path: 'src/link' })).toBeUndefined();
});

test.each([
  ['a/.git/config', 'x', {}, /git's own folder/],
  ['lib', 'x', { newMode: '160000' }, /submodule/],
  ['link', '/etc/passwd', { newMode: '120000' }, /link out/],
  ['src/link', '../../x', { newMode: '120000' }, /link out/],
  ['M', 'L/L/../../etc/passwd', { newMode: '120000' }, /link out/],
  ['secret link', secret, { newMode: '120000' }, /live credential/],
  [`${secret}.txt`, 'x', {}, /live credential in its name/],
  ['big.txt', 'x'.repeat(5_000_001), {}, /more than 5000000 bytes/],
  ['tool', Buffer.from('\x7fELF\x02\x01', 'latin1'), {}, /program for Linux/],
  ['tool.txt', Buffer.from('MZ\x90\0', 'latin1'), {}, /program for Windows/],
  ['picture.png', Buffer.from('\xcf\xfa\xed\xfe', 'latin1'), {}, /program for macOS/],
  ['A.class', Buffer.from('\xca\xfe\xba\xbe', 'latin1'), {}, /Java/],
  ['a.wasm', Buffer.from('\0asm'), {}, /WebAssembly/],
  ['lib.a', '!<arch>\n', {}, /library/],
  ['run', Buffer.from([1, 0, 2]), { newMode: '100755' }, /permission to execute/],
  ['app.JAR', Buffer.from('PK\x03\x04\0'), {}, /by its name/],
  ['plain', `token = "${secret}"`, {}, /live credential/],
  ['hex', Buffer.from(secret).toString('hex'), {}, /live credential/],
  ['base64', Buffer.from(`x${secret}y`).toString('base64'), {}, /live credential/],
  ['base64 shifted', Buffer.from(`xy${secret}yy`).toString('base64'), {}, /live credential/],
  ['basic', Buffer.from(`x-access-token:${secret}`).toString('base64url'), {}, /live credential/],
  [
    'base64 in lines',
    wrapped(Buffer.from(`x${'y'.repeat(27)}${secret}`).toString('base64'), 64),
    {},
    /live credential/,
  ],
  ['hex in lines', wrapped(Buffer.from(secret).toString('hex'), 60), {}, /live credential/],
  ['two bytes each', Buffer.from(secret, 'utf16le'), { oldMode: '100644', oldOid: 'old' }, /live credential/],
  ['docs/cfg', '../.git/config', { newMode: '120000' }, /git's own folder/],
  ['.g\u200cit/config', 'x', {}, /git's own folder/],
  ['GIT~1/config', 'x', {}, /git's own folder/],
  ['.git./config', 'x', {}, /git's own folder/],
  ['.gitmodules', 'a', { newMode: '120000' }, /symbolic link where git expects a file/],
  ['npm', `npm_${'a1B2'.repeat(9)}`, {}, /npm token/],
  ['other', `ghp_${'a1B2'.repeat(9)}`, {}, /GitHub token/],
  ['key', '-----BEGIN RSA PRIVATE KEY-----\n', {}, /private key/],
  ['aws', 'AKIAIOSFODNN7EXAMPLE', {}, /AWS/],
])('%s is refused', async (path, content, change, reason) => {
  expect(await reasonFor(path, content, change)).toMatch(reason);
});

const codes = (by: (code: string) => string, text = secret) =>
  [...Buffer.from(text)].map((byte) => by(byte.toString(16).padStart(2, '0'))).join('');
const hexOf = (text: string) => Buffer.from(text).toString('hex');

test.each([
  ['escaped for a URL, every character', codes((code) => `%${code}`)],
  ['escaped for JSON, every character', codes((code) => `\\u00${code}`)],
  ['escaped for a program', codes((code) => `\\x${code}`)],
  ['escaped for HTML', codes((code) => `&#${Number.parseInt(code, 16)};`)],
  ['as bytes of a program', codes((code) => `0x${code}, `)],
  ['in hex with colons', hexOf(secret).replace(/(..)/g, '$1:')],
  ['continued', secret.replace(/(.{6})/g, '$1 \\\n   ')],
  ['in a comment', secret.replace(/(.{6})/g, '$1\n# ')],
  ['in two strings', `'${secret.slice(0, 9)}' +\n  '${secret.slice(9)}'`],
  ['with invisible spaces', [...secret].join('\u200b')],
  [
    'in base64, in strings',
    Buffer.from(secret)
      .toString('base64')
      .replace(/(.{9})/g, '$1" +\n  "'),
  ],
])('a credential is refused %s', async (_how, content) => {
  expect(await reasonFor('a.txt', `const x = ${content};\n`)).toBe('contains a live credential');
});

test('a phrase, and a name of few letters, do not match words that belong to others', async () => {
  const scan = async (value: string, content: string) => {
    blobs.set('new', Buffer.from(content));
    const change = { path: 'a', oldMode: '000000', newMode: '100644', oldOid: 'none', newOid: 'new' };
    return (await objectionsTo(checkout, [change], [value]))[0]?.reason;
  };
  expect(await scan('correct horse battery', 'correct, horse-battery')).toBeUndefined();
  expect(await scan('eu-west-prod', 'EU (eu), west: prod')).toBeUndefined();
});

test('pictures, fonts and archives pass, and scripts and text with such names, too', async () => {
  const binary = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  for (const path of ['image.png', 'font.woff2', 'fixtures/all.zip', 'MZ'])
    expect(await reasonFor(path, binary)).toBeUndefined();
  expect(await reasonFor('run.sh', '#!/bin/sh\n', { newMode: '100755' })).toBeUndefined();
  expect(await reasonFor('notes.com', 'MZ is a tag.\n')).toBeUndefined();
});

test('a program may be changed, but nothing else may become one', async () => {
  const elf = (text: string) => Buffer.from(`\x7fELF${text}\0`, 'latin1');
  const change = { oldMode: '100644', oldOid: 'old' };
  blobs.set('old', elf('a'));
  expect(await reasonFor('tool', elf('b'), change)).toBeUndefined();
  blobs.set('old', Buffer.from('\x89PNG\0', 'latin1'));
  expect(await reasonFor('tool', elf('b'), change)).toMatch(/^is a program for Linux/);
  expect(await reasonFor('tool', '\x89PNG\0', { ...change, newMode: '100755' })).toMatch(/permission to execute/);
});

test('a token that the file contained before may remain', async () => {
  blobs.set('old', Buffer.from('AKIAIOSFODNN7EXAMPLE'));
  expect(await reasonFor('doc.md', 'see AKIAIOSFODNN7EXAMPLE', { oldMode: '100644', oldOid: 'old' })).toBeUndefined();
  const another = { oldMode: '100644', oldOid: 'old' };
  expect(await reasonFor('doc.md', 'AKIAIOSFODNN7EXAMPLE AKIAIOSFODNN7EXAMPLF', another)).toMatch(/AWS/);
});

test('a binary file that has a token may be changed', async () => {
  blobs.set('old', Buffer.from('AKIAIOSFODNN7EXAMPLE\0'));
  const there = { oldMode: '100644', oldOid: 'old' };
  expect(await reasonFor('a.bin', 'AKIAIOSFODNN7EXAMPLE\0more', there)).toBeUndefined();
});

test('a credential with white space or umlauts is found however it is wrapped, also in names', async () => {
  const key = `first line of a key\nsecond líne ${'k'.repeat(30)}\nlast line`;
  const scan = async (content: string, path = 'a') => {
    blobs.set('new', Buffer.from(content));
    const change = { path, oldMode: '000000', newMode: '100644', oldOid: 'none', newOid: 'new' };
    return (await objectionsTo(checkout, [change], ['correct horse battery', key]))[0]?.reason;
  };
  expect(await scan('the correct horse')).toBeUndefined();
  for (const text of ['the correct horse battery', 'correct\n  horse\tbattery', 'correcthorsebattery'])
    expect([text, await scan(text)]).toEqual([text, 'contains a live credential']);
  for (const text of [key, wrapped(key.replaceAll('\n', ' '), 20), JSON.stringify(key), key.replaceAll('\n', '\r\n  ')])
    expect([text, await scan(text)]).toEqual([text, 'contains a live credential']);
  expect(await scan('x', 'correct/horse battery')).toBeUndefined();
  expect(await scan('x', 'docs/correct\nhorse battery')).toBe('has a live credential in its name');
});

test('a secret that is white space for the most part is not searched for, because it would match every file', () => {
  const isIn = (text: string, value: string) => containsSome(Buffer.from(text), needlesOf([value]));
  expect([isIn('', 'a        '), isIn('a', 'a        '), isIn('xabcdefghx', 'abcd efgh')]).toEqual([
    false,
    false,
    true,
  ]);
});

test('a cancelled run does not go on searching', async () => {
  blobs.set('new', Buffer.from('x'));
  const change = { path: 'a', oldMode: '000000', newMode: '100644', oldOid: 'none', newOid: 'new' };
  const signal = AbortSignal.abort(new Error('cancelled'));
  await expect(objectionsTo(checkout, [change], [], { signal })).rejects.toThrow('cancelled');
});

test('credentials are removed from the texts of a model', () => {
  const hex = Buffer.from(secret).toString('hex');
  const told = { summary: `it is ${secret}.`, nextSteps: [`or ${hex}`, `ghp_${'a1B2'.repeat(9)}`, 'fine'] };
  const removed = '[a credential was removed]';
  expect(withoutSecrets(told, [secret])).toEqual({
    summary: `it is ${removed}.`,
    nextSteps: [`or ${removed}`, removed, 'fine'],
  });
});

test('unresolved conflict markers are refused only in files that had conflicts', async () => {
  blobs.set('new', Buffer.from('a\n<<<<<<< ours\nb\n'));
  const change = { path: 'a', oldMode: '100644', newMode: '100644', oldOid: 'none', newOid: 'new' };
  expect(await objectionsTo(checkout, [change], [secret], { conflicts: ['a'] })).toEqual([
    { path: 'a', reason: 'still contains conflict markers' },
  ]);
  expect(await objectionsTo(checkout, [change], [secret], { conflicts: ['b'] })).toEqual([]);
});

test('secrets and files that somebody chose to be alike are compared in bounded time', async () => {
  const chosen = Array.from({ length: 100 }, (_, i) => `b${'a'.repeat(1300 + i)}`);
  blobs.set('new', Buffer.alloc(190_000, '6161'));
  const change = { path: 'a', oldMode: '000000', newMode: '100644', oldOid: 'none', newOid: 'new' };
  const began = process.cpuUsage();
  expect(await objectionsTo(checkout, [change], chosen)).toEqual([]);
  // It takes 0.3 s. Searching for each secret on its own took 20 s.
  expect(process.cpuUsage(began).user / 1e6).toBeLessThan(5);
});

test('large files full of token-like strings are searched in bounded time', async () => {
  const tokens = Array.from({ length: 60_000 }, (_, i) => `AKIA${String(i).padStart(16, 'A')}\n`).join('');
  const there = { oldMode: '100644', oldOid: 'old' };
  blobs.set('old', Buffer.from(tokens));
  const began = process.cpuUsage();
  expect(await reasonFor('list.txt', `${tokens}x`, there)).toBeUndefined();
  expect(await reasonFor('list.txt', `${tokens}AKIAIOSFODNN7EXAMPLF`, there)).toMatch(/AWS/);
  // A token that was part of a longer word before may now stand alone.
  blobs.set('old', Buffer.from(`sk-${'a1'.repeat(20)}-b`));
  expect(await reasonFor('doc.md', `sk-${'a1'.repeat(20)} b`, there)).toBeUndefined();
  expect(await reasonFor('begin', `-----BEGIN ${'A '.repeat(1_000_000)}`, there)).toBeUndefined();
  expect(await reasonFor('secret', `${' x'.repeat(1_000_000)}${secret}`)).toMatch(/live credential/);
  // CPU time of all threads. An early version compared each token with the whole file and took minutes.
  expect(process.cpuUsage(began).user / 1e6).toBeLessThan(60);
});

test('files that are small one by one and large together are searched', async () => {
  const paths = ['a', 'b', 'c'];
  for (const path of paths) blobs.set(path, Buffer.from('x'.repeat(90_000)));
  blobs.set('c', Buffer.concat([Buffer.from('x'.repeat(90_000)), Buffer.from(secret)]));
  const changes = paths.map((path) => ({
    path,
    oldMode: '000000',
    newMode: '100644',
    oldOid: 'none',
    newOid: path,
  }));
  expect(await objectionsTo(checkout, changes, [secret])).toEqual([
    { path: 'c', reason: 'contains a live credential' },
  ]);
});

test('a link may go up as far as its folder is deep, however its target is written', async () => {
  const link = (path: string, target: string) => reasonFor(path, target, { newMode: '120000' });
  for (const target of ['../x', './../x', './/.././x', 'y', './y/z'])
    expect([target, await link('a/link', target)]).toEqual([target, undefined]);
  expect(await link('a/b/link', '../../x')).toBeUndefined();
  // The folder may be a link to anywhere.
  expect(await link('a/b/link', 'folder/../x')).toBe('is a symbolic link out of the repository');
  for (const target of ['../../x', './../../x', '..//../x', './././../../x'])
    expect([target, await link('a/link', target)]).toEqual([target, 'is a symbolic link out of the repository']);
  expect(await link('a/link', 'y'.repeat(4096))).toBeUndefined();
  expect(await link('a/link', 'y'.repeat(4097))).toBe('is a symbolic link out of the repository');
});

test('a file of exactly the largest size is searched', async () => {
  expect(await reasonFor('a', 'x'.repeat(5_000_000), { oldMode: '100644' })).toBeUndefined();
});

test('a value of at most 100,000 characters may be sent', () => {
  const quotes = 2;
  expect(objectionToSending('x'.repeat(100_000 - quotes), [secret])).toBeUndefined();
  expect(objectionToSending('x'.repeat(100_001 - quotes), [secret])).toBe('have more than 100000 characters');
  expect(objectionToSending({ deep: [secret] }, [secret])).toBe('contain a live credential');
  expect(objectionToSending({ deep: ['AKIAIOSFODNN7EXAMPLE'] }, [])).toMatch(/^contain what looks like .*AWS/);
});

test('a credential is found in JSON inside of a value, in which its quotes are escaped twice', () => {
  const password = 'correct"horse';
  const inside = JSON.stringify({ password });
  for (const value of [inside, { body: inside }, { [inside]: 1 }])
    expect(objectionToSending(value, [password])).toBe('contain a live credential');
});

test('what is refused in files only may be sent', () => {
  expect(objectionToSending({ text: 'a\0b' }, [])).toBeUndefined();
  expect(objectionToSending({ text: '<<<<<<< ours' }, [])).toBeUndefined();
});

test('up to 100 tokens that the file contained inside longer words may stand alone, more may not', async () => {
  const changed = { oldMode: '100644', oldOid: 'old' };
  const tokens = (count: number) => Array.from({ length: count }, (_, i) => `sk-${'a1'.repeat(20)}${100 + i}`);
  const inWords = (count: number) =>
    tokens(count)
      .map((token) => `${token}-b`)
      .join('\n');
  blobs.set('old', Buffer.from(inWords(101)));
  expect(await reasonFor('doc.md', tokens(100).join('\n'), changed)).toBeUndefined();
  expect(await reasonFor('doc.md', tokens(101).join('\n'), changed)).toMatch(
    /^contains more than 100 new strings that look like/,
  );
});

test.each([
  [[], 'here'],
  [[200_000], 'here'],
  [[100_000, 99_999, 1], 'here'],
  [[200_001], 'in a thread'],
  [[100_000, 100_000, 1], 'in a thread'],
])('contents of %j bytes are searched %s', async (sizes, place) => {
  const contents = sizes.map((bytes) => new Uint8Array(bytes));
  const inThread = async () => 'in a thread';
  expect(await whereItFits(contents, () => 'here', inThread)).toBe(place);
});

test('only a search that takes too long is an objection to its files', () => {
  expect(tooSlow(new OverLimit('30 s'))).toEqual({
    reason: 'takes too long to search for credentials',
    tokens: [],
  });
  expect(() => tooSlow(new Error('no memory'))).toThrow('no memory');
});

test('between two batches of eight files, other requests are served', async () => {
  let isServed = false;
  const seen: boolean[] = [];
  const readBlobs = async () => {
    seen.push(isServed);
    return new Map();
  };
  const changes = Array.from({ length: 9 }, (_, i) => ({
    path: `${i}`,
    oldMode: '100644',
    newMode: '100644',
    oldOid: 'old',
    newOid: 'new',
  }));
  setImmediate(() => {
    isServed = true;
  });
  await objectionsTo({ readBlobs } as unknown as Checkout, changes, []);
  expect([seen[0], seen.at(-1)]).toEqual([false, true]);
});
