import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/**
 * One command in a comment: `/agent start Reviewer` is the verb `start` with the argument `Reviewer`. `line` starts at 0.
 */
export interface Command {
  verb: string;
  argument: string;
  line: number;
}

/** What a command begins with: the prefix, or a mention of the App (`@slug text` means `ask text`). */
export interface Marks {
  prefix: string;
  slug: string | undefined;
}

/** How many commands of one comment are run. */
export const maxCommands = 5;

/** Whether any line looks like a command. A linear check that spares most comments the parser. */
export function mayHoldCommands(body: string, marks: Marks): boolean {
  return linesOf(body).some((line) => commandOf(line, marks) !== undefined);
}

/**
 * Finds the commands in a comment: lines that begin with a mark, outside what GitHub renders as code, quote or HTML.
 * Hostile Markdown keeps the parser busy for seconds, so call this in a worker thread.
 */
export function parseCommands(body: string, marks: Marks): Command[] {
  const tree = fromMarkdown(body, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const hidden = new Set<number>();
  hide(tree, hidden);
  return linesOf(body).flatMap((text, line) => {
    const found = hidden.has(line) ? undefined : commandOf(text, marks);
    return found === undefined ? [] : [{ ...found, line }];
  });
}

const linesOf = (body: string) => body.split(/\r\n|\n|\r/);

function commandOf(line: string, { prefix, slug }: Marks): { verb: string; argument: string } | undefined {
  const asked = slug === undefined ? undefined : mentionOf(line, slug);
  if (asked !== undefined) return { verb: 'ask', argument: asked };
  if (!line.toLowerCase().startsWith(prefix.toLowerCase())) return undefined;
  const rest = line.slice(prefix.length);
  if (rest !== '' && !/^\s/.test(rest)) return undefined;
  const [, verb = '', argument = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  return { verb: verb.toLowerCase() || 'help', argument: argument.trim() };
}

/** The text after a mention of the App at the beginning of a line; undefined for other lines. */
function mentionOf(line: string, slug: string): string | undefined {
  const name = `@${slug.toLowerCase()}`;
  if (!line.toLowerCase().startsWith(name)) return undefined;
  const rest = line.slice(name.length).replace(/^\[bot\]/, '');
  return /^[\s,:]/.test(rest) ? rest.replace(/^[\s,:]+/, '').trim() : undefined;
}

/** What is needed of a node of mdast. */
interface Node {
  type: string;
  position?: { start: { line: number }; end: { line: number } } | undefined;
  children?: Node[];
}

const hiding = new Set(['blockquote', 'code', 'inlineCode', 'html']);

/** Adds the lines, from 0, that begin inside something that hides commands. */
function hide(node: Node, hidden: Set<number>): void {
  const { position } = node;
  if (hiding.has(node.type) && position !== undefined)
    // The node's first line needs no entry: it begins with the node's own mark or with text before it. AST lines start
    // at 1 and ours at 0, so starting at `start.line` skips that first line.
    for (let { line } = position.start; line < position.end.line; line++) hidden.add(line);
  else for (const child of node.children ?? []) hide(child, hidden);
}
