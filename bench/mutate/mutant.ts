/** One small change of a source file that its tests should notice. */
export interface Mutant {
  /** From the root of the repository. */
  file: string;
  line: number;
  /** The changed part of the file, in bytes. */
  start: number;
  end: number;
  replacement: string;
  /** The change as people read it, with enough around it to recognise the place: `a < b → a <= b`. */
  change: string;
}

/** What a rule proposes: another text for a part of the source. */
export interface Proposal {
  start: number;
  end: number;
  replacement: string;
  /** What people read. Without it they read the part in its line. */
  before?: string;
  after?: string;
}

const longest = 120;
/** What is shown of the line around a change. */
const around = 50;

/** The change as people read it. */
export function changeOf(source: Buffer, proposal: Proposal): string {
  const { start, end, replacement, before, after } = proposal;
  if (before !== undefined && after !== undefined) return `${inOneLine(before)} → ${inOneLine(after)}`;
  const head = source.toString('utf8', 0, start).split('\n').at(-1)?.slice(-around) ?? '';
  const tail = source.toString('utf8', end).split('\n', 1)[0]?.slice(0, around) ?? '';
  return `${inOneLine(head + source.toString('utf8', start, end) + tail)} → ${inOneLine(head + replacement + tail)}`;
}

/** No longer than a line of the terminal. */
function inOneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

/** The source with the change. */
export function applied(source: Buffer, { start, end, replacement }: Proposal): Buffer {
  return Buffer.concat([source.subarray(0, start), Buffer.from(replacement), source.subarray(end)]);
}
