import type { App } from '../app.ts';
import { lostRace } from '../db/database.ts';
import { asOne } from './audited.ts';
import { knownError, replyOf } from './error-reply.ts';
import type { EventStream } from './events.ts';
import type { Attempt } from './idempotency.ts';
import type { Route } from './route.ts';

type Input = Parameters<typeof asOne>[2];

/** Maximum number of attempts after lost races. The last error is then returned. */
const maxTries = 3;

export interface Reply {
  status: number;
  /** JSON text. */
  body: string | undefined;
}

/**
 * Runs an operation and returns its reply. The record of a write and, with an `Idempotency-Key`, the reply are stored in
 * the same transaction as the operation's writes, as far as the route allows (see `waits`). An operation that lost a race
 * has been rolled back, so it is retried with what `load` then returns.
 */
export async function answerOnce<I extends Input>(
  app: App,
  declared: Route,
  attempt: Attempt | undefined,
  answer: (input: I) => Promise<Reply>,
  load: { first: I; again: () => Promise<I> },
): Promise<Reply> {
  if (declared.audit === undefined) return withRetries(answer, load);
  const kept = async (input: I) => {
    const reply = await answer(input);
    await attempt?.keep({ status: reply.status, body: declared.isSecret ? null : (reply.body ?? '') });
    return reply;
  };
  try {
    return await withRetries((input) => asOne(app, declared, input, () => kept(input)), load);
  } catch (error) {
    if (attempt === undefined) throw error;
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
  { declared, input }: { declared: Route; input: Input },
  attempt: Attempt | undefined,
  out: EventStream,
  tell: (out: EventStream) => Promise<void>,
): Promise<void> {
  if (declared.audit === undefined) return tell(out);
  let done: Parameters<EventStream['send']>[0] | undefined;
  const send: EventStream['send'] = (event) => {
    if (event.event === 'done') done = event;
    else out.send(event);
  };
  try {
    await asOne(app, declared, input, async () => {
      await tell({ ...out, send });
      if (done !== undefined) await attempt?.keep({ status: 200, body: JSON.stringify(done.data) });
    });
  } catch (error) {
    await attempt?.forget();
    throw error;
  }
  if (done === undefined) await attempt?.forget();
  else out.send(done);
}

async function withRetries<I, T>(
  act: (input: I) => Promise<T>,
  { first, again }: { first: I; again: () => Promise<I> },
): Promise<T> {
  let input = first;
  for (let tries = 1; ; tries++)
    try {
      return await act(input);
    } catch (error) {
      if (!lostRace(error) || tries === maxTries) throw error;
      input = await again();
    }
}
