const opening = '<!-- deckhand:question ';
/** The last box of a question. Ticking it sends the others. */
const sendBox = '**Send the ticked options**';

/** Renders a question's options as a task list that people can tick. */
export function tickList(stepId: string, labels: string[]): string[] {
  if (labels.length === 0) return [];
  const boxes = labels.map((label, i) => `- [ ] ${i + 1}. ${label}`);
  return [`${opening}${stepId} -->`, '', ...boxes, `- [ ] ${sendBox}`];
}

/** What people ticked in the comment of a plan. */
export interface Ticks {
  stepId: string;
  /** The numbers of the ticked options, from 1. */
  numbers: number[];
  isSent: boolean;
}

/** Reads the ticks in the comment of a plan. Returns undefined when it shows no question with options. */
export function readTicks(body: string): Ticks | undefined {
  const lines = body.split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith(opening));
  const stepId = /^(\w{1,40}) -->$/.exec((lines[start] ?? '').slice(opening.length))?.[1];
  if (start < 0 || stepId === undefined) return undefined;
  const list = lines.slice(start + 2);
  const end = list.findIndex((line) => !/^[-*] \[[ xX]\] /.test(line));
  const ticked = list.slice(0, end < 0 ? undefined : end).filter((line) => /^[-*] \[[xX]\]/.test(line));
  const numbers = ticked.flatMap((line) => Number(/^[-*] \[[xX]\] (\d{1,2})\. /.exec(line)?.[1] ?? 0) || []);
  return { stepId, numbers, isSent: ticked.some((line) => line.slice('- [x] '.length) === sendBox) };
}
