import type { Nodes } from 'hast';
import { parse } from '../../../../src/web/markdown/parse.ts';

/** Returns the nodes of a tree below its root. */
function nodesOf(text: string): Nodes[] {
  const tree = parse(text);
  const below = (node: Nodes): Nodes[] => ('children' in node ? node.children.flatMap((c) => [c, ...below(c)]) : []);
  return tree === 'costly' ? [] : below(tree);
}

/** Returns the addresses of links and images. */
const addressesOf = (text: string) =>
  nodesOf(text).flatMap((n) => (n.type === 'element' ? [n.properties.href ?? n.properties.src ?? []].flat() : []));

test('only addresses with http and https are kept', () => {
  expect(addressesOf('[a](https://a.example/x) ![b](http://b.example) www.c.example')).toEqual([
    'https://a.example/x',
    'http://b.example',
    'http://www.c.example',
  ]);
  const others =
    '[a](javascript:alert(1)) [b](/projects) ![c](data:text/html,x) <mailto:d@e.example>\n\nf[^1]\n\n[^1]: g';
  expect(new Set(addressesOf(others))).toEqual(new Set(['']));
});

test('HTML is text, and nothing says where in the text a node was', () => {
  const nodes = nodesOf('a <b>b</b>\n\n<script>\nc\n</script>');
  expect(nodes.filter((n) => n.type === 'text').map((n) => n.value.trim())).toEqual(
    expect.arrayContaining(['<b>', '</b>', '<script>\nc\n</script>']),
  );
  expect(nodes.flatMap((n) => (n.type === 'element' ? [n.tagName] : []))).toEqual(['p']);
  expect(nodes.filter((n) => 'position' in n)).toEqual([]);
});

test('a line break is shown, as in an issue on GitHub, and not in code', () => {
  const elements = nodesOf('one\ntwo\n\n```\na\nb\n```').flatMap((n) => (n.type === 'element' ? [n.tagName] : []));
  expect(elements).toEqual(['p', 'br', 'pre', 'code']);
});

test('a tree has at most 20,000 nodes', () => {
  // Each line is an item with its text, and a line end between them.
  const list = (items: number) => '- a\n'.repeat(items);
  expect(nodesOf(list(6000))).toHaveLength(18_002);
  expect(parse(list(7000))).toBe('costly');
  expect(parse(`${'|a'.repeat(200)}|\n${'|-'.repeat(200)}|\n${'|\n'.repeat(100)}`)).toBe('costly');
});

test('elements are at most 100 deep', () => {
  const quote = (depth: number) => `${'> '.repeat(depth)}a`;
  expect(nodesOf(quote(98)).length).toBeGreaterThan(100);
  expect(parse(quote(99))).toBe('costly');
  // So deep that the stack of the parser is full.
  expect(parse('>'.repeat(8000))).toBe('costly');
});
