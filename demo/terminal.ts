import { styleText } from 'node:util';

const began = performance.now();
let last = began;

/** Prints a line with the time since the start. `styleText` adds colours only when the output is a terminal. */
export function say(text: string): void {
  const now = performance.now();
  const total = `${((now - began) / 1000).toFixed(1).padStart(6)} s`;
  const step = styleText('dim', `(+${Math.round(now - last)} ms)`, { stream: process.stdout });
  process.stdout.write(`${total}  ${text}  ${step}\n`);
  last = now;
}

/** Prints text, indented, below the previous line. */
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

/** Says what agents cannot do without a sandbox, by the log of the service; undefined if they have one. */
export function sandboxLack(log: string): string | undefined {
  const why = /"msg":"sandbox: ([^"]*): agents have no run_command"/.exec(log)?.[1];
  if (why === undefined) return undefined;
  return `There is no sandbox: ${why}. The agents of this demo have no shell, and nothing is checked or proved.`;
}
