import { type LimitSetter, limitNote } from './run.ts';

/** Limits of one run, and the limit for the cost of all runs of a project in one day (UTC). */
export interface Budgets {
  runMinutes: number;
  runSteps: number;
  runTokens: number;
  runCostUsd: number;
  dayCostUsd: number;
}

/** The limits that a project, a repository or a task sets; null where it sets none. */
export type ProjectBudgets = { [name in keyof Budgets]: number | null };

/** A limit that applies, and who set it. */
export interface Limit {
  value: number;
  setBy: LimitSetter;
}

export type Limits = Record<keyof Budgets, Limit>;

const names = ['runMinutes', 'runSteps', 'runTokens', 'runCostUsd', 'dayCostUsd'] as const;

/** What people limit for each run of a task, and repositories for each of their runs. */
export const runBudgetKeys = ['costUsd', 'steps', 'minutes', 'tokens'] as const;
export type RunBudgetKey = (typeof runBudgetKeys)[number];
export type RunBudget = { [key in RunBudgetKey]?: number | undefined };

/** The limit of a project that a part of a task's budget lowers. */
export const limitNames = {
  costUsd: 'runCostUsd',
  steps: 'runSteps',
  minutes: 'runMinutes',
  tokens: 'runTokens',
} as const satisfies Record<RunBudgetKey, keyof Budgets>;

/** Returns the limits that a budget sets; null where it sets none. */
export function limitsInBudget({ minutes, steps, tokens, costUsd }: RunBudget): ProjectBudgets {
  return {
    runMinutes: minutes ?? null,
    runSteps: steps ?? null,
    runTokens: tokens ?? null,
    runCostUsd: costUsd ?? null,
    dayCostUsd: null,
  };
}

/** Returns the keys of a budget that exceed a limit, with that limit. */
export function keysAbove(budget: RunBudget, limits: Limits) {
  const all = runBudgetKeys.map((key) => ({ key, name: limitNames[key], limit: limits[limitNames[key]] }));
  return all.filter(({ key, limit }) => (budget[key] ?? 0) > limit.value);
}

/** Writes a cost in US dollars. Less than a cent is called so, and not `$0.00`. */
export const costText = (cost: number): string => (cost > 0 && cost < 0.01 ? 'under $0.01' : `$${cost.toFixed(2)}`);

/** Writes a budget for people, such as `$8, 200 steps` or `$0.50`. */
export function budgetText(budget: RunBudget): string {
  const amount = (key: RunBudgetKey, value: number) => {
    if (key === 'costUsd')
      return `$${value.toLocaleString('en', { minimumFractionDigits: Number.isInteger(value) ? 0 : 2, maximumFractionDigits: 6 })}`;
    return `${value.toLocaleString('en')} ${value === 1 ? key.slice(0, -1) : key}`;
  };
  return runBudgetKeys.flatMap((key) => (budget[key] === undefined ? [] : [amount(key, budget[key])])).join(', ');
}

/** The words for parts of a budget in comments. `$8` is read as `usd 8`. */
const words: Record<string, RunBudgetKey> = {
  usd: 'costUsd',
  cost: 'costUsd',
  costusd: 'costUsd',
  step: 'steps',
  steps: 'steps',
  minute: 'minutes',
  minutes: 'minutes',
  token: 'tokens',
  tokens: 'tokens',
};

/** Reads a budget that a person wrote, such as `$8`, `steps 200` or `$8, 200 steps`. Undefined for anything else. */
export function readBudget(text: string): RunBudget | undefined {
  const spelled = text.toLowerCase().replace(/\$/g, ' usd ');
  const parts = spelled.replace(/(\d),(?=\d{3}(?!\d))/g, '$1').split(/[\s,]+/);
  const given = parts.filter((part) => part !== '');
  const budget: RunBudget = {};
  for (let i = 0; i < given.length; i += 2) {
    const [first = '', second = ''] = [given[i], given[i + 1]];
    const [word, amount] = Object.hasOwn(words, first) ? [first, second] : [second, first];
    const key = Object.hasOwn(words, word) ? words[word] : undefined;
    if (key === undefined || !/^\d{1,12}(\.\d{1,6})?$/.test(amount) || !isAmount(key, Number(amount))) return undefined;
    budget[key] = Number(amount);
  }
  return given.length === 0 ? undefined : budget;
}

