/** An estimate in minutes, as the API returns it. */
export interface EstimateInMinutes extends Pick<Estimate, 'basedOn' | 'isSimilar'> {
  likelyMinutes: number;
  safeMinutes: number;
  workMinutes: number;
}

/** Converts an estimate to minutes, with one decimal. */
export function inMinutes({ likelyMs, safeMs, workMs, basedOn, isSimilar }: Estimate): EstimateInMinutes {
  const minutes = (ms: number) => Math.round(ms / 6000) / 10;
  return {
    likelyMinutes: minutes(likelyMs),
    safeMinutes: minutes(safeMs),
    workMinutes: minutes(workMs),
    basedOn,
    isSimilar,
  };
}

/** Writes an estimate as a sentence: `About 40 min, from 5 similar tasks.` */
export function estimateText({ likelyMinutes, basedOn, isSimilar }: EstimateInMinutes): string {
  const basis = isSimilar ? `${basedOn.length} similar tasks` : `the latest ${basedOn.length} finished tasks`;
  return `About ${roughly(likelyMinutes)}, from ${basis}.`;
}

/** Formats an estimated duration, rounded to what an estimate can tell: `40 min`, `2.5 h`, `3 days`. */
export function roughly(minutes: number): string {
  const roundMinutes = minutes < 10 ? Math.max(1, Math.round(minutes)) : 5 * Math.round(minutes / 5);
  if (roundMinutes < 60) return `${roundMinutes} min`;
  const hours = minutes / 60;
  const roundHours = hours < 10 ? Math.round(2 * hours) / 2 : Math.round(hours);
  return roundHours < 48 ? `${roundHours} h` : `${Math.round(hours / 24)} days`;
}

/** A task that agents finished, as evidence for estimates. */
export interface FinishedWork {
  id: string;
  title: string;
  repositoryId: string | null;
  /** How long its runs took together, in milliseconds, without the times in which they waited. */
  workMs: number;
  /** From the start of its first run until the task was done; reviews included. */
  totalMs: number;
}

/** How long a task may take, judged by finished tasks. Times are in milliseconds. */
export interface Estimate {
  /** The median: half of the tasks in `basedOn` took at most this long. */
  likelyMs: number;
  /** The 80th percentile: four out of five of these tasks took at most this long. */
  safeMs: number;
  /** The part of `likelyMs` in which an agent works; the rest is waiting, such as for reviews. */
  workMs: number;
  /** The finished tasks that the estimate rests on, the most similar first. */
  basedOn: string[];
  /** Whether these tasks are similar; otherwise there were too few, and they are simply the latest. */
  isSimilar: boolean;
}

/** An estimate rests on at least this many tasks. */
export const fewestForEstimate = 3;
/** More tasks, which would be less similar, hardly change the estimate. */
const most = 12;
/** Tasks below this likeness (0 to 1) are not similar. One shared word in six, or the same kind of work, reaches it. */
const leastLikeness = 0.12;

/**
 * Returns a function that estimates tasks from finished ones, latest first, by the words of their titles, the kind of
 * work and the repository. Too few similar tasks give an estimate from the latest; fewer than three finished tasks give
 * none. Prepare it once for many tasks: with 500 finished tasks one estimate takes well under a millisecond.
 */
export function estimator(finished: readonly FinishedWork[]) {
  const features = finished.map(featuresOf);
  const rarity = rarityIn(features.map(({ words }) => words));
  const known = finished.map((work, i) => ({ work, ...weighed(features[i]!, rarity) }));
  return (task: { title: string; repositoryId: string | null }): Estimate | undefined => {
    if (known.length < fewestForEstimate) return undefined;
    const wanted = weighed(featuresOf(task), rarity);
    const ranked = known
      .map((each) => ({ work: each.work, likeness: likeness(wanted, each) }))
      .filter((each) => each.likeness >= leastLikeness)
      .sort((a, b) => b.likeness - a.likeness)
      .slice(0, most);
    const isSimilar = ranked.length >= fewestForEstimate;
    const basis = isSimilar ? ranked.map(({ work }) => work) : finished.slice(0, most);
    return { ...timesOf(basis), basedOn: basis.map(({ id }) => id), isSimilar };
  };
}

