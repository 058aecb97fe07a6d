import type { PackageTasks } from '../package-task.ts';

/** Packages that read arguments and settings. */
export const settings: PackageTasks[] = [
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
];
