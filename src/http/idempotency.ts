import { createHash, randomUUID } from 'node:crypto';
import type { Request } from 'express';
import type { Database } from '../db/database.ts';
import { isGone } from '../db/presence.ts';
import { AppError, badField } from '../errors.ts';
import type { Keyed } from './route.ts';

export interface KeptReply {
  status: number;
  /** JSON text, or null for a reply that must not be kept. */
  body: string | null;
}

/** The right to answer a request that carries an `Idempotency-Key`. */
export interface Attempt extends Keyed {
  /**
   * Keeps the reply for repetitions within 24 h. Call it inside the transaction of the request's writes, so that both are
   * committed together.
   * @throws AppError 409 when another attempt has taken over, which must roll that transaction back
   */
  keep(reply: KeptReply): Promise<void>;
  /** Frees the key, now or once the database can be reached, because nothing was done that a repetition would repeat. */
  forget(): Promise<void>;
}

const maxLength = 255;
/** No request takes this long: an attempt without a reply was cut off, although its process is alive. */
const abandonedMs = 600_000;
const abandonedAfter = `interval '${abandonedMs} milliseconds'`;
const keptFor = `interval '24 hours'`;
/** How long to wait before freeing a key again, after the database could not be reached. */
const freeAgainMs = 1000;
/** `case` makes sure that the lock is tried only where it matters. */
const isAbandoned = `(k.status is null and k.digest = excluded.digest and (k.created_at < now() - ${abandonedAfter}
  or case when k.process is null then false else ${isGone('k.process')} end))`;
const isExpired = `k.created_at < now() - ${keptFor}`;

/**
 * Looks up the `Idempotency-Key` of a POST, which is scoped to user, method and path. Returns undefined without a key, the
 * kept reply of an earlier request, or the right to answer this one. An attempt whose process died without a reply is taken
 * over at once.
 * @throws AppError 400 for an invalid key, 422 for another body, 409 if the first request is under way or its reply was not
 * kept
 */
export async function takeKey(
  db: Database,
  req: Request,
  userId: string,
  path: string,
): Promise<KeptReply | Attempt | undefined> {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key === '' || key.length > maxLength)
    throw badField('Idempotency-Key', `Idempotency-Key must have 1 to ${maxLength} characters`);
  const request = `${req.method} ${path}`;
  const digest = digestOf(req.body);
  const id = [userId, request, key];
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
      // If only the confirmation of the commit was lost, the reply was kept and must stay.
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

async function earlierReply(db: Database, id: string[], digest: string): Promise<KeptReply> {
  const [row] = await db.prepared<{ digest: string; status: number | null; reply: string | null }>(
    'idempotency read',
    'select digest, status, reply from idempotency_keys where user_id = $1 and request = $2 and key = $3',
    id,
  );
  if (row === undefined || (row.digest === digest && row.status === null)) throw underWay();
  if (row.digest !== digest)
    throw new AppError(422, 'This Idempotency-Key was used with another body; use a new key for a new request');
  if (row.reply === null)
    throw new AppError(
      409,
      'A request with this Idempotency-Key was answered, and its reply is not kept; use a new key',
    );
  return { status: row.status ?? 200, body: row.reply };
}

/** Removes expired keys. */
export async function forgetOldKeys(db: Database): Promise<void> {
  await db.prepared('idempotency clean', `delete from idempotency_keys where created_at < now() - ${keptFor}`, []);
}
