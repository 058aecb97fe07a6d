import { type Html, html, type Part } from './html.ts';

/** A line on which a visitor comments. */
export interface Place {
  path: string;
  line: number;
}

/** What stands below a line of a diff. */
export type Below = (place: Place) => Part;

/** Shows the output of `git diff`. The number of each line of the new side leads to a form for a comment on it. */
export function diffTables(diff: string, below: Below): Html[] {
  return diff
    .split(/^(?=diff --git )/m)
    .filter((file) => file.startsWith('diff --git'))
    .map((file) => fileTable(file, below));
}

function fileTable(file: string, below: Below): Html {
  const [header = '', ...hunks] = file.split(/^(?=@@ )/m);
  const path = /^\+\+\+ b\/(.+)$/m.exec(header)?.[1] ?? /^diff --git a\/(.+) b\//.exec(header)?.[1] ?? 'file';
  return html`<section class="box"><div class="head"><strong>${path}</strong></div><table class="diff">${hunks.map((hunk) => hunkRows(path, hunk, below))}</table></section>`;
}

function hunkRows(path: string, hunk: string, below: Below): Html[] {
  const [head = '', ...lines] = hunk.replace(/\n$/, '').split('\n');
  let [old = 0, now = 0] = (/-(\d+)(?:,\d+)? \+(\d+)/.exec(head) ?? []).slice(1).map(Number);
  const rows = lines.map((text) => {
    if (text.startsWith('\\')) return html`<tr class="hunk"><td colspan="3">${text}</td></tr>`;
    const kind = { '+': 'add', '-': 'del' }[text.charAt(0)] ?? '';
    const [before, line] = [kind === 'add' ? '' : old++, kind === 'del' ? undefined : now++];
    const row = html`<tr class="${kind}"><td class="n">${before}</td><td class="n">${line !== undefined && html`<a href="?path=${encodeURIComponent(path)}&amp;line=${line}#comment" aria-label="Comment on line ${line} of ${path}">${line}</a>`}</td><td>${text}</td></tr>`;
    const talk = line === undefined ? '' : below({ path, line });
    return html`${row}${talk !== '' && html`<tr class="talk"><td colspan="3">${talk}</td></tr>`}`;
  });
  return [html`<tr class="hunk"><td colspan="3">${head}</td></tr>`, ...rows];
}
