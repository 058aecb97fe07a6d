import type { App } from '../app.ts';
import { typeOfAction } from '../domain/audit/action.ts';
import type { Caller } from './access/access.ts';
import { type Audited, Preview, Repeated, type Route } from './route.ts';

type Input = { user?: Caller };

/**
 * Runs one attempt at an operation. For a write this is one transaction, as far as the route allows (see `waits`), and
 * that transaction also contains the record in the audit log.
 */
export function asOne<T>(app: App, { audit, waits }: Route, input: Input, work: () => Promise<T>): Promise<T> {
  const whole = () =>
    waits === 'between writes' ? work() : app.db.together(waits === undefined ? 'start' : 'first transaction', work);
  const { user } = input;
  if (audit === undefined || user === undefined) return whole();
  const object = audit.object && { type: typeOfAction(audit.action), ...subjectOf(audit.object(input)) };
  return app.audit.during({ userId: user.id, via: user.via, action: audit.action, object }, whole);
}

/** Completes the record of the operation with what is known from its result. */
export function noteResult(app: App, { audit }: Route, input: Input, result: unknown): void {
  // An earlier request did the work and has a record, or there was no work.
  if (result instanceof Repeated || result instanceof Preview) app.audit.note({});
  else if (audit?.made !== undefined)
    app.audit.about({ type: typeOfAction(audit.action), ...subjectOf(audit.made(result, input)) });
}

function subjectOf({ id, projectId }: ReturnType<NonNullable<Audited<unknown, unknown>['object']>>) {
  return { id, projectId };
}
