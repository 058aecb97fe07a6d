import { type LimitSetter, limitNote } from './remedies.ts';

/** Limits of one run, and of what all runs of a project may cost in one day (UTC). */
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

/** The budgets that are given; undefined and null give none. */
export type SomeBudgets = { [key in keyof Budgets]?: number | null | undefined };

/** The budgets that exceed the limits of the service. */
export function aboveLimit(budgets: SomeBudgets, limits: Budgets): (keyof Budgets)[] {
  return names.filter((name) => (budgets[name] ?? 0) > limits[name]);
}

export function limitsOfService(budgets: Budgets): Limits {
  return Object.fromEntries(names.map((name) => [name, { value: budgets[name], setBy: 'service' }])) as Limits;
}

/** The limits after a project or a repository set its own. They can only lower a limit. */
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
}

/** The first limit that is used up, as a sentence that names who set it; undefined while there is room in all. */
export function exhausted(limits: Limits, spent: Spent): string | undefined {
  const { runSteps, runTokens, runCostUsd, dayCostUsd } = limits;
  const usedUp = (budget: string, { setBy }: Limit) => `the budget of ${budget} is used up ${limitNote(setBy)}`;
  if (spent.steps >= runSteps.value) return usedUp(`${runSteps.value} steps`, runSteps);
  if (spent.tokens >= runTokens.value) return usedUp(`${runTokens.value} tokens`, runTokens);
  if (spent.costUsd >= runCostUsd.value) return usedUp(`$${runCostUsd.value} for a run`, runCostUsd);
  return exhaustedDay(dayCostUsd, spent.dayCostUsd);
}

/** The same for the cost of a project's day alone. */
export function exhaustedDay({ value, setBy }: Limit, spentUsd: number): string | undefined {
  if (spentUsd < value) return undefined;
  return `the project's budget of $${value} a day is used up ${limitNote(setBy, true)}`;
}
