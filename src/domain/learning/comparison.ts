import { chanceOfDifference, type Estimate, mean, meanDifference, rate, rateDifference } from './statistics.ts';

/**
 * Returns whether a task belongs to the percentage of tasks that a new version of an agent takes. The same version and
 * task always give the same answer, a higher percentage only adds tasks, and each version gets a share of its own.
 */
export function isInRollout(versionId: string, taskId: string, rollout: number): boolean {
  return shareOf(`${versionId} ${taskId}`) * 100 < rollout;
}

/** Hashes a text to a number from 0 to 1, without 1: FNV-1a, then the mixing steps of MurmurHash3. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // FNV alone maps ids that differ only in their last characters to neighbouring numbers.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** A task that one version of an agent worked on alone, from its first run to its end. */
export interface ComparedTask {
  isDone: boolean;
  /** Null when the price of the model is unknown. */
  costUsd: number | null;
  /** How long its runs worked. */
  minutes: number;
  revisions: number;
}

/** A version of an agent with its tasks. */
export interface Arm {
  version: number;
  tasks: ComparedTask[];
}

export const measures = ['success', 'cost', 'time', 'revisions'] as const;
export type Measure = (typeof measures)[number];

/**
 * What the difference means for the later version. `chance` means that chance can explain it, `too_few` that there are
 * not enough tasks to say.
 */
export type Verdict = 'better' | 'worse' | 'chance' | 'too_few';

export interface ComparedMeasure {
  measure: Measure;
  earlier: Estimate | null;
  later: Estimate | null;
  /** By how much the later version is higher. */
  difference: Estimate | null;
  verdict: Verdict;
}

/** The p-value: how likely a difference this clear is if the versions do not differ. Null with too few tasks. */
type Chance = number | null;

export interface Comparison {
  measures: ComparedMeasure[];
  sentence: string;
}

/** Both versions need this many tasks, because the intervals of fewer are not reliable. */
const leastTasks = 10;
/** The significance level for success, the main measure. */
const rare = 0.05;
/** The normal quantile of 95 % intervals. */
const z95 = 1.959964;
/**
 * The normal quantile of 99 % intervals, for the other three measures. By Bonferroni, one of them is wrong in at most
 * 3 % of cases. The margin up to 5 % is needed because Welch's intervals are slightly too narrow for skewed costs.
 */
const zOfThree = 2.575829;

/**
 * Compares two versions of an agent. If they do not differ, it reports a difference in success in at most 5 % of cases,
 * and one in any of the other measures in at most 5 %.
 */
export function compareVersions(earlier: Arm, later: Arm): Comparison {
  const chance = chanceOf(earlier.tasks, later.tasks);
  const compared: ComparedMeasure[] = [
    compareSuccess(earlier.tasks, later.tasks, chance),
    compareMeans('cost', earlier.tasks, later.tasks, (task) => task.costUsd),
    compareMeans('time', earlier.tasks, later.tasks, (task) => task.minutes),
    compareMeans('revisions', earlier.tasks, later.tasks, (task) => task.revisions),
  ];
  return { measures: compared, sentence: sentenceOf(earlier, later, compared, chance) };
}

function chanceOf(earlier: ComparedTask[], later: ComparedTask[]): Chance {
  if (Math.min(earlier.length, later.length) < leastTasks) return null;
  const trialsOf = (tasks: ComparedTask[]) => ({ successes: countDone(tasks), trials: tasks.length });
  return chanceOfDifference(trialsOf(earlier), trialsOf(later));
}

const countDone = (tasks: ComparedTask[]) => tasks.filter(({ isDone }) => isDone).length;

function compareSuccess(earlier: ComparedTask[], later: ComparedTask[], chance: Chance): ComparedMeasure {
  const rateOf = (tasks: ComparedTask[]) => (tasks.length === 0 ? null : rate(countDone(tasks), tasks.length, z95));
  const [before, now] = [rateOf(earlier), rateOf(later)];
  const difference = chance !== null && before !== null && now !== null ? rateDifference(now, before) : null;
  const verdict = verdictOf(difference, 'higher', chance === null || chance > rare);
  return { measure: 'success', earlier: before, later: now, difference, verdict };
}

function compareMeans(
  measure: Measure,
  earlier: ComparedTask[],
  later: ComparedTask[],
  amountOf: (task: ComparedTask) => number | null,
): ComparedMeasure {
  const known = (tasks: ComparedTask[]) => tasks.map(amountOf).filter((value) => value !== null);
  const [before, now] = [known(earlier), known(later)];
  const meanOf = (values: number[]) => (values.length < leastTasks ? null : mean(values, z95));
  const isEnough = Math.min(before.length, now.length) >= leastTasks;
  const difference = isEnough ? meanDifference(now, before, zOfThree) : null;
  const isChance = difference === null || (difference.low <= 0 && difference.high >= 0);
  const verdict = verdictOf(difference, 'lower', isChance);
  return { measure, earlier: meanOf(before), later: meanOf(now), difference, verdict };
}

function verdictOf(difference: Estimate | null, good: 'higher' | 'lower', isChance: boolean): Verdict {
  if (difference === null) return 'too_few';
  if (isChance) return 'chance';
  return difference.value > 0 === (good === 'higher') ? 'better' : 'worse';
}

function sentenceOf(earlier: Arm, later: Arm, [success, ...others]: ComparedMeasure[], chance: Chance): string {
  const now = `version ${later.version}`;
  const [few, many] = [earlier.tasks.length, later.tasks.length];
  if (chance === null)
    return `Too few tasks to compare. While both versions took on tasks, version ${earlier.version} finished ${tasks(few)}, and ${now} finished ${tasks(many)}. Each needs ${leastTasks}.`;
  const [before, after] = [earlier, later].map((arm) => percent(countDone(arm.tasks) / arm.tasks.length));
  const rates = `Version ${earlier.version} succeeded in ${before} of ${few} tasks and ${now} in ${after} of ${many}.`;
  const explains = success?.verdict === 'chance' ? 'can explain' : 'hardly explains';
  const judged = `Chance ${explains} the difference: alone it would produce one as clear in ${percent(chance)} of comparisons.`;
  return [rates, judged, ...others.flatMap((other) => remark(later, other))].join(' ');
}

const words: Record<Exclude<Measure, 'success'>, Record<'better' | 'worse', string>> = {
  cost: { better: 'costs less', worse: 'costs more' },
  time: { better: 'takes less time', worse: 'takes more time' },
  revisions: { better: 'needs fewer revisions', worse: 'needs more revisions' },
};

function remark({ version }: Arm, { measure, verdict }: ComparedMeasure): string[] {
  if (measure === 'success' || verdict === 'chance' || verdict === 'too_few') return [];
  return [`Version ${version} ${words[measure][verdict]} per task; chance hardly explains that.`];
}

/** Small percentages have a decimal. */
function percent(value: number): string {
  if (value > 0 && value < 0.001) return 'less than 0.1%';
  return `${value < 0.1 ? Math.round(value * 1000) / 10 : Math.round(value * 100)}%`;
}

const tasks = (count: number) => `${count} ${count === 1 ? 'task' : 'tasks'}`;
