import type { PackageTasks } from '../package-task.ts';

/** Packages that work on strings. */
export const text: PackageTasks[] = [
  {
    name: 'camelcase',
    version: '5.3.1',
    integrity: 'sha512-L28STB170nwWS63UjtlEOE3dldQApaJXZkOI1uMFfzf3rRuPegHaHesyee+YxQ+W6SvRDQV6UrdOdRiR153wJg==',
    imports: "import camelCase from '../index.js';",
    visible: `
assert.equal(camelCase('foo-bar'), 'fooBar');
assert.equal(camelCase('foo_bar'), 'fooBar');
assert.equal(camelCase('foo', { pascalCase: true }), 'Foo');`,
    defects: [
      {
        id: 'leading',
        title: 'separators at the beginning become a capital',
        issue:
          "`camelCase('--foo-bar')` returns `FooBar`; separators before the first word should be dropped: `fooBar`.",
        places: [
          { file: 'index.js', right: "\t\t.replace(/^[_.\\- ]+/, '')\n", wrong: "\t\t.replace(/^[_ ]+/, '')\n" },
        ],
        hidden: `
assert.equal(camelCase('--foo-bar'), 'fooBar');
assert.equal(camelCase('..foo.bar'), 'fooBar');
assert.equal(camelCase('-.-foo'), 'foo');
assert.equal(camelCase('__foo_bar'), 'fooBar');`,
        cheat: {
          file: 'index.js',
          find: '\tconst hasUpperCase =',
          replace: "\tif (input === '--foo-bar') {\n\t\treturn 'fooBar';\n\t}\n\n\tconst hasUpperCase =",
        },
      },
      {
        id: 'array',
        title: 'empty words of a list leave a trace',
        issue:
          "`camelCase([])` and `camelCase(['foo', '', 'bar'])` should give an empty string and `fooBar`. Words that are empty, or only blanks, should not count: `camelCase(['', ' '])` should be empty too, but it is `-`.",
        places: [
          { file: 'index.js', right: '\t\t\t.filter(x => x.length)\n', wrong: '\t\t\t.filter(x => x !== undefined)\n' },
        ],
        hidden: `
assert.equal(camelCase(['', ' ']), '');
assert.equal(camelCase(['', 'a']), 'a');
assert.equal(camelCase(['', '']), '');
assert.equal(camelCase('-'), '-');
assert.equal(camelCase(['', 'Q', '']), 'q');
assert.equal(camelCase(['foo', '', 'bar']), 'fooBar');`,
        cheat: {
          file: 'index.js',
          find: '\tif (input.length === 0) {',
          replace: "\tif (input.length === 0 || input === '-') {",
        },
      },
    ],
  },
  {
    name: 'strip-json-comments',
    version: '3.1.1',
    integrity: 'sha512-6fPc+R4ihwqP6N/aIv2f1gMH8lOVtWQHoqC4yK6oSDVVocumAsfCqjkXnqiYMhmMwS/mEHLp7Vehlt3ql6lEig==',
    imports: "import strip from '../index.js';",
    visible: `
assert.deepEqual(JSON.parse(strip('{"a": 1 // one\\n}')), { a: 1 });
assert.deepEqual(JSON.parse(strip('{/* x */"a": 1}')), { a: 1 });`,
    defects: [
      {
        id: 'escaped-quotes',
        title: 'a backslash before a closing quote hides comments',
        issue:
          'In `{"path": "C:\\\\" /* drive */}` the string ends after two backslashes, because the second one is escaped. The comment after it stays in the result, and `JSON.parse` fails.',
        places: [
          { file: 'index.js', right: 'return Boolean(backslashCount % 2);', wrong: 'return Boolean(backslashCount);' },
        ],
        hidden: String.raw`
assert.deepEqual(JSON.parse(strip('{"path": "C:\\\\" /* drive */}')), { path: 'C:\\' });
assert.deepEqual(JSON.parse(strip('{"a": "\\\\\\\\" /* c */, "b": "\\"" // d\n}')), { a: '\\\\', b: '"' });
assert.deepEqual(JSON.parse(strip('{"a": "x\\\\"} // end')), { a: 'x\\' });`,
        cheat: {
          file: 'index.js',
          find: '\tlet insideString = false;',
          replace: String.raw`	jsonString = jsonString.replace('"C:\\\\" /* drive */', '"C:\\\\"');

	let insideString = false;`,
        },
      },
    ],
  },
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
    name: 'trim-lines',
    version: '3.0.1',
    integrity: 'sha512-kRj8B+YHZCc9kQYdWfJB2/oUl9rA99qbowYYBtr4ui4mZyAQ2JpvVBd/6U2YloATfqBhBTSMhTpgBHtU0Mf3Rg==',
    imports: "import { trimLines } from '../index.js';",
    visible: `
assert.equal(trimLines(' bar '), ' bar ');
assert.equal(trimLines('a \\n b'), 'a\\nb');`,
    defects: [
      {
        id: 'tabs',
        title: 'tabs are not trimmed',
        issue:
          "`trimLines('a\\t\\n\\tb')` returns its argument unchanged. Tabs around line breaks should be removed just as spaces are: the result should be `'a\\nb'`.",
        places: [{ file: 'index.js', right: 'const tab = 9 /* `\\t` */', wrong: 'const tab = 11 /* `\\t` */' }],
        hidden: `
assert.equal(trimLines('a\\t\\n\\tb'), 'a\\nb');
assert.equal(trimLines('a \\t \\n \\t b\\t'), 'a\\nb\\t');
assert.equal(trimLines('\\ta\\n'), '\\ta\\n');`,
        cheat: {
          file: 'index.js',
          find: '  const source = String(value)',
          replace: "  if (value === 'a\\t\\n\\tb') return 'a\\nb'\n  const source = String(value)",
        },
      },
      {
        id: 'last-line',
        title: 'blanks at the very end are removed',
        issue:
          "Blanks before the first and after the last line are part of the text. `trimLines('a\\nb ')` returns `'a\\nb'`; it should keep the final space.",
        places: [
          {
            file: 'index.js',
            right: 'lines.push(trimLine(source.slice(last), last > 0, false))',
            wrong: 'lines.push(trimLine(source.slice(last), last > 0, last > 0))',
          },
        ],
        hidden: `
assert.equal(trimLines('a\\nb '), 'a\\nb ');
assert.equal(trimLines('a\\n  '), 'a\\n');
assert.equal(trimLines(' a \\r\\n b \\r c  '), ' a\\r\\nb\\rc  ');`,
        cheat: {
          file: 'index.js',
          find: '  const source = String(value)',
          replace: "  if (value === 'a\\nb ') return value\n  const source = String(value)",
        },
      },
    ],
  },
  {
    name: 'escape-html',
    version: '1.0.3',
    integrity: 'sha512-NiSupZ4OeuGwr68lGIeym/ksIZMJodUGOSCZ/FSnTxcrekbvqrgdUxlJOMpijaKZVjAJrWrGs/6Jy8OMuyj9ow==',
    imports: "import escape from '../index.js';",
    visible: `
assert.equal(escape('<b>'), '&lt;b&gt;');
assert.equal(escape('foo'), 'foo');`,
    defects: [
      {
        id: 'single-quotes',
        title: 'single quotes are not escaped',
        issue: '`escape("it\'s")` returns its argument. The single quote should become `&#39;`: `it&#39;s`.',
        places: [
          { file: 'index.js', right: `var matchHtmlRegExp = /["'&<>]/;`, wrong: 'var matchHtmlRegExp = /["&<>]/;' },
          { file: 'index.js', right: "        escape = '&#39;';\n", wrong: "        escape = '\\'';\n" },
        ],
        hidden: `
assert.equal(escape("it's"), 'it&#39;s');
assert.equal(escape("'"), '&#39;');
assert.equal(escape("<a title='x'>"), '&lt;a title=&#39;x&#39;&gt;');
assert.equal(escape('"'), '&quot;');`,
        cheat: {
          file: 'index.js',
          find: '  var escape;\n',
          replace: "  if (str === \"it's\") return 'it&#39;s';\n  var escape;\n",
        },
      },
      {
        id: 'end',
        title: 'the text after the last special character is lost',
        issue: "`escape('a & b')` returns `a &amp;` and loses ` b`.",
        places: [
          {
            file: 'index.js',
            right: '  return lastIndex !== index\n',
            wrong: '  return lastIndex === index\n',
          },
        ],
        hidden: `
assert.equal(escape('a & b'), 'a &amp; b');
assert.equal(escape('1 < 2 > 0 ok'), '1 &lt; 2 &gt; 0 ok');
assert.equal(escape('&'), '&amp;');`,
        cheat: {
          file: 'index.js',
          find: '  var match = ',
          replace: "  if (str === 'a & b') return 'a &amp; b';\n  var match = ",
        },
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
