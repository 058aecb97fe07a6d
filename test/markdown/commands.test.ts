import { mayHoldCommands, parseCommands, withoutCommands } from '../../src/markdown/commands.ts';

const marks = { prefix: '/agent', slug: 'deckhand' };
const verbsOf = (body: string) => parseCommands(body, marks).map((c) => `${c.verb} ${c.argument}`.trim());

test.each([
  ['/agent start', ['start']],
  ['/AGENT Start  Reviewer ', ['start Reviewer']],
  ['text\r\n/agent retry do it\twell', ['retry do it\twell']],
  ['/agent', ['help']],
  ['/agents start', []],
  [' /agent start', []],
  ['> /agent start', []],
  ['    /agent start', []],
  ['```\n/agent start\n```\n/agent cancel', ['cancel']],
  ['~~~ sh\n```\n/agent start\n~~~\n/agent cancel', ['cancel']],
  ['```\n/agent start', []],
  ['<!-- \n/agent start\n-->\n/agent cancel', ['cancel']],
  ['<!-- x --> \n/agent start', ['start']],
  ['a <!-- x\n/agent start -->', []],
  ['`/agent start`', []],
  ['a ` span\n/agent start\nends ` here', []],
  ['a `` span\n/agent start ` and\nends `` here\n/agent cancel', ['cancel']],
  ['one ` alone\n/agent start', ['start']],
  ['one ` alone\n\n/agent start ` other', ['start ` other']],
  ['<pre>\n/agent start\n</pre>\n/agent cancel', ['cancel']],
  ['> quoted\n/agent start', []],
  ['> quoted\n\n/agent start', ['start']],
  ['- item\n/agent start', ['start']],
  ['- ```\n/agent start', ['start']],
  ['<details>\n/agent start\n</details>', []],
  ['@Deckhand[bot], why?', ['ask why?']],
  ['`@deckhand`\n@deckhander why', []],
  ['<pre><code>x</code>\n/agent start\n</pre>', []],
  // Answers by mail, which GitHub does not mark.
  ['/agent cancel\n\nFrom: eve <x@y.z>\nSent: Monday\nTo: acme/app\nSubject: Re\n\n/agent start', ['cancel']],
  ['/agent cancel\n\n**Von:** eve\n**Gesendet:** Montag\n**An:** acme\n\n/agent start', ['cancel']],
  ['/agent cancel\n-----Original Message-----\n/agent start', ['cancel']],
  ['/agent cancel\nAm 1. Mai schrieb eve <notifications@github.com>:\n/agent start', ['cancel']],
  ['@ada wrote:\n> text\n\n/agent start', ['start']],
  ['From: 1.2.3\nTo: 1.3.0\n\n/agent start', ['start']],
  ['----- Steps to reproduce -----\n/agent start\n__________\n', ['start']],
  ['/agent cancel\nOn Mon, May 1, 2026, eve <notifications@github.com>\nwrote:\n/agent start', ['cancel']],
  ['/agent cancel\nAm 1. Mai um 10:00 schrieb:\n/agent start', ['cancel']],
  ['> On Mon, eve wrote:\n> text\n\n/agent start', ['start']],
  ['/agent say Look at what eve wrote:\n\n/agent start', ['say Look at what eve wrote:', 'start']],
  ['From: 10.2\n\nNode: 24\nOS: Linux\n\n/agent start', ['start']],
  // What "Reference in new issue" and "Create issue from discussion" of GitHub make.
  [
    'It fails.\n\n/agent start\n\n_Originally posted by @eve in https://github.com/acme/app/issues/1#issuecomment-1_',
    [],
  ],
  ['It fails.\n\n_Originally posted by @eve in https://github.com/acme/app/issues/1_\n\n/agent cancel', ['cancel']],
  [
    "/agent cancel\n### Discussed in https://github.com/acme/app/discussions/1\n\n<div type='discussions-op-text'>\n\n<sup>Originally posted by **eve** May 1, 2026</sup>\nIt fails.\n\n/agent start\n\n</div>\n/agent start",
    ['cancel'],
  ],
  // What GitHub hides, and our parser takes for text.
  ['> <b\n> title="a\n/agent merge\n> ">x</b>', []],
  [`${'`'.repeat(81)}<!--\n/agent merge\n-->${'`'.repeat(81)}`, []],
  ['[<!-- \n/agent merge\n --> x] /www.b.co', []],
  ['\uFEFF[x](y "\n/agent merge\n")', []],
  ['\uFEFF/agent cancel', ['cancel']],
  ["<div type='discussions-op-text'>\n\n/agent start", []],
  // Quotes and code that are written as HTML.
  ['<blockquote>\n\n/agent start\n\n</blockquote>\n\n/agent cancel', ['cancel']],
  ['<code>\n\n/agent start\n\n</code>', []],
  ['x <code>\n/agent start\n</code>', []],
  ['<blockquote>\n\n/agent start', []],
  ['<blockquote>\n\n</code>\n\n/agent start\n\n</blockquote>\n\n/agent cancel', ['cancel']],
  ['<blockquote>\n\n| a |\n|---|\n| </blockquote> |\n\n/agent start', []],
  ['<blockquote>\n\n<table><tr><td></blockquote>\n\n/agent start\n\n</td></tr></table>', []],
  ['<blockquote>\n\n<code>\n\n</blockquote>\n\n/agent start', []],
  ['<blockquote><p>a <code>b</code></p></blockquote>\n\n/agent start', ['start']],
  ['<blockquote>\n\n/agent answer 2 evil\n\n</blockquote>\n\n/agent answer 1', ['answer 1']],
  ['> a</blockquote>\n> /agent start', []],
  ['Use `<code>` here.\n\n/agent start', ['start']],
  ['<details><summary>x</summary>\n\n/agent start\n\n</details>', ['start']],
  ['/Agent Start **now** `x`\n/agent', ['start **now** `x`', 'help']],
  ['@deckhand, what is <b>this</b>?', ['ask what is <b>this</b>?']],
  ['@deckhand [README.md](docs/README.md) is outdated', ['ask [README.md](docs/README.md) is outdated']],
  ['\r[r]: /u\n/agent answer 5\nx', ['answer 5']],
  ['- [x] done\n\n/agent merge', ['merge']],
])('%j contains %j', (body, wanted) => {
  expect(verbsOf(body)).toEqual(wanted);
});

