import { closedBlocks } from '../../domain/text/sanitize.ts';

/** A template for pull requests, as the repository has it. */
export interface Template {
  path: string;
  text: string;
  /** The number of characters that were cut from its end. */
  cut: number;
}

/** A heading, or a box with its text, in a template or a body. */
interface Mark {
  kind: 'heading' | 'box';
  line: number;
  text: string;
  /** The text as it is compared: without case, emphasis and spaces. */
  key: string;
}

/** Longer bodies are cut: a pull request has room for 65,536 characters, and our own part follows. */
const maxBodyChars = 30_000;

/** What of a template a body leaves out. */
interface Missing {
  headings: string[];
  boxes: string[];
}

/** Chooses the template that a body was written by: the one most of whose headings and boxes it has. */
export function templateOf(templates: Template[], body: string): Template | undefined {
  const keys = new Set(marksIn(linesOf(body)).map(({ kind, key }) => `${kind} ${key}`));
  let best: { template: Template; count: number } | undefined;
  for (const template of templates) {
    const count = marksIn(linesOf(template.text)).filter(({ kind, key }) => keys.has(`${kind} ${key}`)).length;
    if (best === undefined || count > best.count) best = { template, count };
  }
  return best?.template;
}

/** Returns the headings and boxes of a template that a body leaves out. */
export function missingFrom(template: Template, body: string): Missing {
  const { headings, boxes } = compared(template, linesOf(body.slice(0, maxBodyChars)));
  return {
    headings: headings.flatMap(({ heading, line }) => (line === undefined ? [heading.text] : [])),
    boxes: boxes.map(({ box }) => box.text),
  };
}

/**
 * Fills a template with the body that the agent wrote by it. Headings that are missing are put back in their place, and so
 * are boxes, without a tick: a box is ticked only where the agent ticked it. A body without any of the headings becomes
 * the text under the first one. Comments are for whoever fills the template, so they go.
 */
export function filledTemplate(template: Template, body: string): string {
  const lines = linesOf(closedBlocks(body.slice(0, maxBodyChars)));
  const { headings, boxes } = compared(template, lines);
  const blocks = blocksOf(lines, headings);
  for (const { box, section } of boxes) {
    const block = blocks.find((each) => each.section === section) ?? blocks[0];
    if (block === undefined) continue;
    const last = block.lines.at(-1) ?? '';
    if (last !== '' && !/^\s*(?:[-*+]|\d+[.)])\s/.test(last)) block.lines.push('');
    block.lines.push(box.text);
  }
  const parts = blocks.map((block) => block.lines.join('\n')).filter((text) => text !== '');
  return parts.join('\n\n');
}

interface Compared {
  /** The headings of the template, and the lines of the body where they stand. */
  headings: { heading: Mark; line: number | undefined }[];
  /** The boxes that the body leaves out, with the index of their heading in the template; -1 before the first one. */
  boxes: { box: Mark; section: number }[];
}

/** Finds the headings and boxes of a template in a body. Equal texts are matched in order. */
function compared(template: Template, body: string[]): Compared {
  const wanted = marksIn(linesOf(template.text));
  const found = marksIn(body);
  const free = new Set(found);
  const take = (mark: Mark, fits: (other: Mark) => boolean = () => true) => {
    const other = [...free].find((each) => each.kind === mark.kind && each.key === mark.key && fits(each));
    if (other !== undefined) free.delete(other);
    return other;
  };
  const headings = wanted
    .filter(({ kind }) => kind === 'heading')
    .map((heading) => ({ heading, line: take(heading)?.line }));
  const sectionAt = (line: number) => sectionBefore(headings, line);
  let section = -1;
  const all = wanted.flatMap((mark) => {
    if (mark.kind === 'heading') section++;
    return mark.kind === 'box' ? [{ box: mark, section }] : [];
  });
  // First those in their place, then those that the agent moved.
  const moved = all.filter(({ box, section: own }) => take(box, ({ line }) => sectionAt(line) === own) === undefined);
  return { headings, boxes: moved.filter(({ box }) => take(box) === undefined) };
}

