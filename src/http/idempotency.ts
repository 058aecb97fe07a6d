import { createHash, randomUUID } from 'node:crypto';
import type { Request } from 'express';
import type { Database } from '../db/database.ts';
import { isGone } from '../db/presence.ts';
import { AppError, badField } from '../errors.ts';
import type { Keyed } from './route.ts';

export interface KeptReply {
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
  keep(reply: KeptReply): Promise<void>;
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

async function earlierReply(db: Database, id: string[], digest: string): Promise<KeptReply> {
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
