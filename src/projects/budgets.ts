import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import {
  aboveLimit,
  type Budgets,
  keysAbove,
  type Limits,
  limitsOfService,
  lowerLimits,
  type RunBudget,
  type SomeBudgets,
} from '../domain/budget.ts';
import { badRequest } from '../errors.ts';
import { findProject, ownBudgets } from './store.ts';

/** The environment variable that sets each limit of the service. */
const settings = {
  runMinutes: 'MAX_RUN_MINUTES',
  runSteps: 'MAX_RUN_STEPS',
  runTokens: 'MAX_RUN_TOKENS',
  runCostUsd: 'MAX_RUN_COST_USD',
  dayCostUsd: 'MAX_PROJECT_DAY_COST_USD',
} as const satisfies Record<keyof Budgets, keyof App['config']>;

/** Returns the limits of this service, which no project can exceed. */
export function serviceLimits({ config }: App): Budgets {
  return {
    runMinutes: config[settings.runMinutes],
    runSteps: config[settings.runSteps],
    runTokens: config[settings.runTokens],
    runCostUsd: config[settings.runCostUsd],
    dayCostUsd: config[settings.dayCostUsd],
  };
}

/** Returns the limits for the runs of a project: those of the service, lowered by the project's own. */
export async function limitsOf(app: App, projectId: string, em = app.db.manager): Promise<Limits> {
  const own = ownBudgets(await findProject(em, projectId));
  return lowerLimits(limitsOfService(serviceLimits(app)), 'project', own);
}

/**
 * Checks budgets against the limits of the service.
 * @throws AppError 400 naming each budget that exceeds its limit
 */
export function assertWithinLimits(app: App, budgets: SomeBudgets): void {
  const limits = serviceLimits(app);
  const problems = aboveLimit(budgets, limits).map((key) => ({
    path: `budgets.${key}`,
    message: `budgets.${key} must be at most ${limits[key]}, the limit of this service (${settings[key]})`,
  }));
  if (problems.length > 0) throw badRequest(problems);
}

/**
 * Checks the budget of a task against the limits of its project and of the service.
 * @throws AppError 400 naming each key that exceeds a limit
 */
export async function assertTaskBudgetWithin(
  app: App,
  em: EntityManager,
  projectId: string,
  budget: RunBudget,
): Promise<void> {
  const problems = keysAbove(budget, await limitsOf(app, projectId, em)).map(({ key, name, limit }) => {
    const whose = limit.setBy === 'service' ? `service (${settings[name]})` : limit.setBy;
    const path = `budget.${key}`;
    return { path, message: `${path} must be at most ${limit.value}, the limit of this ${whose}` };
  });
  if (problems.length > 0) throw badRequest(problems);
}