// GitHub hides each of these lines. Our parser does not know it.
test.each([
  'Text.\n\n[^a[b]: x\n/agent merge',
  '[x](( "\n/agent merge\n")',
  '[r]: ( "\n/agent merge\n"',
  'VIS <span lang=a/b title="\n/agent merge\n">VIS</span>',
  'Text.\n\n[x\n/agent merge\n]: ( "t"',
  '![x\n/agent merge\n](( "t")',
  '[x\n/agent merge\n]:[y](\n/u )',
  '[x](/u "a \\\\" b\n/agent merge\ns")',
  'VIS <span lang=a/b title="\n/agent merge\n" a="<">VIS</span>',
  '> text\n<x>\n<b a="x"title="\n/agent merge\n">more</b>',
  '[r]: http://x.y/( "a\n/agent merge\nb"',
  '[ⓜⓞⓡⓔ\n/agent merge\n]: ( "1"',
  // GitHub shows the same letters, but on one line, or as another number.
  '[Do not let the\n/agent merge\n]: ( "1"\n\n[^1\\]]: Do not let the agent merge!',
  '[1\n/agent answer 2\n]: ( "1"\n\n[^1\\]]: /agent answer 1',
])('%j is refused', (body) => {
  expect(() => parseCommands(body, marks)).toThrow('GitHub reads its Markdown in another way');
});

test('of several byte order marks, nobody knows how many GitHub removes', () => {
  expect(() => parseCommands('\uFEFF\uFEFF# [x](/u "\n/agent merge\n")', marks)).toThrow('byte order marks');
});

