import { shownText } from '../../../src/domain/text/shown-text.ts';

test.each([
  ['an HTML comment', 'a <!-- HIDDEN --> b', 'a  b'],
  ['a comment that is never closed', 'a\n\n<!-- HIDDEN\n\nHIDDEN', 'a\n\n'],
  ['a processing instruction', 'a <?HIDDEN?> b', 'a  b'],
  ['a section of characters', 'a <![CDATA[HIDDEN]]> b', 'a  b'],
  ['a declaration', '<!X HIDDEN>', ''],
  ['attributes', '<p title="HIDDEN > HIDDEN" id=HIDDEN>ok</p>', '<p>ok</p>'],
  ['quotes outside of a value', '<p x=\'"HIDDEN"\' "HIDDEN>shown</p>', '<p>shown</p>'],
  ['an alternative text', '![HIDDEN](https://x.y/z.png "HIDDEN")', '![](https://x.y/z.png)'],
  ['that of an HTML image', '<img alt="HIDDEN" src="https://x.y/z.png" width=1>', '<img src="https://x.y/z.png">'],
  ['an unused definition', 'a\n\n[//]: # (HIDDEN)\n\nb', 'a\n\n\n\nb'],
  ['a definition in a quote', '> [//]: # (HIDDEN)', '> '],
  ['a definition after a block that ends with its list', '- ```\n[//]: # (HIDDEN)\n', '- ```\n\n'],
  ['the label of a link', '[a][HIDDEN]\n\n[HIDDEN]: /u "HIDDEN"', '[a](/u)\n\n'],
  ['titles of links', '[a](/b "HIDDEN") [](/b \'HIDDEN\') [c\n](/d (HIDDEN))', '[a](/b) [](/b) [c\n](/d)'],
  ['a sentence as an address', '[a](<HIDDEN b>)', '[a]()'],
  ['an image in a link', '[![HIDDEN](i.png)](/u "HIDDEN")', '[![](i.png)](/u)'],
  ['a footnote that nothing refers to', 'a\n\n[^1]: HIDDEN', 'a\n\n'],
  ['what follows the language of code', '```php HIDDEN\n<?php x(); ?>\n```', '```php\n<?php x(); ?>\n```'],
  ['cells beyond the header', '| a |\n|-|\n| b | HIDDEN |\n', '| a |\n|-|\n| b |\n'],
  ['a fallback', '<video src="https://x.y/z.mp4">HIDDEN</video>', '<video src="https://x.y/z.mp4"></video>'],
  ['a fallback inside a block', '<div>\na<video><b>HIDDEN</b></video>b\n</div>', '<div>\na<video></video>b\n</div>'],
  ['a fallback without an end', '<div>a<rp>HIDDEN <b>', '<div>a<rp>'],
  ['text inside a video', 'x <video>HIDDEN</video> y', 'x <video></video> y'],
  ['paragraphs inside a video', '<video>\n\nHIDDEN\n\n</video>\n\nafter', '<video></video>\n\nafter'],
  ['a video that is never closed', 'a <video> HIDDEN\n\nb', 'a <video>\n\nb'],
])('%s is left out', (_, text, shown) => {
  expect(shownText(text)).toBe(shown);
});

test.each([
  'a[^1] and `<!-- code -->`\n\n[^1]: A footnote\n',
  '```\n[//]: # (code)\n<p title="code">\n```',
  '    [//]: # (indented code)',
  '- [x] done\n- [ ] [a link](https://x.y) to https://z.z and <https://a.b>\n',
  '<details><summary>More</summary>\n\nfolded\n\n</details>',
  'a < b > c, **bold** | not a table, [brackets] and \\<p title="escaped">',
  '| a | b |\n|---|---|\n| c |\n',
])('%j stays as it is', (text) => {
  expect(shownText(text)).toBe(text);
});
