/** Puts lines of a comment into a section that readers unfold. */
export function folded(title: string, lines: string[]): string[] {
  return [`<details><summary>${title}</summary>`, '', ...lines, '', '</details>'];
}
