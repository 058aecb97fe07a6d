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
