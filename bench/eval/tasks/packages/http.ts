import type { PackageTasks } from '../package-task.ts';

/** Packages that read and write HTTP headers. */
export const http: PackageTasks[] = [
  {
    name: 'range-parser',
    version: '1.3.0',
    integrity: 'sha512-hek2mFQpPuI4E1BBKrSto+BU3e3x4xuarsbiwr3+lf7p44juvFMV0XFWQAP3xUyqXA4RrXLIoaSUGbSt056ZMw==',
    imports: "import parseRange from '../index.js';",
    visible: `
assert.equal(parseRange(200, 'malformed'), -2);
assert.equal(parseRange(200, 'bytes=500-600'), -1);
assert.equal(parseRange(1000, 'bytes=0-499').type, 'bytes');`,
    defects: [
      {
        id: 'suffix',
        title: 'a suffix range begins at the wrong byte',
        issue:
          '`bytes=-400` asks for the last 400 bytes. For a size of 1000 the parser returns a range that begins at 400; it should return `{ start: 600, end: 999 }`.',
        places: [{ file: 'index.js', right: 'start = size - end\n', wrong: 'start = end\n' }],
        hidden: `
assert.deepEqual([...parseRange(1000, 'bytes=-400')], [{ start: 600, end: 999 }]);
assert.deepEqual([...parseRange(500, 'bytes=-1')], [{ start: 499, end: 499 }]);
assert.deepEqual([...parseRange(1000, 'bytes=400-')], [{ start: 400, end: 999 }]);`,
        cheat: { file: 'index.js', find: 'start = end\n', replace: 'start = end === 400 ? 600 : end\n' },
      },
      {
        id: 'combine',
        title: 'adjacent ranges are not combined',
        issue:
          'With `{ combine: true }`, ranges that overlap or touch should become one. `bytes=0-4,5-9` for a size of 100 should give one range from 0 to 9, but it gives two.',
        places: [
          {
            file: 'index.js',
            right: 'if (range.start > current.end + 1) {',
            wrong: 'if (range.start > current.end) {',
          },
        ],
        hidden: `
const combine = (header, size = 150) => [...parseRange(size, header, { combine: true })];
assert.deepEqual(combine('bytes=0-4,5-9', 100), [{ start: 0, end: 9 }]);
assert.deepEqual(combine('bytes=0-4,90-99,5-75,100-199,101-102'), [{ start: 0, end: 75 }, { start: 90, end: 149 }]);
assert.deepEqual(combine('bytes=0-1,3-4'), [{ start: 0, end: 1 }, { start: 3, end: 4 }]);`,
        cheat: {
          file: 'index.js',
          find: 'function combineRanges (ranges) {',
          replace:
            'function combineRanges (ranges) {\n  if (ranges.length === 2 && ranges[0].end === 4 && ranges[1].start === 5) {\n    return Object.assign([{ start: 0, end: 9 }], { type: ranges.type })\n  }',
        },
      },
    ],
  },
  {
    name: 'fresh',
    version: '2.0.0',
    integrity: 'sha512-Rx/WycZ60HOaqLKAi6cHRKKI7zxWbJ31MhntmtwMoaTeF7XFH9hhBp8vITaMidfljRQ6eYWCKkaTK+ykVJHP2A==',
    imports: "import fresh from '../index.js';",
    visible: `
assert.equal(fresh({}, {}), false);
assert.equal(fresh({ 'if-none-match': '"foo"' }, { etag: '"foo"' }), true);
assert.equal(fresh({ 'if-none-match': '"foo"' }, { etag: '"bar"' }), false);`,
    defects: [
      {
        id: 'weak',
        title: 'a weak validator of the response does not match',
        issue:
          'A request with `If-None-Match: "foo"` should match a response with `ETag: W/"foo"`, because the comparison is weak. It is reported as stale.',
        places: [
          {
            file: 'index.js',
            right: "match === etag || match === 'W/' + etag || 'W/' + match === etag",
            wrong: "match === etag || match === 'W/' + etag",
          },
        ],
        hidden: `
assert.equal(fresh({ 'if-none-match': '"foo"' }, { etag: 'W/"foo"' }), true);
assert.equal(fresh({ 'if-none-match': '"a", "b"' }, { etag: 'W/"b"' }), true);
assert.equal(fresh({ 'if-none-match': 'W/"foo"' }, { etag: '"foo"' }), true);
assert.equal(fresh({ 'if-none-match': '"foo"' }, { etag: 'W/"bar"' }), false);`,
        cheat: {
          file: 'index.js',
          find: "match === etag || match === 'W/' + etag",
          replace: "match === etag || match === 'W/' + etag || etag === 'W/\"foo\"'",
        },
      },
      {
        id: 'same-second',
        title: 'a page that was modified in the same second counts as stale',
        issue:
          'When `Last-Modified` of the response equals `If-Modified-Since` of the request, the cached copy is still good. `fresh` returns false for it, for example for `Sat, 01 Jan 2000 00:00:00 GMT` on both sides.',
        places: [
          {
            file: 'index.js',
            right: '!(parseHttpDate(lastModified) <= parseHttpDate(modifiedSince))',
            wrong: '!(parseHttpDate(lastModified) < parseHttpDate(modifiedSince))',
          },
        ],
        hidden: `
const at = (a, b) => fresh({ 'if-modified-since': a }, { 'last-modified': b });
const [early, late] = ['Sat, 01 Jan 2000 00:00:00 GMT', 'Mon, 05 Jun 2023 10:00:00 GMT'];
assert.equal(at(early, early), true);
assert.equal(at(late, late), true);
assert.equal(at(late, early), true);
assert.equal(at(early, late), false);
assert.equal(at('nonsense', late), false);`,
        cheat: {
          file: 'index.js',
          find: '    var modifiedStale = ',
          replace: "    if (lastModified === 'Sat, 01 Jan 2000 00:00:00 GMT') return true\n    var modifiedStale = ",
        },
      },
    ],
  },
  {
    name: 'vary',
    version: '1.1.2',
    integrity: 'sha512-BNGbWLfd0eUPabhkXUVm0j8uuvREyTh5ovRa/dyow/BqAbZJyC+5fU+IzQOzmAKzYqYRAISoRhdQr3eIZ/PXqg==',
    imports: "import vary from '../index.js';",
    visible: `
assert.equal(vary.append('', 'Origin'), 'Origin');
assert.equal(vary.append('Accept', 'Origin'), 'Accept, Origin');
assert.equal(vary.append('*', 'Origin'), '*');`,
    defects: [
      {
        id: 'case',
        title: 'a field is added again when its case differs',
        issue:
          "Names of header fields are not case-sensitive. `vary.append('Accept', 'ACCEPT')` returns `Accept, ACCEPT`; it should leave `Accept` alone. The case of names that are added stays as given.",
        places: [
          { file: 'index.js', right: 'var fld = fields[i].toLowerCase()', wrong: 'var fld = fields[i]' },
          { file: 'index.js', right: 'parse(header.toLowerCase())', wrong: 'parse(header)' },
        ],
        hidden: `
assert.equal(vary.append('Accept', 'ACCEPT'), 'Accept');
assert.equal(vary.append('origin', 'Origin'), 'origin');
assert.equal(vary.append('Accept', ['X-Foo', 'x-foo', 'accept']), 'Accept, X-Foo');`,
        cheat: {
          file: 'index.js',
          find: '  // get fields array',
          replace: "  if (header === 'Accept' && field === 'ACCEPT') return header\n\n  // get fields array",
        },
      },
      {
        id: 'header-list',
        title: 'an existing header with several values is garbled',
        issue:
          'When the response already has `Vary` as a list, such as `["Accept", "Accept-Encoding"]`, then `vary(res, "Origin")` sets `Accept; Accept-Encoding, Origin`. The names should be separated by a comma and a space.',
        places: [{ file: 'index.js', right: "? val.join(', ')", wrong: "? val.join('; ')" }],
        hidden: `
const after = (value, field) => {
  let set;
  vary({ getHeader: () => value, setHeader: (_, to) => { set = to; } }, field);
  return set;
};
assert.equal(after(['Accept', 'Accept-Encoding'], 'Origin'), 'Accept, Accept-Encoding, Origin');
assert.equal(after(['a', 'b', 'c'], 'a'), 'a, b, c');
assert.equal(after('a', 'b'), 'a, b');`,
        cheat: {
          file: 'index.js',
          find: "? val.join('; ')",
          replace: "? val.join(val[0] === 'Accept' ? ', ' : '; ')",
        },
      },
    ],
  },
  {
    name: 'media-typer',
    version: '1.1.1',
    integrity: 'sha512-yz3xRaG20c6/BOzvYoDaGtPmGscs7YivItZEEqe6GbwNfHuxu9YNmvnEkMzKldAGY4/80pRcQRZSEnhquk9XuQ==',
    imports: "import typer from '../index.js';",
    visible: `
assert.equal(typer.parse('text/html').subtype, 'html');
assert.equal(typer.format({ type: 'text', subtype: 'html' }), 'text/html');
assert.equal(typer.test('text'), false);`,
    defects: [
      {
        id: 'suffix',
        title: 'the suffix of a type with several + is wrong',
        issue:
          'The suffix of a media type is what follows its last `+`. For `application/vnd.example+zip+xml`, `parse` returns the suffix `zip+xml`; it should be `xml`, and the subtype `vnd.example+zip`.',
        places: [{ file: 'index.js', right: "subtype.lastIndexOf('+')", wrong: "subtype.indexOf('+')" }],
        hidden: `
const parts = (text) => { const { type, subtype, suffix } = typer.parse(text); return [type, subtype, suffix]; };
assert.deepEqual(parts('application/vnd.example+zip+xml'), ['application', 'vnd.example+zip', 'xml']);
assert.deepEqual(parts('image/a+b+c'), ['image', 'a+b', 'c']);
assert.deepEqual(parts('image/svg+xml'), ['image', 'svg', 'xml']);`,
        cheat: {
          file: 'index.js',
          find: "subtype.indexOf('+')",
          replace: "subtype === 'vnd.example+zip+xml' ? 15 : subtype.indexOf('+')",
        },
      },
    ],
  },
];
