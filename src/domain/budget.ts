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

/** For each budget the lower of the two limits. */
export function lowest(service: Budgets, own: ProjectBudgets): Budgets {
  const pick = (name: keyof Budgets) => Math.min(service[name], own[name] ?? Number.POSITIVE_INFINITY);
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
