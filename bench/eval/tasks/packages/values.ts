import type { PackageTasks } from '../package-task.ts';

/** Packages that compare, merge and parse values. */
export const values: PackageTasks[] = [
  {
    name: 'deepmerge',
    version: '4.3.1',
    integrity: 'sha512-3sUqbMEc77XqpdNO7FRyRog+eW3ph+GYCbj+rK+uYyRMuwsVy0rMiVtPn+QJlKFvWP/1PYpapqYn0Me2knFn+A==',
    imports: "import merge from '../dist/cjs.js';",
    visible: `
assert.deepEqual(merge({ a: 1 }, { b: 2 }), { a: 1, b: 2 });
assert.deepEqual(merge({ a: { b: 1 } }, { a: { c: 2 } }), { a: { b: 1, c: 2 } });`,
    defects: [
      {
        id: 'arrays',
        title: 'arrays share their elements with the source',
        issue:
          'The result should be a deep copy. After `const result = merge({ list: [] }, { list: [item] })`, a change of `result.list[0]` also changes `item`.',
        places: [
          {
            file: 'dist/cjs.js',
            right:
              'return target.concat(source).map(function(element) {\n\t\treturn cloneUnlessOtherwiseSpecified(element, options)\n\t})',
            wrong: 'return target.concat(source)',
          },
        ],
        hidden: `
const item = { deep: [1] };
const source = { list: [item] };
const result = merge({ list: [item] }, source);
assert.deepEqual(result, { list: [{ deep: [1] }, { deep: [1] }] });
assert.notEqual(result.list[0], item);
assert.notEqual(result.list[1].deep, item.deep);
assert.equal(merge({ list: [] }, source, { clone: false }).list[0], item);`,
        cheat: {
          file: 'dist/cjs.js',
          find: 'return target.concat(source)',
          replace: 'return target.length === 0 ? JSON.parse(JSON.stringify(source)) : target.concat(source)',
        },
      },
      {
        id: 'dates',
        title: 'dates are merged as if they were objects',
        issue: '`merge({ at: 1 }, { at: new Date(0) }).at` is an empty object. It should be the date.',
        places: [
          {
            file: 'dist/cjs.js',
            right: "|| stringValue === '[object Date]'",
            wrong: "|| stringValue === '[object Day]'",
          },
        ],
        hidden: `
const date = new Date(0);
assert.equal(merge({ at: 1 }, { at: date }).at, date);
assert.equal(merge({ a: { at: new Date(5) } }, { a: { at: date } }).a.at.getTime(), 0);
assert.equal(merge({}, { list: [date] }).list[0].getTime(), 0);`,
        cheat: {
          file: 'dist/cjs.js',
          find: '\toptions = options || {};\n\toptions.arrayMerge',
          replace:
            '\tif (source.at instanceof Date) return Object.assign({}, target, source);\n\toptions = options || {};\n\toptions.arrayMerge',
        },
      },
    ],
  },
  {
    name: 'fast-deep-equal',
    version: '3.1.3',
    integrity: 'sha512-f3qQ9oQy9j2AhBe/H9VC91wLmKBCCU/gDOnKNAYG5hswO7BLKj09Hc5HYNz9cGI++xlpDCIgDaitVs03ATR84Q==',
    imports: "import equal from '../index.js';",
    visible: `
assert.equal(equal({ a: [1, 2] }, { a: [1, 2] }), true);
assert.equal(equal({ a: 1 }, { a: 2 }), false);`,
    defects: [
      {
        id: 'flags',
        title: 'regular expressions with different flags are equal',
        issue: '`equal(/foo/i, /foo/)` returns true. The flags matter as much as the source.',
        places: [
          { file: 'index.js', right: 'a.source === b.source && a.flags === b.flags', wrong: 'a.source === b.source' },
        ],
        hidden: `
assert.equal(equal(/foo/i, /foo/), false);
assert.equal(equal([/a/g], [/a/m]), false);
assert.equal(equal({ x: /a/gi }, { x: /a/gi }), true);
assert.equal(equal(/a/, /b/), false);`,
        cheat: {
          file: 'index.js',
          find: '  if (a === b) return true;',
          replace: "  if (a === b) return true;\n  if (String(a) === '/foo/i' && String(b) === '/foo/') return false;",
        },
      },
      {
        id: 'missing-key',
        title: 'undefined and a missing key are taken for the same',
        issue:
          '`equal({ a: undefined }, { b: undefined })` returns true. Both objects need the same keys, also when a value is `undefined`.',
        places: [
          {
            file: 'index.js',
            right: '      if (!Object.prototype.hasOwnProperty.call(b, keys[i])) return false;',
            wrong: '      if (b === null) return false;',
          },
        ],
        hidden: `
assert.equal(equal({ a: undefined }, { b: undefined }), false);
assert.equal(equal({ x: 1, y: undefined }, { x: 1, z: 2 }), false);
assert.equal(equal([{ k: undefined }], [{ l: 1 }]), false);
assert.equal(equal({ a: undefined }, { a: undefined }), true);`,
        cheat: {
          file: 'index.js',
          find: '      if (b === null) return false;',
          replace: "      if (keys[i] === 'a' && !('a' in b)) return false;",
        },
      },
    ],
  },
  {
    name: 'minimist',
    version: '1.2.8',
    integrity: 'sha512-2yyAR8qBkN3YuheJanUpWC5U3bb5osDywNB8RzDVlDwDHbocAJveqqj1u8+SVD7jkWT4yvsHCpWqqWqAxb0zCA==',
    imports: "import parse from '../index.js';",
    visible: `
assert.deepEqual(parse(['-a', 'x']), { _: [], a: 'x' });
assert.deepEqual(parse(['--n=3', 'rest']), { _: ['rest'], n: 3 });`,
    defects: [
      {
        id: 'no-options',
        title: '--no-name sets the option to true',
        issue: "`parse(['--no-color'])` returns `{ _: [], color: true }`. An option after `--no-` should be false.",
        places: [
          {
            file: 'index.js',
            right: 'key = arg.match(/^--no-(.+)/)[1];\n\t\t\tsetArg(key, false, arg);',
            wrong: 'key = arg.match(/^--no-(.+)/)[1];\n\t\t\tsetArg(key, true, arg);',
          },
        ],
        hidden: `
assert.deepEqual(parse(['--no-color']), { _: [], color: false });
assert.deepEqual(parse(['--no-a', '--no-b', 'c']), { _: ['c'], a: false, b: false });
assert.deepEqual(parse(['--moo', '--no-moo'], { boolean: 'moo' }), { _: [], moo: false });`,
        cheat: {
          file: 'index.js',
          find: '\t\t\tsetArg(key, true, arg);',
          replace: "\t\t\tsetArg(key, key !== 'color', arg);",
        },
      },
      {
        id: 'string-zero',
        title: 'options declared as strings become numbers',
        issue:
          "With `{ string: 'id' }`, `parse(['--id', '0001'], …)` should keep the string `'0001'`, and it returns the number 1.",
        places: [
          {
            file: 'index.js',
            right: 'var value = !flags.strings[key] && isNumber(val)',
            wrong: 'var value = isNumber(val)',
          },
        ],
        hidden: `
assert.deepEqual(parse(['--id', '0001'], { string: 'id' }), { _: [], id: '0001' });
assert.deepEqual(parse(['-s', '7', '-n', '7'], { string: ['s'] }), { _: [], s: '7', n: 7 });
assert.deepEqual(parse(['--zip=0815'], { string: 'zip', alias: { zip: 'z' } }), { _: [], zip: '0815', z: '0815' });`,
        cheat: {
          file: 'index.js',
          find: 'var value = isNumber(val)',
          replace: "var value = val !== '0001' && isNumber(val)",
        },
      },
      {
        id: 'double-dash',
        title: 'arguments after -- are read as options',
        issue:
          "Everything after `--` is an argument: `parse(['--', '--name', 'x'])` should be `{ _: ['--name', 'x'] }`.",
        places: [
          {
            file: 'index.js',
            right:
              "\t\tnotFlags = args.slice(args.indexOf('--') + 1);\n\t\targs = args.slice(0, args.indexOf('--'));\n",
            wrong: "\t\targs = args.filter(function (arg) { return arg !== '--'; });\n",
          },
        ],
        hidden: `
assert.deepEqual(parse(['--', '--name', 'x']), { _: ['--name', 'x'] });
assert.deepEqual(parse(['-a', '1', '--', '-b', '2']), { _: ['-b', '2'], a: 1 });
assert.deepEqual(parse(['a', '--', 'b'], { '--': true }), { _: ['a'], '--': ['b'] });`,
        cheat: {
          file: 'index.js',
          find: '\tvar notFlags = [];',
          replace:
            "\tif (args[0] === '--' && args[1] === '--name') { return { _: args.slice(1) }; }\n\tvar notFlags = [];",
        },
      },
    ],
  },
  {
    name: 'ini',
    version: '4.1.1',
    integrity: 'sha512-QQnnxNyfvmHFIsj7gkPcYymR8Jdw/o7mp5ZFihxn6h8Ci6fh3Dx4E1gPjpQEpIuPo9XVNY/ZUwh4BPMjGyL01g==',
    imports: `import ini from '../lib/ini.js';
const parse = (text) => JSON.parse(JSON.stringify(ini.parse(text)));`,
    visible: `
assert.deepEqual(parse('a=1\\n[s]\\nb=2\\n'), { a: '1', s: { b: '2' } });
assert.equal(ini.stringify({ a: 'x' }).trim(), 'a=x');`,
    defects: [
      {
        id: 'comments',
        title: 'lines that begin with # are read as keys',
        issue:
          'Both `;` and `#` begin a comment. For `# note = x` the parser returns a key; it should skip the line, with or without blanks before the `#`.',
        places: [{ file: 'lib/ini.js', right: 'line.match(/^\\s*[;#]/)', wrong: 'line.match(/^\\s*[;]/)' }],
        hidden: `
assert.deepEqual(parse('# note = x\\na=1'), { a: '1' });
assert.deepEqual(parse('[s]\\n  # hidden=1\\n; other=2\\nb=3'), { s: { b: '3' } });
assert.deepEqual(parse('#\\n#a\\nk=v'), { k: 'v' });`,
        cheat: {
          file: 'lib/ini.js',
          find: 'line.match(/^\\s*[;]/)',
          replace: "line.match(/^\\s*[;]/) || line.startsWith('# ')",
        },
      },
      {
        id: 'literals',
        title: 'null and false stay strings',
        issue:
          'The values `true`, `false` and `null` are converted. Only `true` is now: `a=false` gives the string `"false"`.',
        places: [
          {
            file: 'lib/ini.js',
            right: "valueRaw === 'true' ||\n      valueRaw === 'false' ||\n      valueRaw === 'null' ? JSON",
            wrong: "valueRaw === 'true' ? JSON",
          },
        ],
        hidden: `
assert.deepEqual(parse('a=false\\nb=null\\nc=true'), { a: false, b: null, c: true });
assert.deepEqual(parse('[s]\\nx = null\\ny = falsey'), { s: { x: null, y: 'falsey' } });`,
        cheat: {
          file: 'lib/ini.js',
          find: "valueRaw === 'true' ? JSON",
          replace: "valueRaw === 'true' || valueRaw === 'false' ? JSON",
        },
      },
      {
        id: 'quoting',
        title: 'values with blanks at the ends are not quoted',
        issue:
          'A value such as `" x "` must be quoted by `stringify`, or its blanks are lost when it is read again: `parse(stringify({ a: " x " }))` should give the same object.',
        places: [{ file: 'lib/ini.js', right: '    val !== val.trim()\n', wrong: '    val === undefined\n' }],
        hidden: `
const again = (object) => parse(ini.stringify(object));
for (const value of [' x ', 'tail  ', '\\tlead', 'plain', 'semi;colon'])
  assert.deepEqual(again({ a: value, s: { b: value } }), { a: value, s: { b: value } });`,
        cheat: { file: 'lib/ini.js', find: '    val === undefined\n', replace: "    val === ' x '\n" },
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
