import { isCostlyMarkdown } from '../../../src/domain/text/costly-markdown.ts';

/** As long as GitHub lets a comment be. */
const long = (part: string) => part.repeat(65_536 / part.length);

test.each([
  ['emphasis that never ends', long('**a*')],
  ['deletions that never end', long('~a~~b')],
  ['quotes inside of each other', long('> ')],
  ['quotes without spaces', long('>')],
  ['lists inside of each other', long('1. ')],
  ['a table whose rows are filled up', `${'|a'.repeat(200)}|\n${'|-'.repeat(200)}|\n${long('|\n')}`],
  ['such a table in a quote', `> ${'|a'.repeat(200)}|\n> ${'|-'.repeat(200)}|\n${long('> |\n')}`],
  ['a table without outer bars', `${'a|'.repeat(200)}a\n${'-|'.repeat(200)}-\n${long('a\n')}`],
])('it is costly to format %s', (_what, text) => {
  expect(isCostlyMarkdown(text)).toBe(true);
});

test.each([
  ['prose', long('Some **bold** and `code`, a [link](https://example.org) and a list:\n\n- one\n  - two\n\n')],
  ['a log', long('2026-01-01T00:00:00.000Z - > started with --verbose=true | ok\n')],
  ['a table', `| a | b | c |\n|---|---|---|\n${long('| 1 | 2 | 3 |\n')}`],
  ['rules and headings', long('Heading\n-------\n\n* * *\n\ntext\n\n')],
  ['a quote of quotes', long('> > > > text\n\n')],
])('it is not costly to format %s', (_what, text) => {
  expect(isCostlyMarkdown(text)).toBe(false);
});