/** Returns the index of the last heading of the template before a line of the body; -1 without one. */
function sectionBefore(headings: Compared['headings'], line: number): number {
  let before = -1;
  for (const [i, { line: at }] of headings.entries())
    if (at !== undefined && at < line && at > (headings[before]?.line ?? -1)) before = i;
  return before;
}

interface Block {
  section: number;
  lines: string[];
}

/** Divides a body at the headings of its template, and puts back those that are missing. */
function blocksOf(lines: string[], headings: Compared['headings']): Block[] {
  const places = headings.flatMap(({ line }, section) => (line === undefined ? [] : [{ line, section }]));
  places.sort((a, b) => a.line - b.line);
  const [first] = headings;
  const blocks: Block[] =
    places.length === 0 && first !== undefined
      ? [{ section: 0, lines: trimmed([first.heading.text, '', ...lines]) }]
      : [{ line: -1, section: -1 }, ...places].map(({ line, section }, i) => ({
          section,
          lines: trimmed(lines.slice(Math.max(line, 0), places[i]?.line ?? lines.length)),
        }));
  for (const [section, { heading }] of headings.entries()) {
    if (blocks.some((block) => block.section === section)) continue;
    const next = headings.findIndex(({ line }, i) => i > section && line !== undefined);
    const at = next < 0 ? blocks.length : blocks.findIndex((block) => block.section === next);
    blocks.splice(at, 0, { section, lines: [heading.text] });
  }
  return blocks;
}

/** Removes empty lines at the beginning and the end. */
function trimmed(lines: string[]): string[] {
  const isText = (line: string) => line.trim() !== '';
  const begin = lines.findIndex(isText);
  return begin < 0 ? [] : lines.slice(begin, lines.findLastIndex(isText) + 1);
}

const boxLine = /^(\s{0,8}(?:[-*+]|\d{1,3}[.)])\s+)\[[ xX]\]\s+(\S.*)$/s;

/** More headings and boxes than this are not compared. */
const maxMarks = 500;

/** Finds headings and boxes outside of blocks of code. */
function marksIn(lines: string[]): Mark[] {
  const marks: Mark[] = [];
  let fence: string | undefined;
  for (const [line, text] of lines.entries()) {
    const ticks = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1];
    if (ticks !== undefined) {
      if (fence === undefined) fence = ticks;
      else if (ticks.startsWith(fence)) fence = undefined;
      continue;
    }
    const mark = fence === undefined ? markOf(text, line) : undefined;
    if (mark !== undefined) marks.push(mark);
    if (marks.length >= maxMarks) break;
  }
  return marks;
}

/** Reads a line as a box or a heading. A line of bold text is a heading, too. */
function markOf(text: string, line: number): Mark | undefined {
  const [, start, label] = boxLine.exec(text) ?? [];
  if (start !== undefined && label !== undefined)
    return { kind: 'box', line, text: `${start}[ ] ${label}`, key: keyOf(label) };
  const isHeading = /^ {0,3}#{1,6}\s+\S|^\*\*[^*]{1,200}\*\*:?\s*$/.test(text);
  return isHeading ? { kind: 'heading', line, text: text.trim(), key: keyOf(text) } : undefined;
}

function keyOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Divides text into lines, without HTML comments. One that is never closed stays. */
function linesOf(text: string): string[] {
  const shown: string[] = [];
  const all = text.replaceAll('\r\n', '\n');
  for (let at = 0; ; ) {
    const begin = all.indexOf('<!--', at);
    const end = begin < 0 ? -1 : all.indexOf('-->', begin + 4);
    if (end < 0) return (shown.join('') + all.slice(at)).split('\n');
    shown.push(all.slice(at, begin));
    at = end + 3;
  }
}
