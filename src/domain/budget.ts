/** The limits of one run, and of all runs of a project in a day. */
export interface Budgets {
  runMinutes: number;
  runSteps: number;
  runTokens: number;
  runCostUsd: number;
  dayCostUsd: number;
}

/** The limits that a project or a repository sets; null leaves the limit to the service. */
export type ProjectBudgets = { [name in keyof Budgets]: number | null };

/** The budgets that are given; undefined and null give none. */
export type SomeBudgets = { [key in keyof Budgets]?: number | null | undefined };

const budgetKeys = ['runMinutes', 'runSteps', 'runTokens', 'runCostUsd', 'dayCostUsd'] as const;

/** The budgets that exceed the limits of the service. */
export function aboveLimit(budgets: SomeBudgets, limits: Budgets): (keyof Budgets)[] {
  return budgetKeys.filter((key) => (budgets[key] ?? 0) > limits[key]);
}

/** The budgets below the limits of the service. Only raising one of these gives a run more. */
export function belowLimit(budgets: SomeBudgets, limits: Budgets): (keyof Budgets)[] {
  return budgetKeys.filter((key) => (budgets[key] ?? limits[key]) < limits[key]);
}

/** For each budget the lower of the two limits. */
export function lowest(service: Budgets, own: ProjectBudgets): Budgets {
  const pick = (key: keyof Budgets) => Math.min(service[key], own[key] ?? Number.POSITIVE_INFINITY);
  return {
    runMinutes: pick('runMinutes'),
    runSteps: pick('runSteps'),
    runTokens: pick('runTokens'),
    runCostUsd: pick('runCostUsd'),
    dayCostUsd: pick('dayCostUsd'),
  };
}

/** What a run, and for `dayCostUsd` the project today, has used so far. */
export interface Spent {
  steps: number;
  tokens: number;
  costUsd: number;
  dayCostUsd: number;
}

/** The first budget that is used up, as a clause for people; undefined while none is. */
export function exhausted(limits: Budgets, spent: Spent): string | undefined {
  if (spent.steps >= limits.runSteps) return `the budget of ${limits.runSteps} steps is used up`;
  if (spent.tokens >= limits.runTokens) return `the budget of ${limits.runTokens} tokens is used up`;
  if (spent.costUsd >= limits.runCostUsd) return `the budget of $${limits.runCostUsd} for a run is used up`;
  if (spent.dayCostUsd >= limits.dayCostUsd) return `the project's budget of $${limits.dayCostUsd} a day is used up`;
  return undefined;
}
