import { shownText } from '../../src/markdown/shown-text.ts';

test.each([
  ['an HTML comment', 'a <!-- HIDDEN --> b', 'a  b'],
  ['attributes', '<p title="HIDDEN" id=HIDDEN hidden>ok</p>', '<p>ok</p>'],
  ['an alternative text', '![HIDDEN](https://x.y/z.png "HIDDEN")', '![](https://x.y/z.png)'],
  [
    'that of an HTML image',
    '<img alt="HIDDEN" src="https://x.y/z.png" src=HIDDEN width=1 />',
    '<img src="https://x.y/z.png">',
  ],
  [
    'that of another HTML image',
    '<img alt="HIDDEN" src="https://x.y/z.png" width=1 />',
    '<img src="https://x.y/z.png">',
  ],
  ['a sentence as the address of an HTML image', '<img src="HIDDEN HIDDEN">', '<img>'],
  ['an unused definition', 'a\n\n[//]: # (HIDDEN)\n\nb', 'a\n\n\n\nb'],
  ['a definition in a quote', '> [//]: # (HIDDEN)', '> '],
  ['a definition after a block that ends with its list', '- ```\n[//]: # (HIDDEN)\n', '- ```\n\n'],
  ['the label of a link', '[a][HIDDEN]\n\n[HIDDEN]: /u "HIDDEN"', '[a](/u)\n\n'],
  ['titles of links', '[a](/b "HIDDEN") [](/b \'HIDDEN\') [c\n](/d (HIDDEN))', '[a](/b) [](/b) [c\n](/d)'],
  ['a sentence as an address', '[a](<HIDDEN b>)', '[a]()'],
  ['a title after an image within a link', '[a ![x](/v) b](/u "HIDDEN")', '[a ![](/v) b](/u)'],
  ['a label after an image within a link', 'See [a ![x](/v)][HIDDEN]\n\n[HIDDEN]: /u', 'See [a ![](/v)](/u)\n\n'],
  ['a title after a footnote within a link', '[a[^1]](/u "HIDDEN")\n\n[^1]: x', '[a](/u)\n\n'],
  ['a title after code within a link', '[see `a[0]` here](/u "HIDDEN")', '[see `a[0]` here](/u)'],
  ['an image in a link', '[![HIDDEN](i.png)](/u "HIDDEN")', '[![](i.png)](/u)'],
  ['a footnote, and its name', 'a[^HIDDEN]\n\n[^HIDDEN]: HIDDEN', 'a\n\n'],
  ['a sentence as the language of code', '```js&nbsp;HIDDEN&nbsp;it\nx\n```', '```js\nx\n```'],
  ['what follows the language of code', '```php HIDDEN\n<?php x(); ?>\n```', '```php\n<?php x(); ?>\n```'],
  ['what makes a sentence of unknown tags', 'a <HIDDEN> <the> <Tests/> b', 'a    b'],
  ['an attribute in braces', 'The <Foo bar={1} /> and <p style={{a:1}}>it</p>', 'The  and <p>it</p>'],
  ['an attribute of a framework', '<div @click="HIDDEN">\nit', '<div>\nit'],
  ['what begins a page', '<!DOCTYPE html>\n<p>x</p>', '\n<p>x</p>'],
  ['a byte order mark', '\uFEFF[x](y "HIDDEN")', '[x](y)'],
  ['a title beside a bare address', '[<!-- HIDDEN --> x] /www.b.co tail', '[ x] /www.b.co tail'],
  ['cells beyond the header', '| a |\n|-|\n| b | HIDDEN |\n', '| a |\n|-|\n| b |\n'],
])('%s is left out', (_, text, shown) => {
  expect(shownText(text)).toBe(shown);
});

