import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/**
 * One command of a comment: `/agent start Reviewer` is the verb `start` with the argument `Reviewer`. `line` counts
 * from 0.
 */
export interface Command {
  verb: string;
  argument: string;
  line: number;
}

/** What marks a line as a command: the prefix, or the App's name (`@slug text` means `ask text`). */
export interface Marks {
  prefix: string;
  slug: string | undefined;
}

/** A comment may give at most this many commands. */
export const maxCommands = 5;

/** Whether any line looks like a command. It tells most comments from those that are worth parsing, in linear time. */
export function mayHoldCommands(body: string, marks: Marks): boolean {
  return linesOf(body).some((line) => commandOf(line, marks) !== undefined);
}

/**
 * Finds the commands of a comment: lines that begin with a mark, outside code, quotes and HTML as GitHub reads them.
 * Hostile Markdown takes the parser seconds, so call it in a thread.
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

/** What follows the App's name at the beginning of a line. */
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
    // No command begins the first line itself: that one begins with what hides the others, or before it.
    for (let { line } = position.start; line < position.end.line; line++) hidden.add(line);
  else for (const child of node.children ?? []) hide(child, hidden);
}
