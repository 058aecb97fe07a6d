import { namesIn } from './words.ts';

/** What is known about a task before it starts. */
export interface Asked {
  title: string;
  description: string;
  /** The agent, whatever its version. */
  agent: string | null;
  repositoryId: string | null;
  issueType: string | null;
}

/** A finished task. */
export interface Finished extends Asked {
  id: string;
  /** What all of its runs cost; null if the prices of its model were not configured. */
  costUsd: number | null;
  /** How long its runs worked, without what they waited for. */
  minutes: number;
  /** Whether its pull requests were merged. */
  isMerged: boolean;
  /** Whether people asked for changes before that. */
  wasChanged: boolean;
  /** Whether it was solved in a trial, which nobody merges. */
  isTrial: boolean;
}

/** Half of such tasks need at most `p50`, and four of five at most `p80`. */
export interface Bounds {
  p50: number;
  p80: number;
}

/** Whether the bounds of an earlier quote held. */
export type BoundsHeld = { [level in keyof Bounds]: boolean };

/** What happened to earlier quotes of the project, oldest first. */
export interface EarlierQuotes {
  costUsd: BoundsHeld[];
  minutes: BoundsHeld[];
}

export interface Quote {
  costUsd: Bounds | null;
  minutes: Bounds | null;
  /** Of so many similar tasks, `n` were merged without a request for changes; null if all were solved in trials. */
  mergedUnchanged: { of: number; n: number } | null;
  /** The ids of the tasks behind it, the most similar first. */
  similar: string[];
  /** Why something is missing, as a sentence; null if nothing is. */
  reason: string | null;
}

/**
 * How many of the most similar tasks may be behind a quote. With one less than a multiple of ten, the bounds are exactly the
 * middle and the fourth fifth: of `k` exchangeable numbers, the next one is at most the `r`-th smallest with a chance of
 * `r / (k + 1)`.
 * @see https://doi.org/10.1080/01621459.2017.1307116
 */
const sizes = [39, 29, 19, 9];

/** A quote needs this many finished tasks. */
export const fewestTasks = 9;

/** Returns what a task will probably need, from finished tasks of its project, the latest first. */
export function quoteFor(task: Asked, finished: Finished[], earlier: EarlierQuotes): Quote {
  if (finished.length < fewestTasks) return { ...nothing, reason: tooFew(finished.length) };
  const ranked = bySimilarity(task, finished);
  const similar = ranked.slice(0, sizeFor(ranked.length));
  const costs = ranked.flatMap(({ costUsd }) => costUsd ?? []);
  const costUsd = boundsOf(costs, earlier.costUsd);
  const shown = similar.filter(({ isTrial }) => !isTrial);
  const unchanged = shown.filter(({ isMerged, wasChanged }) => isMerged && !wasChanged);
  return {
    costUsd: costUsd ?? null,
    minutes: boundsOf(
      ranked.map(({ minutes }) => minutes),
      earlier.minutes,
    ),
    mergedUnchanged: shown.length === 0 ? null : { of: shown.length, n: unchanged.length },
    similar: shown.map(({ id }) => id),
    reason: costUsd === null ? unknownCosts(costs.length) : null,
  };
}

const nothing = { costUsd: null, minutes: null, mergedUnchanged: null, similar: [] };

function tooFew(count: number): string {
  const done =
    count === 0 ? 'No agent has finished a task' : `Agents have finished ${count} ${count === 1 ? 'task' : 'tasks'}`;
  return `${done} of this project so far. A quote needs ${fewestTasks} finished tasks.`;
}

function unknownCosts(known: number): string {
  return `The costs of ${known === 0 ? 'no finished task are' : `only ${known} finished tasks are`} known; a quote needs ${fewestTasks}. The operator sets the prices of models with MODEL_PRICES.`;
}

function sizeFor(count: number): number {
  return sizes.find((size) => size <= count) ?? 0;
}

/** How fast the levels follow what happened, and how far they may go. */
const [gain, farthest] = [0.03, 0.14];

/**
 * Returns the level at which a bound of this level has to be taken now. A bound that was exceeded raises it, one that held lowers
 * it a little, so that in the long run as many hold as should, even if tasks become more expensive or cheaper (adaptive conformal
 * inference).
 * @see https://arxiv.org/abs/2106.00170
 */
export function adaptedLevel(level: number, held: boolean[]): number {
  let now = level;
  for (const each of held) {
    now += gain * (each ? level - 1 : level);
    now = Math.min(level + farthest, Math.max(level - farthest, now));
  }
  return now;
}

/** Returns the bounds from numbers of finished tasks, those of the most similar first; null if there are too few. */
export function boundsOf(ranked: number[], held: BoundsHeld[]): Bounds | null {
  const size = sizeFor(ranked.length);
  if (size === 0) return null;
  const sorted = ranked.slice(0, size).sort((a, b) => a - b);
  const at = (level: number) => {
    // A sum of decimal fractions may be a little more than the whole number that it should be.
    const rank = Math.ceil((size + 1) * level - 1e-9);
    return sorted[Math.min(size, Math.max(1, rank)) - 1] as number;
  };
  const levelOf = (name: keyof Bounds, level: number) =>
    adaptedLevel(
      level,
      held.map((each) => each[name]),
    );
  return { p50: at(levelOf('p50', 0.5)), p80: at(levelOf('p80', 0.8)) };
}

/** How much the parts of similarity count. Words in common count by how rare they are. */
const weights = { words: 2, agent: 1, repository: 1, issueType: 0.5, size: 0.5 };
/** A task that was finished this many tasks earlier has to be more similar by 1 to be preferred. */
const agingBy = 60;

/** Sorts finished tasks, the most similar first. Newer ones are preferred, because models, agents and code change. */
export function bySimilarity(task: Asked, finished: Finished[]): Finished[] {
  const words = finished.map(wordsOf);
  // A word that no finished task has would only make all of them less similar.
  const own = [...wordsOf(task)].filter((word) => words.some((each) => each.has(word)));
  const rarity = rarityOf(words);
  const whole = sum(own.map(rarity));
  const scores = finished.map((each, i) => {
    const common = sum(own.filter((word) => words[i]?.has(word)).map(rarity));
    return (
      weights.words * (whole === 0 ? 0 : common / whole) +
      weights.agent * Number(each.agent === task.agent) +
      weights.repository * Number(each.repositoryId === task.repositoryId) +
      weights.issueType * Number(each.issueType === task.issueType) +
      weights.size * closeness(lengthOf(each), lengthOf(task)) -
      i / agingBy
    );
  });
  const order = [...finished.keys()].sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  return order.map((i) => finished[i] as Finished);
}

const wordsOf = ({ title, description }: Asked) => namesIn(`${title} ${description}`);
const lengthOf = ({ title, description }: Asked) => title.length + description.length;
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);

/** Returns a function that says how rare a word is among some tasks. */
function rarityOf(words: Set<string>[]): (word: string) => number {
  const counts = new Map<string, number>();
  for (const each of words) for (const word of each) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (word) => Math.log(1 + words.length / (1 + (counts.get(word) ?? 0)));
}

/** Returns 1 for texts of the same length, and less the more their lengths differ. */
function closeness(a: number, b: number): number {
  return Math.exp(-Math.abs(Math.log((1 + a) / (1 + b))));
}
