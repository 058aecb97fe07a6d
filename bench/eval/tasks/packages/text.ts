import type { PackageTasks } from '../package-task.ts';

/** Packages that change the form of a text. */
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
];
