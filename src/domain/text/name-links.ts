import { fenced, oneLine } from './sanitize.ts';

/** A part of a description for a model. Empty parts are left out. */
export type Part = string;

/** A heading and one line of at most `lineChars` for each item, at most `max` of them. The rest is counted. */
export function listPart<T>(title: string, items: T[], max: number, line: (item: T) => string, lineChars = 500): Part {
  if (items.length === 0) return '';
  const shown = items.slice(0, max).map((item) => `- ${oneLine(line(item), lineChars)}`);
  const more = items.length > max ? [`- and ${items.length - max} more`] : [];
  return `## ${title}\n${[...shown, ...more].join('\n')}`;
}

/** A heading and a text by people or a model, as data in a code block of at most `max` characters. */
export function textPart(title: string, text: string, max: number): Part {
  if (text.trim() === '') return '';
  return `## ${title}\n${fenced(text.length > max ? `${text.slice(0, max)}…` : text)}`;
}

export function joinParts(parts: Part[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The tasks, issues, pull requests and files that a text mentions. */
export interface Mentions {
  taskIds: string[];
  /** Numbers of issues and pull requests, written as `#12`. */
  numbers: number[];
  paths: string[];
}

/** The targets of the links for the names in a text. An unknown name has no target and stays as it is. */
export interface Targets {
  task: (id: string) => { title: string; url: string } | undefined;
  numbered: (number: number) => string | undefined;
  file: (path: string, line: number | undefined) => string | undefined;
}

/** Names of each kind that are looked up in one text. */
const maxNames = 50;

/**
 * What can be a name, and what hides names: links, addresses and longer code. Every repetition is bounded, so that a
 * hostile text takes linear time.
 */
const pieces = new RegExp(
  [
    String.raw`(?<link>!?\[[^\][\n]{0,300}\]\([^()\n]{0,2000}\))`,
    String.raw`(?<address>https?:\/\/[^\s<>"]{1,2000})`,
    '(?<ticks>`{2,})',
    '`(?<code>[^`\\n]{1,300})`',
    String.raw`\b(?<task>task_[0-9a-z]{26})\b`,
    String.raw`(?<![\w/#&.-])#(?<number>\d{1,9})\b`,
    String.raw`(?<![\w./@~-])(?<path>(?:[\w.@-]{1,80}\/){1,12}[\w.@-]{1,80}(?::\d{1,6})?)`,
  ].join('|'),
  'g',
);

type Groups = Partial<Record<'link' | 'address' | 'ticks' | 'code' | 'task' | 'number' | 'path', string>>;

/**
 * Calls `replace` for each possible name outside code blocks. Code in several backticks is left alone to its line's
 * end.
 */
function eachName(text: string, replace: (groups: Groups, found: string) => string): string {
  let fence: string | undefined;
  return text
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (fence !== undefined) {
        if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
        return line;
      }
      if (mark !== undefined) {
        fence = mark;
        return line;
      }
      let isHidden = false;
      return line.replace(pieces, (found, ...rest) => {
        const groups = rest.at(-1) as Groups;
        if (groups.ticks !== undefined) isHidden = true;
        return isHidden ? found : replace(groups, found);
      });
    })
    .join('\n');
}

/** Splits `src/a.ts:12` into path and line. */
function placeIn(text: string): { path: string; line: number | undefined; rest: string } {
  const [, place = '', rest = ''] = /^(.*?)([.,;:]*)$/.exec(text) ?? [];
  const [, path = place, line] = /^(.+?):(\d{1,6})(?:-\d{1,6})?$/.exec(place) ?? [];
  return { path: path.replace(/^\.\//, ''), line: line === undefined ? undefined : Number(line), rest };
}

const taskId = /^task_[0-9a-z]{26}$/;

/** Finds the names of tasks, issues, pull requests and files in a Markdown text, each once. */
export function mentionsIn(text: string): Mentions {
  const taskIds = new Set<string>();
  const numbers = new Set<number>();
  const paths = new Set<string>();
  eachName(text, ({ code, task = code, number, path = code }, found) => {
    if (task !== undefined && taskId.test(task)) taskIds.add(task);
    else if (number !== undefined) numbers.add(Number(number));
    else if (path !== undefined) paths.add(placeIn(path).path);
    return found;
  });
  const first = <T>(names: Set<T>) => [...names].slice(0, maxNames);
  return { taskIds: first(taskIds), numbers: first(numbers), paths: first(paths) };
}

/** Turns the names of a Markdown text into links. Tasks are shown with their titles. */
export function withLinks(text: string, targets: Targets): string {
  return eachName(
    text,
    (names, found) => taskLink(names, targets) ?? numberLink(names, targets) ?? fileLink(names, targets) ?? found,
  );
}

function taskLink({ code, task = code }: Groups, targets: Targets): string | undefined {
  const known = task !== undefined && taskId.test(task) ? targets.task(task) : undefined;
  return known && `[${plainTitle(known.title)}](${known.url})`;
}

function numberLink({ number }: Groups, { numbered }: Targets): string | undefined {
  const url = number === undefined ? undefined : numbered(Number(number));
  return url && `[#${number}](${url})`;
}

function fileLink({ code, path = code }: Groups, { file }: Targets): string | undefined {
  if (path === undefined) return undefined;
  const { path: name, line, rest } = placeIn(path);
  const url = file(name, line);
  if (url === undefined) return undefined;
  return code === undefined ? `[${path.slice(0, path.length - rest.length)}](${url})${rest}` : `[\`${code}\`](${url})`;
}

/** Returns a title as the text of a link, in which it formats nothing. */
function plainTitle(title: string): string {
  const line = title.replace(/\s+/g, ' ').slice(0, 100).trim();
  return line.replace(/[\\`*_{}[\]()<>#!|~]/g, (sign) => `\\${sign}`);
}
