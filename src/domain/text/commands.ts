/** One command of a comment: `/agent start Reviewer` is the verb `start` with the argument `Reviewer`, on line `line` (from 0). */
export interface Command {
  verb: string;
  argument: string;
  line: number;
}

/** At most so many commands of one comment are obeyed (decisions, section 9). */
export const maxCommands = 5;

/**
 * Finds the commands of a comment: lines beginning with the prefix, or with the App's name (`@slug text` is `ask text`),
 * outside code, quotes and HTML comments.
 * One pass over the lines, so linear in the length of the text.
 */
export function parseCommands(body: string, prefix: string, slug?: string): Command[] {
  const found: Command[] = [];
  let fence: string | undefined;
  let inComment = false;
  const spans = linesInsideCode(body);
  const lower = prefix.toLowerCase();
  for (const [number, raw] of body.split(/\r\n|\n|\r/).entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && raw.trim() === mark) fence = undefined;
      continue;
    }
    if (mark !== undefined && !inComment) {
      fence = mark;
      continue;
    }
    const wasInComment = inComment;
    inComment = endsInsideComment(raw, inComment);
    if (wasInComment || spans.has(number)) continue;
    const asked = slug === undefined ? undefined : mentionOf(raw, slug);
    if (asked !== undefined) found.push({ verb: 'ask', argument: asked, line: number });
    if (!raw.toLowerCase().startsWith(lower)) continue;
    const rest = raw.slice(prefix.length);
    if (rest !== '' && !/^\s/.test(rest)) continue;
    const [, verb = '', argument = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
    found.push({ verb: verb.toLowerCase() || 'help', argument: argument.trim(), line: number });
  }
  return found;
}

/** What follows the App's name at the beginning of a line. */
function mentionOf(line: string, slug: string): string | undefined {
  const name = `@${slug.toLowerCase()}`;
  if (!line.toLowerCase().startsWith(name)) return undefined;
  const rest = line.slice(name.length).replace(/^\[bot\]/, '');
  return /^[\s,:]/.test(rest) ? rest.replace(/^[\s,:]+/, '').trim() : undefined;
}

function endsInsideComment(line: string, inside: boolean): boolean {
  let at = 0;
  let open = inside;
  for (;;) {
    const next = line.indexOf(open ? '-->' : '<!--', at);
    if (next < 0) return open;
    at = next + (open ? 3 : 4);
    open = !open;
  }
}

/**
 * The lines that begin inside a code span or a block of HTML that shows code. A span reaches from a run of backticks to
 * the next run of the same length in its paragraph; one pass, because for each length the next run is known.
 */
function linesInsideCode(body: string): Set<number> {
  const inside = new Set<number>();
  const lines = body.split(/\r\n|\n|\r/);
  let html = '';
  for (const [number, line] of lines.entries()) {
    if (html !== '') inside.add(number);
    for (const [, closes = '', tag = ''] of line.matchAll(/<(\/?)(pre|code|script|style|textarea)\b/gi)) {
      if (html === '' && closes === '') html = tag.toLowerCase();
      else if (closes !== '' && tag.toLowerCase() === html) html = '';
    }
  }
  for (let from = 0; from < lines.length; ) {
    let to = from;
    while (to < lines.length && lines[to]?.trim() !== '') to += 1;
    for (const number of spansOf(lines.slice(from, to))) inside.add(from + number);
    from = to + 1;
  }
  return inside;
}

function spansOf(paragraph: string[]): number[] {
  const runs = paragraph.flatMap((line, at) => [...line.matchAll(/`+/g)].map(([run]) => ({ at, length: run.length })));
  const next = new Map<number, number>();
  const partner = runs.map(() => -1);
  for (let i = runs.length - 1; i >= 0; i--) {
    const { length } = runs[i] as { length: number };
    partner[i] = next.get(length) ?? -1;
    next.set(length, i);
  }
  const inside: number[] = [];
  for (let i = 0; i < runs.length; i++) {
    const end = partner[i] ?? -1;
    if (end < 0) continue;
    for (let line = (runs[i]?.at ?? 0) + 1; line <= (runs[end]?.at ?? 0); line++) inside.push(line);
    i = end;
  }
  return inside;
}
