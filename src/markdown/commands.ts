import { githubView, type MarkdownNode, showsSame } from './github-view.ts';
import { piecesOf } from './html.ts';
import { linesOf, type Part, parseMarkdown, shownLines, unshownParts, withoutMark } from './shown-text.ts';

/** One command in a comment: `/agent start Reviewer` is the verb `start` with the argument `Reviewer`. `line` starts at 0. */
export interface Command {
  verb: string;
  argument: string;
  line: number;
  /** The argument, and for verbs that take a text, the lines that follow in the same paragraph, as GitHub shows them. */
  text: string;
  /** Whether the person wrote more after that paragraph, which is not part of the text. */
  isCut: boolean;
  /** The argument, and all other lines of the comment, as GitHub shows them. */
  comment: string;
}

/** The verbs whose text goes on to the end of its paragraph. */
const textVerbs = new Set(['revise', 'say', 'answer', 'ask', 'retry', 'rewind', 'review', 'fix']);

/** Returns a comment without its commands and their texts: an agent gets those another way, unless they were refused. */
export function withoutCommands(body: string, marks: Marks): string {
  let isTaken = false;
  const left = linesOf(body).filter((line) => {
    const command = commandOf(line, marks);
    if (command !== undefined || line.trim() === '') isTaken = command !== undefined && textVerbs.has(command.verb);
    return command === undefined && !isTaken;
  });
  return left.join('\n');
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
 * code, quote or HTML, of what it does not show, and of what it has copied from somebody else. Malicious Markdown can keep the parsers
 * busy for seconds, so call this in a worker thread.
 * @throws Error if GitHub's parser shows other words than ours, or the Markdown is nested too deeply
 */
export function parseCommands(written: string, marks: Marks): Command[] {
  const body = withoutMark(written).replace(/\r\n?/g, '\n');
  const tree = parseMarkdown(body);
  if (!showsSame(githubView(body), tree)) throw new Error('GitHub reads its Markdown in another way');
  const hidden = new Set<number>();
  const begun = new Set<number>();
  hide(tree, hidden, begun);
  const lines = linesOf(body);
  hideFramed(tree, hidden, lines.length);
  const starts = startsOf(lines);
  const parts = unshownParts(body, tree);
  for (const line of [...unshownIn(starts, parts), ...copiedIn(lines)]) hidden.add(line);
  for (let line = mailIn(lines, hidden, marks); line < lines.length; line++) hidden.add(line);
  const shown = shownLines(body, parts);
  const found = lines.map((text, line) => (hidden.has(line) ? undefined : commandOf(text, marks)));
  const goesOn = (n: number) =>
    !hidden.has(n) && !begun.has(n) && found[n] === undefined && isText.test(lines[n] ?? '');
  const textOf = (argument: string, numbers: number[]) => [argument, ...numbers.map((n) => shown[n])].join('\n').trim();
  return found.flatMap((command, line) => {
    if (command === undefined) return [];
    let end = line + 1;
    while (goesOn(end)) end++;
    const nextText = (n: number) => lines.findIndex((each, at) => at > n && each.trim() !== '');
    const goesOnBelow = textVerbs.has(command.verb);
    const argument = commandOf(shown[line] ?? '', marks)?.argument ?? '';
    const numbers = [...lines.keys()];
    return [
      {
        verb: command.verb,
        argument,
        line,
        text: textOf(argument, goesOnBelow ? numbers.slice(line + 1, end) : []),
        isCut: goesOnBelow && lines[end]?.trim() === '' && goesOn(nextText(end)),
        comment: textOf(
          argument,
          numbers.filter((n) => n !== line),
        ),
      },
    ];
  });
}

/** Returns where each line of a text begins. */
function startsOf(lines: string[]): number[] {
  let next = 0;
  return lines.map((line) => {
    const start = next;
    next += line.length + 1;
    return start;
  });
}

/** A line that continues a paragraph: it is not blank, and begins no HTML. */
const isText = /^\s{0,3}(?!<)\S/;

/**
 * Returns the numbers of the lines that GitHub's "Create issue from discussion" and "Reference in new issue" may have copied. Neither
 * quotes them. A discussion may reach to the end of the text, and a comment back to its beginning.
 */
function copiedIn(lines: string[]): number[] {
  const discussion = lines.findIndex((line) => line.includes('discussions-op-text'));
  const comment = lines.findLastIndex((line) => /^[\s_*]*originally posted by\b/i.test(line));
  return lines.flatMap((_, n) => (n <= comment || (discussion >= 0 && n >= discussion) ? [n] : []));
}

/** The first line of a mail's header, which names the sender. */
const sender =
  /^[\s*]*(from|von|de|da|van|från|fra|od|kimden|nadawca|feladó|lähettäjä|mittente|remitente|expéditeur|от|发件人|寄件者|差出人|보낸 사람)\s*:/i;
const header = /^[\s*]*\p{L}[\p{L} ]{0,20}:/u;
/** What stands before the text of an earlier mail, or after it. */
const ofMail = [
  /(notifications@github|@reply\.github|@noreply\.github)\.com>/i,
  /^\s*-{3,} ?(original|forwarded|ursprüngliche|weitergeleitete|message d|mensaje|messaggio|mensagem|oorspronkelijk|oprindelig|ursprungligt|исходное|原始)/i,
  /^[\s—-]*reply to this email directly\b/i,
  /^you are receiving this because\b/i,
];
/** The line before an earlier mail. What follows is a quote if the mail program marks it. */
const wrote =
  /(\b(wrote|écrit|escribió|ha scritto|escreveu|napisał(a|\(a\))?|写道)|\b(schrieb|schreef|skrev|пишет|написал)\b[^:]{0,200})\s*:\s*$/i;

/**
 * Returns the first line that may belong to the mail that somebody has answered, or the number of lines if there is none. GitHub marks
 * that mail as a quote only if it knows the format of the mail program. No mail program begins its line with the prefix of commands.
 */
function mailIn(lines: string[], hidden: Set<number>, { prefix }: Marks): number {
  const isQuoted = (n: number) => hidden.has(n) || /^\s{0,3}>/.test(lines[n] ?? '');
  const found = lines.findIndex((line, n) => {
    if (isQuoted(n) || commandOf(line, { prefix, slug: undefined }) !== undefined) return false;
    const head = line.slice(0, 300);
    if (sender.test(head)) return header.test(lines[n + 1] ?? '') && header.test(lines[n + 2] ?? '');
    if (wrote.test(head)) {
      const next = lines.findIndex((each, at) => at > n && each.trim() !== '');
      return next !== -1 && !isQuoted(next);
    }
    return ofMail.some((form) => form.test(head));
  });
  return found === -1 ? lines.length : found;
}

/** Returns the numbers of the lines that begin inside parts that are not shown, such as the title of a link. */
function unshownIn(starts: number[], parts: Part[]): number[] {
  let seen = 0;
  let end = 0;
  return starts.flatMap((at, n) => {
    for (let part = parts[seen]; part !== undefined && part.from < at; part = parts[++seen])
      end = Math.max(end, part.to);
    return at < end ? [n] : [];
  });
}

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

const hiding = new Set(['blockquote', 'code', 'inlineCode', 'html']);

/** Those that begin on a line of their own, or as an entry of a list. */
const blocks = new Set(['blockquote', 'code']);

/** Adds the numbers of the lines, from 0, that begin inside code, quotes or HTML, and of those on which a block of these begins. */
function hide(node: MarkdownNode, hidden: Set<number>, begun: Set<number>): void {
  const { position } = node;
  if (blocks.has(node.type) && position !== undefined) begun.add(position.start.line - 1);
  if (hiding.has(node.type) && position !== undefined)
    // The node's first line is not added, because it begins with the node's own marker or with text before the node.
    // Lines of the AST start at 1 and ours at 0, so starting at `start.line` skips that first line.
    for (let { line } = position.start; line < position.end.line; line++) hidden.add(line);
  else for (const child of node.children ?? []) hide(child, hidden, begun);
}

/** Elements whose text is a quote, or code. */
const framing = /^(?:blockquote|code|pre)$/;
/** Within these, browsers ignore the end of an element that began outside. */
const ofTables = /^\/?(?:caption|table|tbody|td|tfoot|th|thead|tr)$/;

/**
 * Adds the numbers of the lines inside quotes and code that are written as HTML. An element ends only at an end tag among the same siblings, if no
 * table and no other such element has begun in between. Otherwise browsers may ignore the end tag, so all lines that follow count as inside.
 */
function hideFramed(node: MarkdownNode, hidden: Set<number>, lines: number): void {
  for (const [from, to = lines] of framesIn(node)) for (let n = from; n < to; n++) hidden.add(n);
  for (const child of node.children ?? []) hideFramed(child, hidden, lines);
}

/** Returns the ranges of lines, from 0, of the elements that begin among the children of a node; without an end if they have none. */
function framesIn({ children = [] }: MarkdownNode): [from: number, to?: number | undefined][] {
  const open: { name: string; line: number }[] = [];
  const closed: [number, number | undefined][] = [];
  const tags = children
    .filter(({ type }) => type === 'html')
    .flatMap(({ value = '', position }) => [...piecesOf(value)].map(({ name }) => ({ name, position })));
  let isBarred = false;
  for (const { name, position } of tags) {
    if (framing.test(name)) open.push({ name, line: position?.start.line ?? 0 });
    else if (open.length > 0 && ofTables.test(name)) isBarred = true;
    else if (!isBarred && `/${open.at(-1)?.name}` === name) closed.push([open.pop()?.line ?? 0, position?.end.line]);
  }
  return [...closed, ...open.map(({ line }): [number] => [line])];
}
