import type { RunEvent } from '../api.ts';
import { type Call, isFailed, meaningOf } from './calls.ts';
import type { Row, Timeline } from './timeline.ts';

/** Which rows the log shows, with their names. */
export const filterNames = {
  all: 'Everything',
  words: 'Words',
  commands: 'Commands',
  edits: 'Edits',
  problems: 'Errors and refusals',
} as const;

export type Filter = keyof typeof filterNames;

export const isFilter = (value: string | null): value is Filter => value !== null && Object.hasOwn(filterNames, value);

/** Entries of the log about what people said and decided. */
const saidTypes = ['said', 'answered', 'approved', 'revised', 'waiting'];
const commandTypes = ['setup', 'check'];
const problemTypes = ['failed', 'network', 'cancelled'];

/**
 * Returns a function that keeps the rows that match, each turn with its heading. It remembers the result for every row, so
 * that a long log can be filtered again whenever it grows.
 */
export function rowFilter(filter: Filter, search: string): (rows: Row[]) => Row[] {
  const words = search.trim().toLowerCase();
  if (filter === 'all' && words === '') return (rows) => rows;
  const known = new WeakMap<Row, boolean>();
  const isMatch = (row: Row): boolean => {
    const before = known.get(row);
    if (before !== undefined) return before;
    const now = isOfKind(row, filter) && (words === '' || textOf(row).toLowerCase().includes(words));
    known.set(row, now);
    return now;
  };
  return (rows) => {
    const turns = new Set<number>();
    for (const row of rows) if (row.kind !== 'turn' && row.kind !== 'note' && isMatch(row)) turns.add(row.turn);
    return rows.filter((row) => (row.kind === 'turn' ? turns.has(row.turn) : isMatch(row)));
  };
}

function isOfKind(row: Row, filter: Filter): boolean {
  switch (filter) {
    case 'all':
      return true;
    case 'words':
      return row.kind === 'words' || (row.kind === 'note' && saidTypes.includes(row.event.type));
    case 'commands':
      return (
        (row.kind === 'call' && meaningOf(row.call).kind === 'command') ||
        (row.kind === 'note' && commandTypes.includes(row.event.type))
      );
    case 'edits':
      return row.kind === 'call' && meaningOf(row.call).kind === 'edit';
    case 'problems':
      return (row.kind === 'call' && isFailed(row.call)) || (row.kind === 'note' && isProblem(row.event));
  }
}

/** Returns whether an entry of the log reports an error or a refusal. */
export function isProblem({ type, data }: RunEvent): boolean {
  const { ok, passed, exitCode } = data;
  const hasFailed = ok === false || passed === false || (typeof exitCode === 'number' && exitCode !== 0);
  return problemTypes.includes(type) || hasFailed;
}

/** The text of a row in which people search. */
function textOf(row: Row): string {
  switch (row.kind) {
    case 'turn':
      return '';
    case 'words':
      return row.text;
    case 'call': {
      const { name, about, arguments: given = '', result = '' } = row.call;
      return `${name} ${about} ${given} ${result}`;
    }
    case 'note':
      return `${row.event.type} ${row.event.text}`;
  }
}

/** Returns rows of the log as plain text, to copy or to download. */
export function logText(rows: Row[]): string {
  return rows.map(lineOf).join('\n').concat('\n');
}

function lineOf(row: Row): string {
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