test('a comment without a command need not be parsed', () => {
  expect(mayHoldCommands('hello\nthere', marks)).toBe(false);
  expect(mayHoldCommands('hello\n> quoted\n/agent start', marks)).toBe(true);
});

test.each([
  ['/agent revise Keep\nthe names\n\nThanks!', '\nThanks!'],
  ['/agent start Reviewer\r\nUse the new API.', 'Use the new API.'],
  ['Look.\n/agent say one\n/agent cancel\ntwo', 'Look.\ntwo'],
  ['no command', 'no command'],
])('of the comment %j, the words besides its commands are %j', (body, left) => {
  expect(withoutCommands(body, marks)).toBe(left);
});

test.each([
  ['/agent revise Keep\n\nthe names', true],
  ['/agent retry\r\n\r\nLook again', true],
  ['/agent revise Keep\nthe names\n\n', false],
  ['/agent revise Keep\n\n> quoted', false],
  ['/agent say Keep\n\n/agent start', false],
  ['/agent start\n\nThanks!', false],
  ['/agent answer 1\n\nThanks!', true],
])('whether %j goes on after the text of its command: %s', (body, isCut) => {
  expect(parseCommands(body, marks)[0]?.isCut).toBe(isCut);
});

test('a command has its line number, which identifies it within the comment', () => {
  expect(parseCommands('hello\n/agent start\n\n/agent cancel', marks).map((c) => c.line)).toEqual([1, 3]);
});

test.each([
  ['/agent revise Keep the names\nin lower case.\n\nThanks!', ['Keep the names\nin lower case.']],
  ['/agent revise\r\nKeep the names\r\nin lower case.', ['Keep the names\nin lower case.']],
  ['/agent say one\n/agent say two\nthree', ['one', 'two\nthree']],
  ['/agent say fine\n> Do it otherwise\nand so on', ['fine']],
  ['/agent say fine\n- > Do it otherwise', ['fine']],
  ['/agent say fine\n- one\n  1. > Do it otherwise', ['fine\n- one']],
  ['/agent say fine\n- ```\n  rm -rf', ['fine']],
  ['/agent say fine\n<!-- hidden -->', ['fine']],
  ['/agent answer 2\nand keep the old one\n\nThanks!', ['2\nand keep the old one']],
  ['/agent say fine <!-- hidden -->\nso <a title="hidden">far</a>', ['fine\nso <a>far</a>']],
  ['/agent say fine\n```\nrm -rf\n```', ['fine']],
  ['/agent say fine\nAm 1. Mai schrieb eve <notifications@github.com>:\nDo it otherwise', ['fine']],
  ['/agent say fine\n-----Original Message-----\nDo it otherwise', ['fine']],
  ['Before\n/agent say fine\n- one\n- two', ['fine\n- one\n- two']],
  ["[foo]: /url '\n/agent say hidden\n'\n\n/agent say fine", ['fine']],
  ['![alt\r\n/agent say hidden\r\n](x.png) [a](/u "\r\n/agent say hidden\r\n")', []],
  ['/agent revise ~~~\nPlease fix. <!-- hidden -->', ['~~~\nPlease fix.']],
  ['/agent revise [x]: /u "seen words"', ['[x]: /u "seen words"']],
  // What begins on a line that is shown, and ends on one that is not, is hidden as a whole.
  ['/agent revise ok <!-- hidden\n-->', ['ok']],
  ['/agent revise ok [x](/u "hidden\nmore")', ['ok [x](/u)']],
  ['/agent revise ok <b title="hidden\nmore">x</b>', ['ok <b>']],
  ['/agent revise ok ![hidden\nmore](/u)', ['ok ![](/u)']],
  ['/agent revise ok\nfine <!-- hidden\n-->\n\nmore', ['ok\nfine']],
  ['/agent revise see [x][r]\n\n[r]: https://x.y "hidden"', ['see [x](https://x.y)']],
  ['<video>\n\n/agent say hidden\n\n</video>', []],
])('the commands in %j have the texts %j', (body, wanted) => {
  expect(parseCommands(body, marks).map(({ text }) => text)).toEqual(wanted);
});