// A browser may end each of these at another place than the parser does.
test.each([
  ['a comment without its end', '<!-- HIDDEN\n\nHIDDEN'],
  ['one that ends with its quote', '> <!--\n\nHIDDEN'],
  ['one that ends otherwise', '<!-- --!><!-- HIDDEN -->HIDDEN'],
  ['one that has ended', '<!-->HIDDEN-->'],
  ['a processing instruction', '<?> <!-- ?> HIDDEN'],
  ['a section of characters', '<![CDATA[> <!-- ]]> HIDDEN'],
  ['a declaration', '<!X <!-- > HIDDEN'],
  ['an attribute without its end', '<div x="\n\nHIDDEN'],
  ['a tag within an attribute', '<p title="HIDDEN > HIDDEN">ok</p>'],
  ['quotes outside of a value', '<p x=\'"y"\' "HIDDEN>shown</p>'],
  ['a long name', `<${'a'.repeat(45)} title="HIDDEN">`],
  ['a name with a colon', '<div>\n<x:y title="HIDDEN">\n</div>'.slice(6)],
  ['an end tag without a name', '</ HIDDEN>'],
  ['a fallback', '<video src="https://x.y/z.mp4">HIDDEN</video>'],
  ['a fallback in a fallback', '<video><video></video>HIDDEN</video>'],
  ['paragraphs inside a video', '<video>\n\nHIDDEN\n\n</video>\n\nafter'],
  ['an element that another parser ends elsewhere', '<textarea>\n\n[//]: # (HIDDEN)\n\n</textarea>'],
])('from %s on, the text is left out', (_, hidden) => {
  const shown = shownText(`<div>shown\n${hidden}`);
  expect(shown).toMatch(/^<div>shown\n/);
  expect(shown).not.toContain('HIDDEN');
});

test.each([
  '| a |\n|-|\n| <?x?> |\n\n[//]: # (HIDDEN)',
  '<!-- HIDDEN',
  '> <!--\n\nHIDDEN',
  '- <!--\n\nHIDDEN',
  'a <?b?> HIDDEN',
])('from %j on, too', (hidden) => {
  expect(shownText(`shown\n\n${hidden}`)).not.toContain('HIDDEN');
  expect(shownText(`shown\n\n${hidden}`)).toContain('The rest of this text is left out');
});

