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

/** What a command starts with: the prefix, or a mention of the App (`@slug text` means `ask text`). */
export interface Marks {
  prefix: string;
  slug: string | undefined;
}

/** At most this many commands of one comment are executed. */
export const maxCommands = 5;

/** Returns whether any line looks like a command. This linear check avoids parsing most comments. */
export function mayHoldCommands(body: string, marks: Marks): boolean {
  return linesOf(body).some((line) => commandOf(line, marks) !== undefined);
}

/**
 * Finds the commands in a comment: lines that begin with the prefix or a mention, outside of what GitHub renders as
 * code, quote or HTML, and of what it has copied from somebody else. Malicious Markdown can keep the parser busy for seconds, so call this in a worker thread.
 */
export function parseCommands(body: string, marks: Marks): Command[] {
  const tree = fromMarkdown(body, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const hidden = new Set<number>();
  hide(tree, hidden);
  const lines = linesOf(body);
  for (const line of copiedIn(lines)) hidden.add(line);
  return lines.flatMap((text, line) => {
    const found = hidden.has(line) ? undefined : commandOf(text, marks);
    return found === undefined ? [] : [{ ...found, line }];
  });
}

/**
 * Returns the numbers of the lines that "Create issue from discussion" and "Reference in new issue" of GitHub may have copied, without
 * quoting them. Where what was copied ends is not certain, so it counts until the end, or from the beginning.
 */
function copiedIn(lines: string[]): number[] {
  const discussion = lines.findIndex((line) => /<div\s[^>]*discussions-op-text/i.test(line));
  const comment = lines.findLastIndex((line) => /^[\s_*]*originally posted by\b/i.test(line));
  return lines.flatMap((_, n) => (n <= comment || (discussion >= 0 && n >= discussion) ? [n] : []));
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

/** Returns the text after a mention of the App at the beginning of a line; undefined for other lines. */
function mentionOf(line: string, slug: string): string | undefined {
  const name = `@${slug.toLowerCase()}`;
  if (!line.toLowerCase().startsWith(name)) return undefined;
  const rest = line.slice(name.length).replace(/^\[bot\]/, '');
  return /^[\s,:]/.test(rest) ? rest.replace(/^[\s,:]+/, '').trim() : undefined;
}

/** The fields of a Markdown (mdast) node that we use. */
interface Node {
  type: string;
  position?: { start: { line: number }; end: { line: number } } | undefined;
  children?: Node[];
}

const hiding = new Set(['blockquote', 'code', 'inlineCode', 'html']);

/** Adds the numbers of the lines, from 0, that begin inside code, quotes or HTML. */
function hide(node: Node, hidden: Set<number>): void {
  const { position } = node;
  if (hiding.has(node.type) && position !== undefined)
    // The node's first line is not added, because it begins with the node's own marker or with text before the node.
    // Lines of the AST start at 1 and ours at 0, so starting at `start.line` skips that first line.
    for (let { line } = position.start; line < position.end.line; line++) hidden.add(line);
  else for (const child of node.children ?? []) hide(child, hidden);
}
