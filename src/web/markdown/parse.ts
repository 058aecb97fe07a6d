import type { Element, Nodes, Root, RootContent } from 'hast';
import remarkBreaks from 'remark-breaks';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';

/** What a text becomes: a tree, or `costly` if it would take too long to parse or to show. */
export type Formatted = Root | 'costly';

/**
 * Elements and texts of a tree. A page takes 0.1 s to show as many. Documents of 64 kB have at most 10,000; a table whose rows
 * are filled up can have millions.
 */
const maxNodes = 20_000;

/** Elements inside of each other. React calls itself for each; texts of people have about ten. */
const maxDepth = 100;

// As in issues and comments on GitHub, a line break of the text is one of the page.
const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkBreaks)
  .use(remarkRehype, { allowDangerousHtml: true })
  .freeze();

/**
 * Parses Markdown. In the tree, HTML is text, and addresses that are neither http nor https are empty. Some texts of 50 kB
 * take minutes, so a page parses only short texts itself.
 */
export function parse(text: string): Formatted {
  try {
    const tree = processor.runSync(processor.parse(text));
    return tidy(tree) ? tree : 'costly';
  } catch {
    // The libraries call themselves for each quote or link inside of another one, until the stack is full.
    return 'costly';
  }
}

/** Makes a tree small and safe. Returns false if it has too many nodes. */
function tidy(tree: Root): boolean {
  const found: { node: Nodes; depth: number }[] = [{ node: tree, depth: 0 }];
  // The loop also visits what it adds.
  for (const { node, depth } of found) {
    if (depth > maxDepth) return false;
    delete node.position;
    if (node.type === 'element') makeSafe(node);
    if (!('children' in node)) continue;
    if (found.length + node.children.length > maxNodes) return false;
    node.children = (node.children as RootContent[]).map(withoutHtml) as typeof node.children;
    for (const child of node.children) found.push({ node: child, depth: depth + 1 });
  }
  return true;
}

function makeSafe({ properties }: Element): void {
  for (const name of ['href', 'src'])
    if (properties[name] !== undefined) properties[name] = safeAddress(String(properties[name]));
}

const withoutHtml = (node: RootContent): RootContent =>
  node.type === 'raw' ? { type: 'text', value: node.value } : node;

/** Returns the URL if it is http or https, otherwise an empty string. */
function safeAddress(url: string): string {
  try {
    return ['http:', 'https:'].includes(new URL(url).protocol) ? url : '';
  } catch {
    return '';
  }
}