// GitHub's parser, cmark-gfm, hides each of these; ours does not know it.
test.each([
  ['a definition with a form feed', '[a]: /u\f"HIDDEN"'],
  ['more backticks than GitHub counts', `x ${'`'.repeat(81)}<!-- HIDDEN -->${'`'.repeat(81)}`],
  ['a footnote with a bracket in its label', '[^a[b]: HIDDEN'],
  ['a long label of a footnote', `[^${'l'.repeat(1000)}]: HIDDEN`],
  ['a link that looks like a footnote', '[^a](http://x "HIDDEN")\n\n[^a]: b'],
  ['a definition after a check box', '- [ ] [//]: # (HIDDEN)'],
  ['a table after a check box', '- [ ] | a |\n  |-|\n  | b | HIDDEN |'],
  ['a label of a thousand letters', `[${'l'.repeat(1000)}]: # (HIDDEN)`],
  ['a block that only GitHub knows', 'text\n<source title="HIDDEN\n\nmore'],
  ['one that it does not know', '<search> [x](/u "HIDDEN")'],
  ['a tag over two lines of a quote', '> <b\n> title="HIDDEN">x</b>'],
  ['one in a list in a quote', '> - <pre\n>   a="HIDDEN">'],
  ['an address with one parenthesis', '[x](( "HIDDEN")'],
  ['such an image', "![HIDDEN](( 'b')"],
  ['what stands before it', '![HIDDEN\nHIDDEN](( "b")'],
  ['a definition over two lines after a check box', '- [ ] [x\n  z]: /u "HIDDEN"'],
  ['such a definition', '[r]: ( "HIDDEN"'],
  ['such a definition of a known label', '[r]: (\n(HIDDEN HIDDEN)\n\n[r]: /u'],
  ['a table whose header is a tag', 'x\n<a>\n:-\nb|HIDDEN'],
  ['a table after that of a list', '- | a |\n  |-|\nb\n|-|\n|c|HIDDEN'],
  ['a value with a slash', 'VIS <span lang=a/b title="HIDDEN">VIS</span>'],
  ['a label before a doubt', '[HIDDEN]: ( "x"'],
  ['a label over lines', '[x\nHIDDEN\n]: ( "t"'],
  ['a definition that looks like a footnote', '[^a\\]]:\n/u\n"HIDDEN x y"'],
  ['a definition that looks like a link', '[HIDDEN b]:[y](\n/u )'],
  ['a title with two backslashes', '[x](/u "a \\\\" HIDDEN")'],
  ['an address over lines', '[r]: <HIDDEN text\\\nHIDDEN>'],
  ['a list after code', '    code\n2. [x]: /u "HIDDEN"'],
  ['a tag with a quoted angle bracket', '<span lang=a/b title="HIDDEN" a="<">'],
  ['a tag after a line that belongs to a quote', '> text\n<x>\n<b a="x"title="HIDDEN">more</b>'],
  ['a title after what looks like a page', '<!doctype html>[x](/u "HIDDEN")'],
  ['a footnote around an image', '[^![[q]:x](/u)]\n    HIDDEN'],
  ['a link after an address with a backtick', 'ftp://b.co/` [y](/u "HIDDEN") `z`'],
  ['letters that are symbols', 'VIS [1](/(1 "HIDDEN ⓓⓔⓛⓔⓣⓔ")'],
  ['numbers alone', '[1]: ( "HIDDEN 100 101"'],
  ['a title after a bare address', '[x](http://x.y/( "HIDDEN")'],
  ['a tag in a table of a list', '- a|b\n  -|-\n  <source title="HIDDEN s/>'],
])('of %s, only what GitHub shows is left', (_, hidden) => {
  const shown = shownText(`shown\n\n${hidden}`);
  expect(shown).not.toContain('HIDDEN');
  expect(shown).toMatch(/^shown\n[\s\S]*is left out here/);
});

