import type { App } from '../app.ts';
import { lostRace } from '../db/database.ts';
import { knownError, replyOf } from './error-reply.ts';
import type { EventStream } from './events.ts';
import type { Attempt } from './idempotency.ts';
import type { Route } from './route.ts';

/** Maximum number of attempts after lost races. The last error is then returned. */
const maxTries = 3;

export interface Reply {
  status: number;
  /** JSON text. */
  body: string | undefined;
}

/**
 * Runs an operation and returns its reply. With an `Idempotency-Key` the reply is stored in the same transaction as the
 * operation's writes, as far as the route allows (see `waits`). An operation that lost a race has been rolled back, so
 * it is retried after `reload`.
 */
export async function answerOnce(
  app: App,
  declared: Route,
  attempt: Attempt | undefined,
  answer: () => Promise<Reply>,
  reload: () => Promise<unknown>,
): Promise<Reply> {
  if (attempt === undefined) return withRetries(answer, reload);
  const kept = async () => {
    const reply = await answer();
    await attempt.keep({ status: reply.status, body: declared.isSecret ? null : (reply.body ?? '') });
    return reply;
  };
  try {
    return await withRetries(() => together(app, declared, kept), reload);
  } catch (error) {
    // The transaction was rolled back. A conflict is a final reply; after any other error the request may be repeated.
    const known = knownError(error);
    if (known.status === 409) await attempt.keep({ status: 409, body: JSON.stringify(replyOf(known)) });
    else await attempt.forget();
    throw error;
  }
}

/**
 * Does the same as `answerOnce` for a stream. Stores the data of the `done` event as the reply, and then sends that
 * event.
 */
export async function streamOnce(
  app: App,
  declared: Route,
  attempt: Attempt | undefined,
  out: EventStream,
  tell: (out: EventStream) => Promise<void>,
): Promise<void> {
  if (attempt === undefined) return tell(out);
  let done: Parameters<EventStream['send']>[0] | undefined;
  const send: EventStream['send'] = (event) => {
    if (event.event === 'done') done = event;
    else out.send(event);
  };
  try {
    await together(app, declared, async () => {
      await tell({ ...out, send });
      if (done !== undefined) await attempt.keep({ status: 200, body: JSON.stringify(done.data) });
    });
  } catch (error) {
    await attempt.forget();
    throw error;
  }
  if (done === undefined) await attempt.forget();
  else out.send(done);
}

function together<T>(app: App, { waits }: Route, act: () => Promise<T>): Promise<T> {
  if (waits === 'between writes') return act();
  return app.db.together(waits === undefined ? 'start' : 'first transaction', act);
}

async function withRetries<T>(act: () => Promise<T>, reload: () => Promise<unknown>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await act();
    } catch (error) {
      if (!lostRace(error) || tries === maxTries) throw error;
      await reload();
    }
}
