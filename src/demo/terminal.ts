import { styleText } from 'node:util';

const began = performance.now();
let last = began;

/** Prints a line of the demo with the time since its start. Colours go to a terminal only (`styleText` looks). */
export function say(text: string): void {
  const now = performance.now();
  const total = `${((now - began) / 1000).toFixed(1).padStart(6)} s`;
  const step = styleText('dim', `(+${Math.round(now - last)} ms)`, { stream: process.stdout });
  process.stdout.write(`${total}  ${text}  ${step}\n`);
  last = now;
}

/** Prints a text of several lines below the last one. */
export function show(text: string): void {
  process.stdout.write(`${text.replace(/^/gm, '          ')}\n`);
}

export interface FileDiff {
  path: string;
  additions: number;
  deletions: number;
  hunks: { oldStart: number; oldLines: number; newStart: number; newLines: number; lines: string[] }[];
}

export function showDiff({ path, additions, deletions, hunks }: FileDiff): void {
  const text = [`${path}  +${additions} -${deletions}`];
  for (const h of hunks) text.push(`@@ -${h.oldStart},${h.oldLines} +${h.newStart},${h.newLines} @@`, ...h.lines);
  show(text.join('\n'));
}