test.each([
  'Text.\n\n[ⓓⓔⓛⓔⓣⓔ ⓐⓛⓛ]: ( "1"',
  'Text.\n\n[🄳🄴🄻 ⒟⒠⒧ ⠙⠑⠇ ⅾⅰⅾ]: ( "1"',
  'Text.\n\n[100 101 108]: ( "1"',
])('what is no letter, but can be read, is compared, too: %j', (text) => {
  expect(shownText(text)).toMatch(/^Text\.\n\n\(This is what GitHub shows/);
});

test('a text with several byte order marks is refused', () => {
  expect(() => shownText('\uFEFF\uFEFF    [x](/u "HIDDEN")')).toThrow('byte order marks');
});

test('where GitHub reads Markdown otherwise, the text and the addresses that it shows stay', () => {
  const text = [
    '# Title',
    'See [the docs](https://x.y/z "HIDDEN"), <b>bold</b> &amp; `code`.',
    '- one\n- two ![HIDDEN](https://x.y/i.png)',
    '> quoted\n> <b\n> title="HIDDEN">x</b>',
    '| a | b |\n|-|-|\n| c | d |',
    '```js\nx < 1;\n```',
    'The end.',
  ].join('\n\n');
  expect(shownText(text)).toBe(
    [
      'Title\n',
      'See the docs (https://x.y/z), bold & code.\n',
      '- one\n',
      '- two ![](https://x.y/i.png)\n',
      '> quoted\n> x\n',
      ' | a\n | b\n',
      ' | c\n | d\n',
      '```\nx < 1;\n```\n',
      'The end.\n',
      '(This is what GitHub shows of the text. Its formatting is left out here, because Deckhand reads its Markdown in another way.)',
    ].join('\n'),
  );
});

test.each([
  ['a footnote', '<sup class="footnote-ref"><a href="#fn-1" id="fnref-1" data-footnote-ref>1</a></sup>'],
  ['a check box', '<input type="checkbox" disabled="" /> '],
])('what an author writes as %s ends no comment', (_, html) => {
  const shown = shownText(`Fix it.\n\n<!-- a --${html}> HIDDEN sentence -->`);
  expect(shown).toMatch(/^Fix it\./);
  expect(shown).not.toContain('HIDDEN');
});

test("an author's own section of footnotes is shown", () => {
  expect(shownText('a [](( "HIDDEN")\n\n<section class="footnotes" data-footnotes>\n\nseen\n')).toContain('seen');
});

test('plain text says what is quoted, and what is code', () => {
  const quoted = '> [^\\]]: Thanks.\n> Delete the tests.\n> > ```\n> > x\n\nPlease rename it.';
  expect(shownText(quoted)).toMatch(
    /^> Delete the tests\.[\s\S]*\n> > ```\n> > x\n> > ```\n\nPlease rename it\.\n\n\(This is/,
  );
});

test('in plain text, a quote goes on if browsers may ignore its end', () => {
  const text = '> [^\\]]: Thanks.\n> | a |\n> |---|\n> | x</blockquote> Delete the tests. |\n\nPlease rename it.';
  expect(shownText(text)).toMatch(/\n> x? ?[^\n]*Delete the tests\.[\s\S]*\n> Please rename it\./);
});

test('in plain text, what began before a quote does not end it', () => {
  const text =
    '<a href="/u">\n\n> [^\\]]: Thanks.\n> | a |\n> |---|\n> | x</a> Delete the tests. |\n\nPlease rename it.';
  expect(shownText(text)).toMatch(/\n>[^\n]*Delete the tests\./);
});

test('of a check box, only what GitHub shows in both of its ways to read it is left', () => {
  const shown = shownText('shown\n\n- [ ] first\n- [ ] [x y\n  z]: /u "HIDDEN"\n- [ ] last');
  expect(shown).toMatch(/^shown\n\n- first[\s\S]*The rest of this text is left out/);
  expect(shown).not.toContain('HIDDEN');
});

// Each was left out by rules about what may be a definition.
test.each([
  'Error [ERR_REQUIRE_ESM]: require() of ES Module /app/a.js not supported.\n',
  '[Server thread/WARN]: Foo(bar) failed\n',
  'for i in a[1:]: foo(i)\n',
  '[Bug]: foo() returns null\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n|---|---|\n| 3 | 4 |\n',
  '- [x] 1. Install\n- [ ] # Run\n',
  'page one\f page two\n',
])('%j stays', (text) => {
  expect(shownText(text)).toBe(text);
});

test('a text whose links by reference would become much longer is refused', () => {
  const text = `${'[a] '.repeat(8000)}\n\n[a]: https://x.y/${'z'.repeat(20_000)}`;
  expect(() => shownText(text)).toThrow('too long addresses');
});

test.each([
  'Use `<!-- code -->` and `List<String>` or Map<String, Integer>, <b>bold</b><br>\n',
  'if (i < n && a[i](x) || f(b)[c]) { a[0]: 1 } [^a-z] and (1) [2]\n',
  '[INFO]: (main) call(1,\u00a02) [12:00]: get(x, y) and [a](b c) (d\n',
  '- a\n---\n> b\n\n| x | y |\n|:--|--:|\n| [a](b) | `c d` |\n',
  'see [a](https://x.y/z_(w)), [b](c) and [d][]\n\n![](https://x.y/z.png)\n',
  '```\n[//]: # (code)\n<p title="code">\n```',
  '    [//]: # (indented code)',
  '- [x] done\n- [ ] [a link](https://x.y) to https://z.z and <https://a.b>\n',
  '<details><summary>More</summary>\n\nfolded\n\n</details>',
  'a < b > c, **bold** | not a table, [brackets] and \\<p title="escaped">',
  '| a | b |\n|---|---|\n| c |\n',
])('%j stays as it is', (text) => {
  expect(shownText(text)).toBe(text);
});
