import { shownText } from '../../../src/domain/text/shown-text.ts';

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
  ['a definition with a form feed', 'a\n\n[a]: /u\f"HIDDEN"', 'a\n\n'],
  ['a definition in a quote', '> [//]: # (HIDDEN)', '> '],
  ['a definition after a block that ends with its list', '- ```\n[//]: # (HIDDEN)\n', '- ```\n\n'],
  ['the label of a link', '[a][HIDDEN]\n\n[HIDDEN]: /u "HIDDEN"', '[a](/u)\n\n'],
  ['titles of links', '[a](/b "HIDDEN") [](/b \'HIDDEN\') [c\n](/d (HIDDEN))', '[a](/b) [](/b) [c\n](/d)'],
  ['a sentence as an address', '[a](<HIDDEN b>)', '[a]()'],
  ['an image in a link', '[![HIDDEN](i.png)](/u "HIDDEN")', '[![](i.png)](/u)'],
  ['a footnote, and its name', 'a[^HIDDEN]\n\n[^HIDDEN]: HIDDEN', 'a\n\n'],
  ['what follows the language of code', '```php HIDDEN\n<?php x(); ?>\n```', '```php\n<?php x(); ?>\n```'],
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
  '| a |\n|-|\n| b | <?x?> |\n\n[//]: # (HIDDEN)',
  '[^1]: <?x?>\n\n[//]: # (HIDDEN)',
  '<!-- HIDDEN',
  '> <!--\n\nHIDDEN',
  '- <!--\n\nHIDDEN',
  'a <?b?> HIDDEN',
])('from %j on, too', (hidden) => {
  expect(shownText(`shown\n\n${hidden}`)).not.toContain('HIDDEN');
  expect(shownText(`shown\n\n${hidden}`)).toContain('The rest of this text is left out');
});

test('a text whose links by reference would become much longer is refused', () => {
  const text = `${'[a] '.repeat(8000)}\n\n[a]: https://x.y/${'z'.repeat(20_000)}`;
  expect(() => shownText(text)).toThrow('too long addresses');
});

test.each([
  'Use `<!-- code -->` and List<String> or Map<String, Integer>, <b>bold</b><br>\n',
  '```\n[//]: # (code)\n<p title="code">\n```',
  '    [//]: # (indented code)',
  '- [x] done\n- [ ] [a link](https://x.y) to https://z.z and <https://a.b>\n',
  '<details><summary>More</summary>\n\nfolded\n\n</details>',
  'a < b > c, **bold** | not a table, [brackets] and \\<p title="escaped">',
  '| a | b |\n|---|---|\n| c |\n',
])('%j stays as it is', (text) => {
  expect(shownText(text)).toBe(text);
});
