/** Limits of one run, and of a project's day. */
export interface Budgets {
  runMinutes: number;
  runSteps: number;
  runTokens: number;
  runCostUsd: number;
  dayCostUsd: number;
}

/** A project's own limits; null means "the environment's". */
export type ProjectBudgets = { [name in keyof Budgets]: number | null };

/** The lower of the two limits, each. */
export function lowest(environment: Budgets, project: ProjectBudgets): Budgets {
  const pick = (name: keyof Budgets) => Math.min(environment[name], project[name] ?? Number.POSITIVE_INFINITY);
  return {
    runMinutes: pick('runMinutes'),
    runSteps: pick('runSteps'),
    runTokens: pick('runTokens'),
    runCostUsd: pick('runCostUsd'),
    dayCostUsd: pick('dayCostUsd'),
  };
}

export interface Spent {
  steps: number;
  tokens: number;
  costUsd: number;
  dayCostUsd: number;
}

/** Which limit is used up, as a sentence; undefined while there is room. */
export function exhausted(limits: Budgets, spent: Spent): string | undefined {
  if (spent.steps >= limits.runSteps) return `the budget of ${limits.runSteps} steps is used up`;
  if (spent.tokens >= limits.runTokens) return `the budget of ${limits.runTokens} tokens is used up`;
  if (spent.costUsd >= limits.runCostUsd) return `the budget of $${limits.runCostUsd} for a run is used up`;
  if (spent.dayCostUsd >= limits.dayCostUsd) return `the project's budget of $${limits.dayCostUsd} a day is used up`;
  return undefined;
}
