/** Longer comments are cut, because GitHub refuses comments over 65,536 characters. */
const maxComment = 60_000;

/** Puts lines of a comment into a section that readers unfold. */
export function folded(title: string, lines: string[]): string[] {
  return [`<details><summary>${title}</summary>`, '', ...lines, '', '</details>'];
}

/** Cuts a comment that GitHub would refuse as too long, and closes the section that the cut leaves open. */
export function clipped(text: string): string {
  if (text.length <= maxComment) return text;
  return `${text.slice(0, maxComment - 100)}\n\n</details>\n\n… (cut)`;
}