/** Returns whether a number can limit a run. Steps and tokens are counted in whole numbers. */
export function isAmount(key: RunBudgetKey, value: number): boolean {
  return value > 0 && (key === 'costUsd' || key === 'minutes' || Number.isInteger(value));
}

/** Some budgets. Undefined and null mean that a budget is not given. */
export type SomeBudgets = { [key in keyof Budgets]?: number | null | undefined };

/** Returns the names of the budgets that exceed the limits of the service. */
export function aboveLimit(budgets: SomeBudgets, limits: Budgets): (keyof Budgets)[] {
  return names.filter((name) => (budgets[name] ?? 0) > limits[name]);
}

export function limitsOfService(budgets: Budgets): Limits {
  return Object.fromEntries(names.map((name) => [name, { value: budgets[name], setBy: 'service' }])) as Limits;
}

/** Applies the limits that a project, a repository or a task sets. They can only lower a limit. */
export function lowerLimits(limits: Limits, setBy: LimitSetter, own: ProjectBudgets): Limits {
  const lower = (name: keyof Budgets): Limit => {
    const value = own[name];
    return value !== null && value < limits[name].value ? { value, setBy } : limits[name];
  };
  return Object.fromEntries(names.map((name) => [name, lower(name)])) as Limits;
}

/** What a run, and for `dayCostUsd` the project today, has used so far. */
export interface Spent {
  steps: number;
  tokens: number;
  costUsd: number;
  dayCostUsd: number;
  /** Why the projects of the person who created this one may cost no more today; undefined while they may. */
  personDayIsOver?: string | undefined;
  /** Since the run was first started, without the time that it waited. */
  minutes: number;
}

/** From this share on, an agent is warned that a limit of its run is almost used up. */
const warningShare = 0.8;

/** A limit of a run that is almost used up. */
export interface NearLimit {
  unit: 'steps' | 'tokens' | 'dollars' | 'minutes';
  used: number;
  value: number;
}

/** Returns the limits of the run that are almost used up. */
export function nearLimits(limits: Limits, spent: Spent): NearLimit[] {
  const all: NearLimit[] = [
    { unit: 'steps', used: spent.steps, value: limits.runSteps.value },
    { unit: 'tokens', used: spent.tokens, value: limits.runTokens.value },
    { unit: 'dollars', used: Math.round(spent.costUsd * 100) / 100, value: limits.runCostUsd.value },
    { unit: 'minutes', used: Math.floor(spent.minutes * 10) / 10, value: limits.runMinutes.value },
  ];
  return all.filter(({ used, value }) => used >= warningShare * value);
}

/**
 * Returns a sentence about the first limit that is used up, which names who set it; undefined if no limit is used up.
 */
export function exhausted(limits: Limits, spent: Spent): string | undefined {
  const { runSteps, runTokens, runCostUsd, dayCostUsd } = limits;
  const usedUp = (budget: string, { setBy }: Limit) => `the budget of ${budget} is used up ${limitNote(setBy)}`;
  if (spent.steps >= runSteps.value) return usedUp(`${runSteps.value} steps`, runSteps);
  if (spent.tokens >= runTokens.value) return usedUp(`${runTokens.value} tokens`, runTokens);
  if (spent.costUsd >= runCostUsd.value) return usedUp(`$${runCostUsd.value} for a run`, runCostUsd);
  return exhaustedDay(dayCostUsd, spent.dayCostUsd) ?? spent.personDayIsOver;
}

/** Returns the same sentence, but checks only the cost of the project's day. */
export function exhaustedDay({ value, setBy }: Limit, spentUsd: number): string | undefined {
  if (spentUsd < value) return undefined;
  return `the project's budget of $${value} a day is used up ${limitNote(setBy, true)}`;
}

/** Returns the same sentence, but checks only what the projects that a person created have cost on a day. */
export function exhaustedPersonDay(limitUsd: number, spentUsd: number): string | undefined {
  if (spentUsd < limitUsd) return undefined;
  return `the budget of $${limitUsd} a day for all projects that one person created without the GitHub App is used up ${limitNote('service', true)}`;
}

/** Returns the budget that somebody gives a task; null for one without limits. */
export const givenBudget = (budget: RunBudget | null | undefined): RunBudget | null =>
  budget && Object.keys(budget).length > 0 ? budget : null;
