import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import type { Database } from '../db/database.ts';
import { hasRole } from '../domain/agent.ts';
import {
  aboveLimit,
  type Budgets,
  exhaustedDay,
  exhaustedPersonDay,
  keysAbove,
  type Limits,
  limitsOfService,
  lowerLimits,
  type RunBudget,
  type SomeBudgets,
} from '../domain/budget.ts';
import { Refused } from '../domain/machine.ts';
import { AppError, badRequest } from '../errors.ts';
import type { TokenUsage } from '../llm/usage.ts';
import { roleIn } from './member-store.ts';
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
 * Returns for whom the work of a project takes turns: for the person who created it without an installation, because more
 * projects would be more turns, otherwise for the project.
 */
export async function tenantOfProject(em: EntityManager, projectId: string): Promise<string> {
  return (await creatorOf(em, projectId)) ?? projectId;
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

/** Returns what a project has cost today (UTC) so far, in US dollars. */
export async function costOfDay(em: EntityManager, projectId: string): Promise<number> {
  const [row]: [{ cost: number }] = await em.query(
    `select coalesce(sum(cost_usd), 0)::float8 as cost from spend_days
     where project_id = $1 and day = (now() at time zone 'UTC')::date`,
    [projectId],
  );
  return row.cost;
}

/** Returns a sentence if the budgets of a project and of its creator are used up for today (UTC); otherwise undefined. */
export async function dayIsOver(app: App, projectId: string): Promise<string | undefined> {
  const em = app.db.manager;
  const { dayCostUsd } = await limitsOf(app, projectId);
  return (
    exhaustedDay(dayCostUsd, await costOfDay(em, projectId)) ??
    (await personDayIsOver(app, await creatorOf(em, projectId)))
  );
}

/** @throws AppError 429 if there is a sentence that a budget is used up for today */
export function assertDay(usedUp: string | undefined): void {
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

/** What an answer of a model has used. */
export interface Paid extends TokenUsage {
  /** The name of the model. */
  model: string;
  /** Null for a model without a price. */
  costUsd: number | null;
}

/** What a call of a model is for. The task says its sprint and its repository. */
export interface Purpose {
  /** The person who asked; null for nobody. */
  userId: string | null;
  taskId?: string | undefined;
  sprintId?: string | null | undefined;
  repositoryId?: string | undefined;
}

/** The project, and the agent or person whose model calls are counted. */
interface Worker extends Purpose {
  projectId: string;
  agentId: string | null;
}

/**
 * Pays for an answer of a model. It counts for the project, unless `count` has stored it so that it does. When the project
 * was deleted, it counts for the person who created it.
 */
export async function payForCall(
  db: Database,
  worker: Worker,
  creatorId: string | null,
  usage: Paid,
  count: (em: EntityManager) => Promise<boolean> = async () => false,
): Promise<void> {
  await db.transaction(async (em) => {
    // Deletion locks the project before its runs. The opposite order would be a deadlock.
    const projects: unknown[] = await em.query('select 1 from projects where id = $1 for key share', [
      worker.projectId,
    ]);
    if (projects.length === 0) {
      if (creatorId !== null) await addPersonSpend(em, creatorId, usage.costUsd ?? 0);
    } else if (!(await count(em))) await addSpend(em, worker, usage);
  });
}

/** Adds tokens to what a project has used today. A trigger adds their cost to that of the project's creator. */
async function addSpend(
  em: EntityManager,
  { projectId, agentId, userId, taskId, sprintId, repositoryId }: Worker,
  { model, costUsd, inputTokens, cachedInputTokens, outputTokens }: Paid,
): Promise<void> {
  await em.query(`select add_spend($1, (now() at time zone 'UTC')::date, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, [
    ...[projectId, agentId, userId, model, taskId ?? null, sprintId ?? null, repositoryId ?? null],
    ...[costUsd ?? 0, inputTokens, cachedInputTokens, outputTokens],
  ]);
}

/** How many comments an hour (UTC, from :00) may call the model of a project, for each person who has no role in it or is a viewer. */
const maxAsksOfStranger = 20;

/**
 * Counts a comment that calls the model of a project. For members, only the budget is a limit. Viewers count as people
 * without a role: they could comment before somebody made them viewers, too.
 * @throws Refused if the person is no member and has used up this hour
 */
export async function countAsk({ db }: App, projectId: string, userId: string): Promise<void> {
  const role = await roleIn(db.manager, projectId, userId);
  if (role !== undefined && hasRole(role, 'member')) return;
  const [row]: [{ count: number }] = await db.manager.query(
    `insert into asks_of_strangers as a values ($1, date_trunc('hour', now()), 1)
     on conflict (user_id) do update set hour = excluded.hour,
       count = case when a.hour = excluded.hour then a.count + 1 else 1 end
     returning count`,
    [userId],
  );
  if (row.count > maxAsksOfStranger)
    throw new Refused(
      `People who are not members of the project, or only view it, can use \`ask\` and \`plan\` ${maxAsksOfStranger} times an hour. Try again in the next hour.`,
    );
}
