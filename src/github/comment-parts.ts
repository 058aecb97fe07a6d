/** Longer comments are cut, because GitHub refuses comments over 65,536 characters. */
const maxComment = 60_000;

/** Puts lines of a comment into a section that readers unfold. */
export function folded(title: string, lines: string[]): string[] {
  return [`<details><summary>${title}</summary>`, '', ...lines, '', '</details>'];
}

const tableHead = '| Command | |\n| --- | --- |\n';

/** Renders commands and what they do as a table. */
export function commandTable(rows: { command: string; does: string }[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  return tableHead + rows.map(({ command, does }) => `| \`${cell(command)}\` | ${cell(does)} |`).join('\n');
}

/** Returns whether a notice is the table of commands. Every other notice may contain text of people. */
export function isCommandTable(notice: string): boolean {
  return notice.startsWith(tableHead);
}

/** Cuts a comment that GitHub would refuse as too long, and closes the section that the cut leaves open. */
export function clipped(text: string): string {
  if (text.length <= maxComment) return text;
  return `${text.slice(0, maxComment - 100)}\n\n</details>\n\n… (cut)`;
}
