import type { App } from './app.ts';
import { deleteOldAuditRecords } from './audit/store.ts';
import { deleteOldDeliveries } from './github/deliveries/delivery-store.ts';
import { deleteOldSignIns } from './github/sign-in/login-store.ts';
import { forgetOldKeys } from './http/idempotency.ts';
import { forgetOldEvents } from './projects/event-store.ts';
import { deleteOldContexts } from './runs/lease/context-store.ts';
import { deleteOldEvents } from './runs/lease/journal-store.ts';
import { deleteOldTurns } from './runs/lease/turn-store.ts';

/** Rows deleted by one statement, so that it does not hold locks for long. */
const portion = 500;
/** Time limit for one table. The rest is removed by the next sweep. */
const patienceMs = 60_000;

/** Removes rows that are older than the settings say; 0 days keep them forever. */
export async function removeOld(app: App): Promise<void> {
  const { KEEP_DELIVERIES, KEEP_RUN_EVENTS, KEEP_TURNS, AUDIT_DAYS } = app.config;
  const em = app.db.manager;
  await inPortions(app, KEEP_DELIVERIES, (days) => deleteOldDeliveries(em, days, portion));
  await inPortions(app, KEEP_RUN_EVENTS, (days) => deleteOldEvents(em, days, portion));
  await inPortions(app, KEEP_TURNS, (days) => deleteOldTurns(em, days, portion));
  await inPortions(app, KEEP_TURNS, (days) => deleteOldContexts(em, days, portion));
  await inPortions(app, AUDIT_DAYS, (days) => deleteOldAuditRecords(em, days, portion));
  await deleteOldSignIns(em);
  await forgetOldKeys(app.db);
  await forgetOldEvents(em);
}

async function inPortions(app: App, days: number, remove: (days: number) => Promise<number>): Promise<void> {
  if (days === 0) return;
  const end = performance.now() + patienceMs;
  let removed = portion;
  while (removed === portion && performance.now() < end && !app.stopping.aborted) removed = await remove(days);
}
