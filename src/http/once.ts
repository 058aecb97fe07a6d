import type { App } from '../app.ts';
import { lostRace } from '../db/database.ts';
import { knownError, replyOf } from './error-reply.ts';
import type { EventStream } from './events.ts';
import type { Attempt } from './idempotency.ts';
import type { Route } from './route.ts';

/** When others are faster every time, the last error is the answer. */
const maxTries = 3;

interface Reply {
  status: number;
  /** JSON text. */
  body: string | undefined;
}

/**
 * Answers a request. With an `Idempotency-Key` what it does and its reply are stored in one transaction, as far as the
 * route allows (see `waits`). An operation that lost a race has written nothing, so it is tried again from the
 * beginning after `lookAgain`.
 */
export async function answerOnce(
  app: App,
  declared: Route,
  attempt: Attempt | undefined,
  answer: () => Promise<Reply>,
  lookAgain: () => Promise<unknown>,
): Promise<Reply> {
  if (attempt === undefined) return withRetries(answer, lookAgain);
  const kept = async () => {
    const reply = await answer();
    await attempt.keep({ status: reply.status, body: declared.isSecret ? null : (reply.body ?? '') });
    return reply;
  };
  try {
    return await withRetries(() => together(app, declared, kept), lookAgain);
  } catch (error) {
    // Rolled back: a refusal by the state is a final reply, anything else may be mended and sent again.
    const known = knownError(error);
    if (known.status === 409) await attempt.keep({ status: 409, body: JSON.stringify(replyOf(known)) });
    else await attempt.forget();
    throw error;
  }
}

/** The same for a stream. Its reply is the data of `done`, which is sent once it is kept. */
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

async function withRetries<T>(act: () => Promise<T>, lookAgain: () => Promise<unknown>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await act();
    } catch (error) {
      if (!lostRace(error) || tries === maxTries) throw error;
      await lookAgain();
    }
}
