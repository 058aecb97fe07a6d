import { type LimitSetter, limitNote } from './remedies.ts';

/** Limits of one run, and the limit for the cost of all runs of a project in one day (UTC). */
export interface Budgets {
  runMinutes: number;
  runSteps: number;
  runTokens: number;
  runCostUsd: number;
  dayCostUsd: number;
}

/** The limits that a project or a repository sets; null where it sets none. */
export type ProjectBudgets = { [name in keyof Budgets]: number | null };

/** A limit that applies, and who set it. */
export interface Limit {
  value: number;
  setBy: LimitSetter;
}

export type Limits = Record<keyof Budgets, Limit>;

const names = ['runMinutes', 'runSteps', 'runTokens', 'runCostUsd', 'dayCostUsd'] as const;

/** Some budgets. Undefined and null mean that a budget is not given. */
export type SomeBudgets = { [key in keyof Budgets]?: number | null | undefined };

/** Returns the names of the budgets that exceed the limits of the service. */
export function aboveLimit(budgets: SomeBudgets, limits: Budgets): (keyof Budgets)[] {
  return names.filter((name) => (budgets[name] ?? 0) > limits[name]);
}

export function limitsOfService(budgets: Budgets): Limits {
  return Object.fromEntries(names.map((name) => [name, { value: budgets[name], setBy: 'service' }])) as Limits;
}

/** Applies the limits that a project or a repository sets. They can only lower a limit. */
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
  return exhaustedDay(dayCostUsd, spent.dayCostUsd);
}

/** Returns the same sentence, but checks only the cost of the project's day. */
export function exhaustedDay({ value, setBy }: Limit, spentUsd: number): string | undefined {
  if (spentUsd < value) return undefined;
  return `the project's budget of $${value} a day is used up ${limitNote(setBy, true)}`;
}
