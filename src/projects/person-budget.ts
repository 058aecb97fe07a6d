import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { exhaustedPersonDay } from '../domain/budget.ts';
import { AppError } from '../errors.ts';

/** Returns who created a project without an installation; null for the project of an installation. */
export async function creatorOf(em: EntityManager, projectId: string): Promise<string | null> {
  const [row] = await em.query('select created_by as "createdBy" from projects where id = $1', [projectId]);
  return row?.createdBy ?? null;
}

/**
 * Returns a sentence if the projects that a person created, and the person's own agents, have used up their budget for
 * today (UTC); undefined otherwise, and for null.
 */
export async function personDayIsOver({ config, db }: App, userId: string | null): Promise<string | undefined> {
  if (userId === null) return undefined;
  const [row] = await db.manager.query(
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
