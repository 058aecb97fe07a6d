import { type Call, meaningOf } from './calls.ts';
import type { Row, Timeline } from './timeline.ts';

/** Returns rows of the log as plain text, to copy or to download. */
export function logText(rows: Row[]): string {
  return rows.map(textOf).join('\n').concat('\n');
}

function textOf(row: Row): string {
  switch (row.kind) {
    case 'turn':
      return `\n## Turn ${row.turn}${row.at === undefined ? '' : ` (${row.at})`}`;
    case 'words':
      return `\n${row.text}`;
    case 'call':
      return callText(row.call);
    case 'note':
      return `${row.event.at} ${row.event.type}: ${row.event.text}`;
  }
}

function callText(call: Call): string {
  const { name, arguments: given, result, ok } = call;
  const head = `\n> ${name}${given === undefined ? ` ${meaningOf(call).about}` : ` ${given}`}`;
  const failed = ok === false ? ' (failed)' : '';
  return result === undefined || result === '' ? `${head}${failed}` : `${head}${failed}\n${indented(result)}`;
}

const indented = (text: string) => text.replace(/^(?=.)/gm, '  ');

/** Returns a run with its turns and its log as JSON, in the form in which the API shows them. */
export function runJson(run: object, timeline: Pick<Timeline, 'turns' | 'events'>): string {
  return `${JSON.stringify({ run, turns: timeline.turns(), events: timeline.events() }, null, 2)}\n`;
}
