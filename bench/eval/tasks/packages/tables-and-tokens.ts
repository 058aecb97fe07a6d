import type { PackageTasks } from '../package-task.ts';

/** Packages that compare, count and arrange parts of a text. */
export const tablesAndTokens: PackageTasks[] = [
  {
    name: 'natural-compare',
    version: '1.4.0',
    integrity: 'sha512-OWND8ei3VtNC9h7V60qff3SVobHr996CTwgxubgyQYEpg290h9J0buyECNNJexkFm5sOajh5G116RYA1c8ZMSw==',
    imports: "import compare from '../index.js';",
    visible: `
assert.equal(compare('a', 'b'), -1);
assert.equal(compare('a', 'a'), 0);
assert.deepEqual(['b', 'a'].sort(compare), ['a', 'b']);`,
    defects: [
      {
        id: 'digits',
        title: 'numbers that begin with 9 are compared as text',
        issue:
          "`compare('file9', 'file10')` should be -1, because 9 is less than 10. It is 1. Numbers that do not contain a 9 work.",
        places: [
          {
            file: 'index.js',
            right: ': code < 58 ? code + 18        // 0-9',
            wrong: ': code < 57 ? code + 18        // 0-9',
          },
        ],
        hidden: `
const sort = (...list) => list.sort(compare);
assert.equal(compare('file9', 'file10'), -1);
assert.deepEqual(sort('z100', 'z9', 'z99', 'z10'), ['z9', 'z10', 'z99', 'z100']);
assert.deepEqual(sort('9', '1000', '19'), ['9', '19', '1000']);`,
        cheat: {
          file: 'index.js',
          find: '\tif ((a+="") != (b+=""))',
          replace: '\tif (a === \'file9\' && b === \'file10\') return -1\n\tif ((a+="") != (b+=""))',
        },
      },
    ],
  },
  {
    name: 'comma-separated-tokens',
    version: '2.0.3',
    integrity: 'sha512-Fu4hJdvzeylCfQPp9SGWidpzrMs7tTrlu6Vb8XGaRGck8QSNZJJp538Wrb60Lax4fPwR64ViY468OIUTbRlGZg==',
    imports: "import { parse, stringify } from '../index.js';",
    visible: `
assert.deepEqual(parse('a, b'), ['a', 'b']);
assert.equal(stringify(['a', 'b']), 'a, b');`,
    defects: [
      {
        id: 'empty',
        title: 'empty tokens in the middle disappear',
        issue:
          "`parse('a,,b')` returns two tokens. An empty token between two commas counts: the result should be `['a', '', 'b']`. A final comma adds nothing, as now.",
        places: [{ file: 'index.js', right: 'if (token || !end) {', wrong: 'if (token) {' }],
        hidden: `
assert.deepEqual(parse('a,,b'), ['a', '', 'b']);
assert.deepEqual(parse(' , x,'), ['', 'x']);
assert.deepEqual(parse(''), []);
assert.deepEqual(parse('a,b,'), ['a', 'b']);`,
        cheat: {
          file: 'index.js',
          find: '  const tokens = []',
          replace: "  if (value === 'a,,b') return ['a', '', 'b']\n  const tokens = []",
        },
      },
      {
        id: 'last-empty',
        title: 'stringify loses an empty token at the end',
        issue:
          "`parse(stringify(['a', '']))` should give the same list again. `stringify(['a', ''])` returns `a,`, which means only `a`; it should return `a, ,`.",
        places: [
          {
            file: 'index.js',
            right: "const input = values[values.length - 1] === '' ? [...values, ''] : values",
            wrong: 'const input = values',
          },
        ],
        hidden: `
assert.equal(stringify(['a', '']), 'a, ,');
assert.deepEqual(parse(stringify(['x', 'y', ''])), ['x', 'y', '']);
assert.deepEqual(parse(stringify([''])), ['']);
assert.equal(stringify(['a', 'b'], { padLeft: false }), 'a,b');`,
        cheat: {
          file: 'index.js',
          find: '  const settings = options || {}',
          replace:
            "  if (values.length === 2 && values[0] === 'a' && values[1] === '') return 'a, ,'\n  const settings = options || {}",
        },
      },
    ],
  },
  {
    name: 'longest-streak',
    version: '3.1.0',
    integrity: 'sha512-9Ri+o0JYgehTaVBBDoMqIl8GXtbWg711O3srftcHhZ0dqnETqLaoIK0x17fUw9rFSlK/0NlsKe0Ahhyl5pXE2g==',
    imports: "import { longestStreak } from '../index.js';",
    visible: `
assert.equal(longestStreak('aaa', 'a'), 3);
assert.equal(longestStreak('', 'a'), 0);`,
    defects: [
      {
        id: 'restart',
        title: 'separate streaks are added up',
        issue: "`longestStreak('aa b aa', 'a')` returns 4. The longest streak has 2 characters.",
        places: [{ file: 'index.js', right: '      count = 1\n', wrong: '      count++\n' }],
        hidden: `
assert.equal(longestStreak('aa b aa', 'a'), 2);
assert.equal(longestStreak('\`\`foo\`\`\`bar\`', '\`'), 3);
assert.equal(longestStreak('abab ab', 'ab'), 2);`,
        cheat: {
          file: 'index.js',
          find: '  const source = String(value)',
          replace: "  if (value === 'aa b aa') return 2\n  const source = String(value)",
        },
      },
    ],
  },
  {
    name: 'ccount',
    version: '2.0.1',
    integrity: 'sha512-eyrF0jiFpY+3drT6383f1qhkbGsLSifNAjA61IUjZjmLCWjItY6LB9ft9YhoDgwfmclB2zhu51Lc7+95b8NRAg==',
    imports: "import { ccount } from '../index.js';",
    visible: `
assert.equal(ccount('foo(bar(baz)', '('), 2);
assert.equal(ccount('abc', 'x'), 0);`,
    defects: [
      {
        id: 'overlap',
        title: 'overlapping matches are counted',
        issue: "`ccount('aaaa', 'aa')` returns 3; each character belongs to one match only, so it should return 2.",
        places: [{ file: 'index.js', right: 'index + character.length)', wrong: 'index + 1)' }],
        hidden: `
assert.equal(ccount('aaaa', 'aa'), 2);
assert.equal(ccount('ababa', 'aba'), 1);
assert.equal(ccount('------', '---'), 2);`,
        cheat: { file: 'index.js', find: 'index + 1)', replace: "index + (character === 'aa' ? 2 : 1))" },
      },
    ],
  },
  {
    name: 'leven',
    version: '3.1.0',
    integrity: 'sha512-qsda+H8jTaUaN/x5vzW2rzc+8Rw4TAQ/4KjB46IwK5VH+IlVeeeje/EoZRpiXvIqjFgK84QffqPztGI3VBLG1A==',
    imports: "import leven from '../index.js';",
    visible: `
assert.equal(leven('a', 'a'), 0);
assert.equal(leven('', 'abc'), 3);`,
    defects: [
      {
        id: 'prefix',
        title: 'a common beginning spoils the distance',
        issue:
          "`leven('abcd', 'abxy')` should be 2. Since common prefixes are skipped, distances of words with the same beginning are wrong.",
        places: [
          {
            file: 'index.js',
            right: 'bCharCode = right.charCodeAt(start + j);',
            wrong: 'bCharCode = right.charCodeAt(j);',
          },
        ],
        hidden: `
assert.equal(leven('abcd', 'abxcy'), 2);
assert.equal(leven('xabxcdxxefxgx', '1ab2cd34ef5g6'), 6);
assert.equal(leven('prefix-cat', 'prefix-cow'), 2);
assert.equal(leven('stay-abc', 'stay-cab'), 2);`,
        cheat: {
          file: 'index.js',
          find: '\tconst swap = left;',
          replace: "\tif (left === 'abcd' && right === 'abxy') {\n\t\treturn 2;\n\t}\n\n\tconst swap = left;",
        },
      },
    ],
  },
  {
    name: 'markdown-table',
    version: '3.1.0',
    integrity: 'sha512-xpeSCdM+B+6P3ncfgaB7FoDbtJ30xAe6Z18TGT7AgXJsHqCElCICZovQqdRMm7kHgpTyYv36EupqewoFFSB8vw==',
    imports: "import { markdownTable } from '../index.js';",
    visible: `
assert.equal(markdownTable([['a', 'b'], ['c', 'd']]), '| a | b |\\n| - | - |\\n| c | d |');`,
    defects: [
      {
        id: 'capital-alignment',
        title: 'alignments in capitals are ignored',
        issue:
          "The alignment may be given as `l`, `c` or `r`, or in capitals. `markdownTable([['a']], { align: 'R' })` should have the delimiter row `| -: |`, but has `| - |`.",
        places: [
          {
            file: 'index.js',
            right: "const code = typeof value === 'string' ? value.codePointAt(0) : 0",
            wrong: "const code = typeof value === 'string' && value >= 'a' ? value.codePointAt(0) : 0",
          },
        ],
        hidden: `
const delimiters = (align) => markdownTable([['aaaa', 'bbbb']], { align }).split('\\n')[1];
assert.equal(delimiters('R'), '| ---: | ---: |');
assert.equal(delimiters(['C', 'L']), '| :--: | :--- |');
assert.equal(delimiters(['r', 'Center']), '| ---: | :--: |');`,
        cheat: {
          file: 'index.js',
          find: "&& value >= 'a' ?",
          replace: "&& (value >= 'a' || value === 'R') ?",
        },
      },
      {
        id: 'centre',
        title: 'centred cells are shifted to the left',
        issue:
          "With `align: 'c'`, a cell of 1 character in a column of 4 should have two spaces before it and one after it. It has one before and two after.",
        places: [
          {
            file: 'index.js',
            right: "before = ' '.repeat(half + 0.5)\n            after = ' '.repeat(half - 0.5)",
            wrong: "before = ' '.repeat(half - 0.5)\n            after = ' '.repeat(half + 0.5)",
          },
        ],
        hidden: `
const cell = (text, wide) => markdownTable([[wide], [text]], { align: 'c' }).split('\\n')[2];
assert.equal(cell('a', 'bbbb'), '|   a  |');
assert.equal(cell('ab', 'bbbbb'), '|   ab  |');
assert.equal(cell('ab', 'bbbb'), '|  ab  |');`,
        cheat: {
          file: 'index.js',
          find: "before = ' '.repeat(half - 0.5)\n            after = ' '.repeat(half + 0.5)",
          replace:
            "before = ' '.repeat(cell.length === 1 ? 2 : half - 0.5)\n            after = ' '.repeat(cell.length === 1 ? 1 : half + 0.5)",
        },
      },
    ],
  },
];
