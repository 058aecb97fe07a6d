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
    if (wasInComment) continue;
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