function timesOf(basis: readonly FinishedWork[]) {
  return {
    likelyMs: quantile(
      basis.map(({ totalMs }) => totalMs),
      0.5,
    ),
    safeMs: quantile(
      basis.map(({ totalMs }) => totalMs),
      0.8,
    ),
    workMs: quantile(
      basis.map(({ workMs }) => workMs),
      0.5,
    ),
  };
}

/** Returns a quantile, interpolated between the two nearest values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(position)] ?? 0, sorted[Math.ceil(position)] ?? 0];
  return low + (high - low) * (position % 1);
}

interface Features {
  words: Set<string>;
  kind: string | undefined;
  repositoryId: string | null;
}

/** Words that begin the titles of one kind of work. Titles in other languages have no kind; their words still count. */
const kinds: Record<string, RegExp> = {
  fix: /\b(fix(es|ed)?|bugs?|repair|broken|crash(es)?|regression|hotfix)\b/,
  test: /\b(tests?|testing|coverage|e2e|specs?)\b/,
  docs: /\b(docs?|document(ation)?|readme|changelog|guide|tutorial)\b/,
  upgrade: /\b(upgrade|bump|update dependenc(y|ies)|migrate|dependency|dependencies)\b/,
  refactor: /\b(refactor(ing)?|rename|clean ?up|extract|simplify|restructure|remove|delete)\b/,
  feature: /\b(add|adds|create|implement|introduce|support|allow|build|new)\b/,
};
const fillers = new Set(
  'the and for with from into that this when not are all its our use using make should'.split(' '),
);

function featuresOf({ title, repositoryId }: { title: string; repositoryId: string | null }): Features {
  const text = title.toLowerCase();
  const words = (text.match(/[\p{L}\p{N}]{3,}/gu) ?? []).filter((word) => !fillers.has(word)).map(stem);
  return { words: new Set(words), kind: Object.keys(kinds).find((kind) => kinds[kind]!.test(text)), repositoryId };
}

/** Removes the plural `s`, so that "page" and "pages" are the same word. */
function stem(word: string): string {
  return word.replace(/(?<!s)s$/, '');
}

/** Returns the weight of a word: rare words say more about a task than common ones. */
function rarityIn(titles: readonly Set<string>[]): (word: string) => number {
  const counts = new Map<string, number>();
  for (const words of titles) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (word) => weightOf(counts.get(word) ?? 0, titles.length);
}

/** Returns the weight of a word that `count` of the titles contain. */
export function weightOf(count: number, titles: number): number {
  return Math.log(1 + titles / (1 + count));
}

interface Weighed extends Features {
  weights: { word: string; weight: number }[];
  total: number;
}

/** Weighs the words of a task once, because it is compared with hundreds of others. */
function weighed(features: Features, rarity: (word: string) => number): Weighed {
  const weights = [...features.words].map((word) => ({ word, weight: rarity(word) }));
  return { ...features, weights, total: weights.reduce((sum, { weight }) => sum + weight, 0) };
}

function likeness(a: Weighed, b: Weighed): number {
  let shared = 0;
  for (const { word, weight } of a.weights) if (b.words.has(word)) shared += weight;
  const all = a.total + b.total - shared;
  const byWords = all === 0 ? 0 : shared / all;
  const byKind = a.kind !== undefined && a.kind === b.kind ? 1 : 0;
  const byRepository = a.repositoryId !== null && a.repositoryId === b.repositoryId ? 1 : 0;
  return 0.7 * byWords + 0.2 * byKind + 0.1 * byRepository;
}
