import { createHash, randomUUID } from 'node:crypto';
import type { Request } from 'express';
import type { App } from '../app.ts';
import { type Database, lostRace } from '../db/database.ts';
import { isGone } from '../db/presence.ts';
import { typeOfAction } from '../domain/audit.ts';
import { AppError, badField } from '../errors.ts';
import type { Caller } from './access/access.ts';
import { knownError, replyOf } from './error-reply.ts';
import type { EventStream } from './events.ts';
import { type Audited, type Keyed, Preview, Repeated, type Route, waitsOf } from './route.ts';

type Acting = { user?: Caller; body?: unknown };

/**
 * Runs one attempt at an operation. For a write this is one transaction, as far as the route allows (see `waits`), and
 * that transaction also contains the record in the audit log.
 */
export function asOne<T>(app: App, declared: Route, input: Acting, work: () => Promise<T>): Promise<T> {
  const { audit } = declared;
  const waits = waitsOf(declared, input.body);
  const whole = () =>
    waits === 'between writes' ? work() : app.db.together(waits === undefined ? 'start' : 'first transaction', work);
  const { user } = input;
  if (audit === undefined || user === undefined) return whole();
  const object = audit.object && { type: typeOfAction(audit.action), ...subjectOf(audit.object(input)) };
  return app.audit.during({ userId: user.id, via: user.via, action: audit.action, object }, whole);
}

/** Completes the record of the operation with what is known from its result. */
export function noteResult(app: App, { audit }: Route, input: Acting, result: unknown): void {
  // An earlier request did the work and has a record, or there was no work.
  if (result instanceof Repeated || result instanceof Preview) app.audit.note({});
  else if (audit?.made !== undefined)
    app.audit.about({ type: typeOfAction(audit.action), ...subjectOf(audit.made(result, input)) });
}

function subjectOf({ id, projectId }: ReturnType<NonNullable<Audited<unknown, unknown>['object']>>) {
  return { id, projectId };
}

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

export interface StoredReply {
  status: number;
  /** JSON text, or null for a reply that must not be stored. */
  body: string | null;
}

/** A claim on an `Idempotency-Key`: only its holder may handle the request. */
export interface Attempt extends Keyed {
  /**
   * Stores the reply for repeated requests within 24 h. Call it inside the transaction of the request's writes, so that
   * both are committed together.
   * @throws AppError 409 when another attempt has taken over the key; that transaction must then be rolled back
   */
  keep(reply: StoredReply): Promise<void>;
  /**
   * Releases the key after a request that changed nothing, so that it can be repeated. If the database cannot be
   * reached, does so later.
   */
  forget(): Promise<void>;
}

const maxLength = 255;
/**
 * No request takes this long. An attempt that has no reply after this time counts as abandoned even though its process
 * is alive.
 */
const abandonedMs = 600_000;
const abandonedAfter = `interval '${abandonedMs} milliseconds'`;
const keptFor = `interval '24 hours'`;
/** Pause before trying again to release a key, when the database could not be reached. */
const freeAgainMs = 1000;
/** Uses `case` so that PostgreSQL tries the advisory lock only for a row that names a process. */
const isAbandoned = `(k.status is null and k.digest = excluded.digest and (k.created_at < now() - ${abandonedAfter}
  or case when k.process is null then false else ${isGone('k.process')} end))`;
const isExpired = `k.created_at < now() - ${keptFor}`;

/** User, request and key. */
type KeyId = [userId: string, request: string, key: string];

/**
 * Claims the `Idempotency-Key` of a POST, which is scoped to user, method and path. Returns undefined if there is no
 * key, the stored reply of an earlier request, or the claim. A claim whose process died without a reply is taken over
 * immediately.
 * @throws AppError 400 for an invalid key, 422 for a different body, 409 if the first request is in progress or its
 * reply was not stored
 */
export async function takeKey(
  db: Database,
  req: Request,
  userId: string,
  path: string,
): Promise<StoredReply | Attempt | undefined> {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key === '' || key.length > maxLength)
    throw badField('Idempotency-Key', `Idempotency-Key must have 1 to ${maxLength} characters`);
  const request = `${req.method} ${path}`;
  const digest = digestOf(req.body);
  const id: KeyId = [userId, request, key];
  const claim = randomUUID();
  const [claimed] = await db.prepared<{ attempts: number }>(
    'idempotency claim',
    `insert into idempotency_keys as k (user_id, request, key, digest, claim, process) values ($1, $2, $3, $4, $5, $6)
     on conflict (user_id, request, key) do update
       set digest = excluded.digest, claim = excluded.claim, process = excluded.process, status = null, reply = null,
         created_at = now(), attempts = case when ${isExpired} then 1 else k.attempts + 1 end
       where ${isExpired} or ${isAbandoned}
     returning attempts`,
    [...id, digest, claim, await db.presence()],
  );
  if (claimed === undefined) return earlierReply(db, id, digest);
  const free = () =>
    db.prepared(
      'idempotency forget',
      // The status check keeps a reply that was committed although the confirmation of the commit was lost.
      'delete from idempotency_keys where user_id = $1 and request = $2 and key = $3 and claim = $4 and status is null',
      [...id, claim],
    );
  return {
    id: digestOf([...id, digest]),
    isAgain: claimed.attempts > 1,
    keep: async ({ status, body }) => {
      const kept = await db.prepared(
        'idempotency keep',
        `update idempotency_keys set status = $5, reply = $6
         where user_id = $1 and request = $2 and key = $3 and claim = $4 returning 1`,
        [...id, claim, status, body],
      );
      if (kept.length === 0) throw underWay();
    },
    forget: () => persist(free, Date.now() + abandonedMs),
  };
}

async function persist(free: () => Promise<unknown>, until: number): Promise<void> {
  await free().catch(() => {
    if (Date.now() < until) setTimeout(() => void persist(free, until), freeAgainMs).unref();
  });
}

function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest('hex');
}

function underWay(): AppError {
  return new AppError(409, 'A request with this Idempotency-Key is still under way; repeat it later');
}

async function earlierReply(db: Database, id: KeyId, digest: string): Promise<StoredReply> {
  const [row] = await db.prepared<{ digest: string; status: number | null; reply: string | null }>(
    'idempotency read',
    'select digest, status, reply from idempotency_keys where user_id = $1 and request = $2 and key = $3',
    id,
  );
  if (row === undefined) throw underWay();
  if (row.digest !== digest)
    throw new AppError(422, 'This Idempotency-Key was used with another body; use a new key for a new request');
  if (row.status === null) throw underWay();
  if (row.reply === null)
    throw new AppError(
      409,
      'A request with this Idempotency-Key was answered, and its reply is not kept; use a new key',
    );
  return { status: row.status, body: row.reply };
}

/** Deletes expired keys. */
export async function forgetOldKeys(db: Database): Promise<void> {
  await db.prepared('idempotency clean', `delete from idempotency_keys where created_at < now() - ${keptFor}`, []);
}
