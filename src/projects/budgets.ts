import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import {
  aboveLimit,
  type Budgets,
  exhaustedPersonDay,
  keysAbove,
  type Limits,
  limitsOfService,
  lowerLimits,
  type RunBudget,
  type SomeBudgets,
} from '../domain/budget.ts';
import { AppError, badRequest } from '../errors.ts';
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

/** Returns who created a project without an installation; null for the project of an installation. */
export async function creatorOf(em: EntityManager, projectId: string): Promise<string | null> {
  const [row]: { createdBy: string | null }[] = await em.query(
    'select created_by as "createdBy" from projects where id = $1',
    [projectId],
  );
  return row?.createdBy ?? null;
}

/**
 * Returns a sentence if the projects that a person created, and the person's own agents, have used up their budget for
 * today (UTC); undefined otherwise, and for null.
 */
export async function personDayIsOver({ config, db }: App, userId: string | null): Promise<string | undefined> {
  if (userId === null) return undefined;
  const [row]: { cost: number }[] = await db.manager.query(
    `select cost_usd::float8 as cost from person_spend_days where user_id = $1 and day = (now() at time zone 'UTC')::date`,
    [userId],
  );
  return exhaustedPersonDay(config.MAX_PERSON_DAY_COST_USD, row?.cost ?? 0);
}

/** @throws AppError 429 while `personDayIsOver` */
export async function assertPersonDay(app: App, userId: string): Promise<void> {
  const usedUp = await personDayIsOver(app, userId);
  if (usedUp !== undefined)
    throw new AppError(429, `${usedUp[0]?.toUpperCase()}${usedUp.slice(1)}. Try again tomorrow (UTC).`);
}

/** Adds the cost of a call that belongs to no run to what a person's projects have cost today. */
export async function addPersonSpend(em: EntityManager, userId: string, costUsd: number): Promise<void> {
  await em.query(
    `insert into person_spend_days as s values ($1, (now() at time zone 'UTC')::date, $2)
     on conflict (user_id, day) do update set cost_usd = s.cost_usd + excluded.cost_usd`,
    [userId, costUsd],
  );
}
