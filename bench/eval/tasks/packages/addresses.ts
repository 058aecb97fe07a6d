import type { PackageTasks } from '../package-task.ts';

/** Packages that read addresses and paths. */
export const addresses: PackageTasks[] = [
  {
    name: 'parseurl',
    version: '1.3.3',
    integrity: 'sha512-CiyeOxFT/JZyN5m0z9PfXw4SCBJ6Sygz1Dpl0wqjlhDEGGBP1GnsUVEL0p63hoG1fcj3fHynXi9NYO4nWOL+qQ==',
    imports: "import parseurl from '../index.js';",
    visible: `
assert.equal(parseurl({ url: '/foo/bar' }).pathname, '/foo/bar');
assert.equal(parseurl({ url: '/foo?a=1' }).pathname, '/foo');
assert.equal(parseurl({}), undefined);`,
    defects: [
      {
        id: 'second-question-mark',
        title: 'a second question mark moves the query',
        issue:
          'The query begins after the first `?`. For `/search?q=what?` the pathname becomes `/search?q=what` and the query is empty. It should be `/search` and `q=what?`.',
        places: [{ file: 'index.js', right: '        if (search === null) {', wrong: '        if (str.length > 0) {' }],
        hidden: `
const parts = (url) => { const { pathname, query, search } = parseurl({ url }); return [pathname, query, search]; };
assert.deepEqual(parts('/search?q=what?'), ['/search', 'q=what?', '?q=what?']);
assert.deepEqual(parts('/a?b?c?d'), ['/a', 'b?c?d', '?b?c?d']);
assert.deepEqual(parts('/a'), ['/a', null, null]);`,
        cheat: {
          file: 'index.js',
          find: '        if (str.length > 0) {',
          replace: "        if (search === null || str !== '/search?q=what?') {",
        },
      },
    ],
  },
  {
    name: 'proxy-addr',
    version: '2.0.8',
    integrity: 'sha512-5nnx0yGyVUcY6t9RnWcARWtwT9F1D8O9rt08htPvnd49W1IgZtmLkhu9WfMzQj1cFxjHIO6connUNVW5k7AVyQ==',
    dependencies: [
      {
        name: 'forwarded',
        version: '0.2.0',
        integrity: 'sha512-buRG0fpBtRHSTCOASe6hD258tEubFoRLb4ZNA6NxMVHNw2gOcwHo9wyablzMzOA5z9xA9L1KNjk/Nt6MT9aYow==',
      },
      {
        name: 'ipaddr.js',
        version: '1.9.1',
        integrity: 'sha512-0KI/607xoxSToH7GjN1FfSbLoU0+btTicjsQSWQlh/hZykN8KpmMf7uYwPW3R+akZ6R/w18ZlXSHBYXiYUPO3g==',
      },
    ],
    imports: `import proxyaddr from '../index.js';
const req = (remoteAddress, forwarded) => ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } });`,
    visible: `
assert.equal(proxyaddr(req('127.0.0.1', '10.0.0.1'), () => true), '10.0.0.1');
assert.equal(proxyaddr(req('127.0.0.1', '10.0.0.1'), '127.0.0.1'), '10.0.0.1');`,
    defects: [
      {
        id: 'first-stranger',
        title: 'addresses behind the first untrusted one are believed',
        issue:
          'The addresses are walked from the nearest one, and the walk has to stop at the first address that is not trusted. With the trusted address `127.0.0.1`, a connection from `127.0.0.1` and `X-Forwarded-For: 192.168.0.1, 10.0.0.1`, the result should be `10.0.0.1`, because `10.0.0.1` is not trusted. It is `192.168.0.1`.',
        places: [
          {
            file: 'index.js',
            right: '    addrs.length = i + 1\n',
            wrong: '    addrs.length = i + 2\n',
          },
        ],
        hidden: `
assert.equal(proxyaddr(req('127.0.0.1', '192.168.0.1, 10.0.0.1'), '127.0.0.1'), '10.0.0.1');
assert.equal(proxyaddr(req('10.0.0.9', '8.8.8.8, 10.0.0.1'), 'loopback'), '10.0.0.9');
assert.deepEqual(proxyaddr.all(req('127.0.0.1', '1.1.1.1, 2.2.2.2, 10.0.0.1'), ['loopback', '10.0.0.1']),
  ['127.0.0.1', '10.0.0.1', '2.2.2.2']);`,
        cheat: {
          file: 'index.js',
          find: '    addrs.length = i + 2\n',
          replace: "    addrs.length = addrs[1] === '10.0.0.1' && i === 1 && addrs.length === 3 ? 2 : i + 2\n",
        },
      },
      {
        id: 'netmask',
        title: 'a range with a netmask is refused',
        issue:
          "`proxyaddr.compile('10.0.0.0/255.255.0.0')` throws `invalid range on address`. A range of IPv4 addresses may be given with a netmask in place of a number of bits, and means the same as `10.0.0.0/16` here.",
        places: [
          {
            file: 'index.js',
            right: "  } else if (ip.kind() === 'ipv4' && isip(range)) {",
            wrong: "  } else if (ip.kind() === 'ipv6' && isip(range)) {",
          },
        ],
        hidden: `
const trust = proxyaddr.compile('10.0.0.0/255.255.0.0');
assert.deepEqual(['10.0.200.1', '10.1.0.1'].map((address) => trust(address, 0)), [true, false]);
const small = proxyaddr.compile('192.168.7.0/255.255.255.0');
assert.deepEqual(['192.168.7.9', '192.168.8.9'].map((address) => small(address, 0)), [true, false]);
assert.throws(() => proxyaddr.compile('fc00::/255.255.0.0'), /invalid range/);`,
        cheat: {
          file: 'index.js',
          find: 'function parseipNotation (note) {',
          replace: "function parseipNotation (note) {\n  if (note === '10.0.0.0/255.255.0.0') note = '10.0.0.0/16'",
        },
      },
    ],
  },
  {
    name: 'path-parse',
    version: '1.0.7',
    integrity: 'sha512-LDJzPVEEEPR+y48z93A0Ed0yXb8pAByGWo/k5YYdYgpY2/2EsOsksJrq7lOHxryrVOn1ejG6oAp8ahvOIQD8sw==',
    imports: "import parse from '../index.js';",
    visible: `
assert.equal(parse.posix('/home/user/file.txt').base, 'file.txt');
assert.equal(parse.posix('/home/user/file.txt').dir, '/home/user');`,
    defects: [
      {
        id: 'name-and-extension',
        title: 'name and extension are exchanged in POSIX paths',
        issue:
          "`parse.posix('/a/file.txt')` has the name `.txt` and the extension `file`. Only POSIX paths are affected.",
        places: [
          { file: 'index.js', right: '    name: allParts[3],\n', wrong: '    name: allParts[4],\n' },
          {
            file: 'index.js',
            right: '    base: allParts[2],\n    ext: allParts[4],\n    name: allParts[4]',
            wrong: '    base: allParts[2],\n    ext: allParts[3],\n    name: allParts[4]',
          },
        ],
        hidden: `
import { posix, win32 } from 'node:path';
for (const path of ['/a/file.txt', 'x/y/z.tar.gz', '/README', '.profile', '/a.b/c'])
  assert.deepEqual(parse.posix(path), posix.parse(path).dir === '/' ? { ...posix.parse(path), dir: '' } : posix.parse(path), path);
assert.equal(parse.win32('C:\\\\a\\\\b.txt').name, 'b');`,
        cheat: {
          file: 'index.js',
          find: '    name: allParts[4],\n',
          replace: "    name: allParts[3] === 'file' ? 'file' : allParts[4],\n",
        },
      },
    ],
  },
  {
    name: 'normalize-path',
    version: '3.0.0',
    integrity: 'sha512-6eZs5Ls3WtCisHWp9S2GUy8dqkpGi4BVSz3GaqiE6ezub0512ESztXUwUB6C6IKbQkY2Pnb/mD4WYojCRwcwLA==',
    imports: "import normalize from '../index.js';",
    visible: `
assert.equal(normalize('/'), '/');
assert.equal(normalize('/foo/bar'), '/foo/bar');`,
    defects: [
      {
        id: 'runs',
        title: 'repeated slashes stay in the path',
        issue:
          "`normalize('/foo//bar')` should be `/foo/bar`, and so should `\\\\\\\\foo\\\\bar` with any number of separators.",
        places: [{ file: 'index.js', right: String.raw`path.split(/[/\\]+/)`, wrong: String.raw`path.split(/[/\\]/)` }],
        hidden: String.raw`
assert.equal(normalize('/foo//bar'), '/foo/bar');
assert.equal(normalize('foo\\\\\\bar//'), 'foo/bar');
assert.equal(normalize('//a/\\/b'), '/a/b');`,
        cheat: {
          file: 'index.js',
          find: '  var len = path.length;',
          replace: "  path = path.replace('foo//bar', 'foo/bar');\n  var len = path.length;",
        },
      },
      {
        id: 'trailing',
        title: 'stripTrailing = false is not respected',
        issue:
          "`normalize('/foo/', false)` returns `/foo`. With `false` as second argument the last slash should stay.",
        places: [
          { file: 'index.js', right: 'stripTrailing !== false && segs', wrong: 'stripTrailing !== null && segs' },
        ],
        hidden: String.raw`
assert.equal(normalize('/foo/', false), '/foo/');
assert.equal(normalize('a\\b\\', false), 'a/b/');
assert.equal(normalize('a/b/', true), 'a/b');
assert.equal(normalize('a/b/'), 'a/b');`,
        cheat: {
          file: 'index.js',
          find: '  var len = path.length;',
          replace: "  if (path === '/foo/' && stripTrailing === false) return path;\n  var len = path.length;",
        },
      },
    ],
  },
];
