import fc from 'fast-check';
import { githubHtml } from '../../src/markdown/cmark-gfm.ts';
import { shownText } from '../../src/markdown/shown-text.ts';

/** `@` stands for words that nothing else contains. */
const fragments = [
  ...[
    '@',
    '`@`',
    '*@*',
    '~~@~~',
    '\\',
    '`',
    '[',
    ']',
    '(',
    ')',
    '<',
    '>',
    '"',
    '|',
    '!',
    ':',
    ' ',
    '    ',
    '\t',
    '\n',
    '\n\n',
  ],
  ...[
    '[@](/u "@")',
    '[a ![x](/v) @](/u "@")',
    '[a[^1]](/u "@")',
    '[a `b` *c*](/u "@")',
    '[a ![x](/v)][@]',
    '[@](<a b> (@))',
    "![@](/u '@')",
    '[@][r]',
    '![@][r]',
    '[r]',
    '[^1]',
    '[^1]: @',
    '[@](( "@")',
    '[@](\n/u\n"@")',
  ],
  ...[
    '[r]: /u "@"',
    '[@]: ( "@"',
    '[r]:\n<@\\\n@>',
    '[x]: www.b.co( "@"',
    '(/u "a \\\\" @")',
    'https://b.co/',
    'ftp://b.co/`',
    'q@b.co',
  ],
  ...[
    '<b title="@">',
    '</b>',
    '<b a=b/c title="@" a="<">',
    '<b a="x"title="@">',
    '<!-- @ -->',
    '<!-- @',
    '-->',
    '<?@?>',
    '<p\ntitle="@">',
  ],
  ...[
    '<div>\n',
    '\n</div>\n',
    '<source title="@',
    '<search>',
    '<!doctype html>',
    '<video>@</video>',
    '<@ the @>',
    '<x-y>',
  ],
  ...[
    '\n- ',
    '\n- [ ] ',
    '\n> ',
    '\n2. ',
    '\n# ',
    '\n```js @\n',
    '\n~~~\n',
    '\n    ',
    '\n| a |\n|-|\n| ',
    ' | @ |\n',
    '\n---\n',
    '\n- > ',
    '\f',
    '\v',
  ],
];

/** Returns what the HTML shows, and more: without tags and comments. */
const textOf = (html: string) => html.replace(/<!--[\s\S]*?-->|<[a-z/!?](?:"[^"]*"|'[^']*'|[^'">])*>/gi, ' ');

const letters = 'abcdefghijklmnop';
const word = (n: number) => `w${letters[n >> 4]}${letters[n & 15]}w`;

// The two words of a pair are a sentence. One word alone may be an address, or the language of code.
test('what GitHub hides of random texts reaches nobody', () => {
  const texts = fc.array(fc.constantFrom(...fragments), { minLength: 2, maxLength: 9 });
  fc.assert(
    fc.property(texts, (parts) => {
      let pairs = 0;
      const text = parts.join('').replaceAll('@', (at, place, whole) => {
        if (whole.startsWith('@b.co', place)) return at;
        pairs += 1;
        return `${word(2 * pairs)} ${word(2 * pairs + 1)}`;
      });
      const seen = textOf(githubHtml(text, 'as elements')).toLowerCase();
      const shown = shownText(text).toLowerCase();
      for (let n = 1; n <= pairs; n++) {
        const isHidden = !seen.includes(word(2 * n)) && !seen.includes(word(2 * n + 1));
        const reaches = shown.includes(word(2 * n)) && shown.includes(word(2 * n + 1));
        if (isHidden && reaches)
          throw new Error(`hidden words of ${JSON.stringify(text)} are in ${JSON.stringify(shown)}`);
      }
    }),
    { numRuns: process.env.THOROUGH === undefined ? 400 : 10_000 },
  );
});
