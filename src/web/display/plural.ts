import { formatNumber } from './format-number.ts';

/** Formats a count with its noun: `1 file`, `2 files`. Only for nouns whose plural adds an s. */
export function plural(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}
