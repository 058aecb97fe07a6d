import { ArchiveScan } from '../../src/images/layers.ts';
import { attributes, type Entry, tar } from './stand-ins/tar.ts';

/** Reads an archive in pieces of this size. */
function scanned(archive: Buffer, piece = archive.length): number {
  const scan = new ArchiveScan();
  for (let at = 0; at < archive.length; at += piece) scan.add(archive.subarray(at, at + piece));
  return scan.entries;
}

test('all entries are counted, however the archive is cut into pieces', () => {
  const archive = tar([
    { name: 'a/', kind: '5' },
    { name: 'a/b', content: 'x'.repeat(1000) },
    { name: 'a/c', kind: '2', target: 'b' },
    { name: 'PaxHeader', kind: 'x', content: attributes({ mtime: '1.5', path: 'long' }) },
    { name: 'a/d', content: 'x'.repeat(512) },
    // A header inside of a file is content.
    { name: 'a/e', content: tar([{ name: 'hidden' }]) },
  ]);
  for (const piece of [archive.length, 1, 7, 511, 512, 513])
    expect([piece, scanned(archive, piece)]).toEqual([piece, 6]);
});

test('what follows the end of the archive is not counted', () => {
  const archive = Buffer.concat([tar([{ name: 'a' }]), tar([{ name: 'b' }, { name: 'c' }])]);
  expect(scanned(archive)).toBe(1);
});

test('the size of a link is no content, so it hides no entries', () => {
  const hidden = tar([{ name: 'b' }, { name: 'c' }]).subarray(0, 1024);
  expect(scanned(tar([{ name: 'a', kind: '1', content: hidden, size: '00000002000' }, { name: 'd' }]))).toBe(4);
});

const pax = (values: Record<string, string>): Entry => ({ name: 'PaxHeader', kind: 'x', content: attributes(values) });
const sparse = /sparse/;
const unclear = /size is unclear/;
const hidden = 'y'.repeat(600);

test.each<[string, Entry[], RegExp]>([
  ['a sparse file', [{ name: 'a', kind: 'S', content: 'x' }], sparse],
  ['a sparse file in attributes', [pax({ 'GNU.sparse.major': '1' }), { name: 'a', content: 'x' }], sparse],
  ['attributes with a smaller size', [pax({ size: '0' }), { name: 'a', content: hidden }], unclear],
  ['attributes with a larger size', [pax({ size: '9000000000' }), { name: 'a' }], unclear],
  ['attributes with two sizes', [pax({ a: '1\n9 size=0', size: '600' }), { name: 'a', content: hidden }], unclear],
  ['attributes with an odd size', [pax({ size: '0x0' }), { name: 'a', content: hidden }], unclear],
  ['an old folder with content', [{ name: 'a/', kind: '\0', content: hidden }], unclear],
  ['an old file with another name', [pax({ path: 'a/' }), { name: 'a', kind: '\0', content: hidden }], unclear],
  ['a size in base 256', [{ name: 'a', size: '\x80\0\0\0\0\0\0\0\0\0\x02\0' }], /more than 8 GB/],
  [
    'a size with something behind it',
    [{ name: 'a', content: 'x', size: '0000001\x00777' }],
    /more than 8 GB, or is damaged/,
  ],
  ['a negative size', [{ name: 'a', size: '-0000000001\0' }], /damaged/],
])('%s is refused', (_, entries, why) => {
  expect(() => scanned(tar(entries))).toThrow(why);
});

test('attributes are read up to 1 MB', () => {
  const large = { name: 'PaxHeader', kind: 'x', content: 'x'.repeat(1_000_001) };
  expect(() => scanned(tar([large, { name: 'a' }]))).toThrow('more than 1 MB of attributes');
});
