import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { githubHtml } from '../../src/markdown/cmark-gfm.ts';

const folder = join(import.meta.dirname, '../../src/markdown/cmark-gfm');

test('the parser is the one that its page describes', () => {
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, 'cmark-gfm.wasm')))
    .digest('hex');
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(hash);
});

// Examples of GitHub's specification (https://github.github.com/gfm/), by their number there.
test.each([
  [198, '| foo | bar |\n| --- | --- |\n| baz | bim |\n', /^<table>\n<thead>\n<tr>\n<th>foo<\/th>/],
  [491, '~~Hi~~ Hello, ~there~ world!\n', /^<p><del>Hi<\/del> Hello, <del>there<\/del> world!<\/p>\n$/],
  [622, 'www.commonmark.org\n', /^<p><a href="http:\/\/www.commonmark.org">www.commonmark.org<\/a><\/p>\n$/],
  [279, '- [ ] foo\n- [x] bar\n', /<li><input type="checkbox" disabled="" \/> foo<\/li>/],
  [161, '[foo]: /url "title"\n\n[foo]\n', /^<p><a href="\/url" title="title">foo<\/a><\/p>\n$/],
])('example %i of the specification', (_, markdown, html) => {
  expect(githubHtml(markdown, 'as elements')).toMatch(html);
});

test('texts of all kinds come back whole, and none reaches the next', () => {
  expect(githubHtml('', 'as text')).toBe('');
  expect(githubHtml('日本語 😀 \0 \uFEFFx', 'as text')).toBe('<p>日本語 😀 \uFFFD \uFEFFx</p>\n');
  expect(githubHtml('[a]: /u', 'as text')).toBe('');
  expect(githubHtml('[a]', 'as text')).toBe('<p>[a]</p>\n');
  expect(githubHtml('- [ ] x', 'as text')).toBe('<ul>\n<li>[ ] x</li>\n</ul>\n');
});
