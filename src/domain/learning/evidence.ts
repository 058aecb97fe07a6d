import type { FailureCategory } from '../run.ts';

/**
 * Something that went wrong in a run: why it failed, what a person asked to change in its work, or which checks failed
 * on GitHub.
 */
export interface Evidence {
  source: 'failure' | 'review' | 'checks';
  runId: string;
  taskId: string;
  /** Null for reviews. */
  category: FailureCategory | null;
  /** The words of the run, the person or the checks. */
  text: string;
}

/** Evidence of the same kind. */
export interface EvidenceGroup {
  /** How a model names the group, such as `g1`. */
  id: string;
  source: Evidence['source'];
  category: FailureCategory | null;
  items: Evidence[];
}

/** Failures that say nothing about the agent. */
const notItsFault: ReadonlySet<FailureCategory> = new Set<FailureCategory>([
  'auth',
  'rate_limit',
  'repository',
  'internal',
  'sandbox',
  'setup',
]);

/** At most this many groups are used, those with the most evidence. */
const maxGroups = 12;

/**
 * Groups evidence: failures and failing checks by what their messages have in common, reviews in one group, because each
 * person has their own words. The largest group comes first.
 */
export function groupEvidence(evidence: Evidence[]): EvidenceGroup[] {
  const groups = new Map<string, Evidence[]>();
  for (const item of evidence) {
    if (item.category !== null && notItsFault.has(item.category)) continue;
    const kind = `${item.source} ${item.category} ${item.source === 'review' ? '' : patternOf(item.text)}`;
    groups.set(kind, [...(groups.get(kind) ?? []), item]);
  }
  return [...groups.values()]
    .sort((a, b) => b.length - a.length)
    .slice(0, maxGroups)
    .map((items, at) => ({ id: `g${at + 1}`, ...kindOf(items), items }));
}

function kindOf([first]: Evidence[]) {
  const { source, category } = first as Evidence;
  return { source, category };
}

/** Messages are compared by this many characters of their first line. */
const patternChars = 200;

/** Returns a message without what differs between two occurrences of one problem: names, paths, ids and numbers. */
export function patternOf(message: string): string {
  const [line = ''] = /^.*/.exec(message.trim().slice(0, 2 * patternChars)) ?? [];
  return line
    .toLowerCase()
    .replace(/"[^"]*"|`[^`]*`|\B'[^']*'\B|“[^”]*”/g, '…')
    .replace(/\bhttps?:\S+/g, '…')
    .replace(/[\w.@-]*[/\\][\w./\\@-]*/g, '…')
    .replace(/\b[\w-]+\.[a-z]{1,5}\b/g, '…')
    .replace(/\b[0-9a-f]{7,}\b|\b[a-z]+_[0-9a-z]{26}\b/g, '…')
    .replace(/\d+(?:[.,]\d+)*/g, '…')
    .replace(/\s+/g, ' ')
    .slice(0, patternChars)
    .trim();
}

/** A quotation, and the run that it is about. */
export interface Quote {
  source: Evidence['source'];
  runId: string;
  taskId: string;
  text: string;
}

/** The lengths of quotations in characters. A shorter one could be found anywhere. */
const shortestQuote = 8;
export const longestQuote = 400;

/**
 * Finds the piece of evidence that contains a model's quotation, apart from differences in white space. Returns undefined
 * if none does.
 */
export function findQuote(groups: EvidenceGroup[], quoted: string): Quote | undefined {
  const text = spaced(quoted.slice(0, 4 * longestQuote))
    .slice(0, longestQuote)
    .trim();
  if (text.length < shortestQuote) return undefined;
  for (const { items } of groups)
    for (const { source, runId, taskId, text: said } of items)
      if (spaced(said).includes(text)) return { source, runId, taskId, text };
  return undefined;
}

/** Returns a few different quotations of a group, each from the beginning of a text. */
export function quotesOf({ items }: EvidenceGroup, most: number): Quote[] {
  const seen = new Set<string>();
  return items
    .map(({ source, runId, taskId, text }) => ({ source, runId, taskId, text: beginning(text) }))
    .filter(({ text }) => text !== '' && !seen.has(text) && seen.add(text))
    .slice(0, most);
}

function beginning(text: string): string {
  const line = spaced(text);
  return line.length <= longestQuote
    ? line
    : `${line
        .slice(0, longestQuote - 1)
        .trimEnd()
        .toWellFormed()}…`;
}

function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
