import { improvements, type Priority, priority } from '../agent.ts';
import { type EvidenceGroup, findQuote, type Quote, quotesOf } from './evidence.ts';

/** What would make an agent better, and the runs that show it. */
export interface Suggestion {
  area: string;
  suggestion: string;
  priority: Priority;
  /** The ids of the runs. */
  evidence: string[];
  quotes: Quote[];
}

/** A suggestion in the words of a model. `groups` names the evidence that it used. */
export interface Wording {
  area: string;
  suggestion: string;
  groups: string[];
  quotes: string[];
}

/** A suggestion shows at most this many quotations. */
const maxQuotes = 5;

const afterReviews = {
  area: 'review',
  suggestion: 'Put what reviewers ask for repeatedly into the system prompt.',
};

/** Returns one suggestion for each kind of evidence, in our own words. Those with the most evidence come first. */
export function plainSuggestions(groups: EvidenceGroup[]): Suggestion[] {
  const alike = new Map<string, EvidenceGroup[]>();
  for (const group of groups) {
    const kind = group.category ?? group.source;
    alike.set(kind, [...(alike.get(kind) ?? []), group]);
  }
  return bySize(
    [...alike.values()].flatMap((same) => {
      const [first] = same;
      const words = first?.category == null ? afterReviews : improvements[first.category];
      if (words === undefined) return [];
      const quotes = same.flatMap((group) => quotesOf(group, Math.ceil(maxQuotes / same.length)));
      return [suggestionOf(words, same, quotes)];
    }),
  );
}

/**
 * Returns the suggestions that a model worded. Quotations that the evidence does not contain are dropped, and so are
 * suggestions without evidence. Evidence that the model left out gets a suggestion in our own words.
 */
export function wordedSuggestions(groups: EvidenceGroup[], wordings: Wording[]): Suggestion[] {
  const worded = wordings.flatMap((wording) => {
    const used = groups.filter(({ id }) => wording.groups.includes(id));
    if (used.length === 0) return [];
    const found = wording.quotes.flatMap((quoted) => findQuote(used, quoted) ?? []);
    const quotes = found.length > 0 ? found : used.flatMap((group) => quotesOf(group, 1));
    return [suggestionOf(wording, used, quotes)];
  });
  const named = new Set(wordings.flatMap((wording) => wording.groups));
  return bySize([...worded, ...plainSuggestions(groups.filter(({ id }) => !named.has(id)))]);
}

function suggestionOf(
  { area, suggestion }: { area: string; suggestion: string },
  groups: EvidenceGroup[],
  quotes: Quote[],
): Suggestion {
  const evidence = [...new Set(groups.flatMap(({ items }) => items.map(({ runId }) => runId)))];
  return { area, suggestion, priority: priority(evidence.length), evidence, quotes: quotes.slice(0, maxQuotes) };
}

function bySize(suggestions: Suggestion[]): Suggestion[] {
  return suggestions.sort((a, b) => b.evidence.length - a.evidence.length);
}
