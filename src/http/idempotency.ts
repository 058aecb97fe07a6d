import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { Database } from '../db/database.ts';
import { AppError, badField } from '../errors.ts';

export interface KeptReply {
  status: number;
  /** JSON text, or null for a reply that must not be kept. */
  body: string | null;
}

/** A request that carries an `Idempotency-Key` and is the first to do so. */
export interface FirstUse {
  /** Keeps the reply for those who ask again within 24 h. */
  keep(reply: KeptReply): Promise<void>;
  /** The request changed nothing that a repetition would change twice; it may be made again. */
  forget(): Promise<void>;
}

const maxLength = 255;
/** A request that has not answered by then was cut off, by a crash say. */
const abandonedAfter = `interval '10 minutes'`;
const keptFor = `interval '24 hours'`;

/**
 * Looks at the `Idempotency-Key` of a POST (decisions, section 1), scoped to user, method and path: undefined without
 * one, the kept reply of an earlier request, or the right to be the first.
 * @throws AppError 400 for a key that is none, 422 for another body, 409 while the first is under way or was never kept
 */
export async function takeKey(
  db: Database,
  req: Request,
  userId: string,
  path: string,
): Promise<KeptReply | FirstUse | undefined> {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key === '' || key.length > maxLength)
    throw badField('Idempotency-Key', `Idempotency-Key must have 1 to ${maxLength} characters`);
  const request = `${req.method} ${path}`;
  const digest = createHash('sha256')
    .update(JSON.stringify(req.body ?? null))
    .digest('hex');
  const id = [userId, request, key];
  const claimed = await db.prepared(
    'idempotency claim',
    `insert into idempotency_keys as k (user_id, request, key, digest) values ($1, $2, $3, $4)
     on conflict (user_id, request, key) do update set digest = excluded.digest, status = null, reply = null, created_at = now()
       where k.created_at < now() - ${keptFor} or (k.status is null and k.created_at < now() - ${abandonedAfter})
     returning 1`,
    [...id, digest],
  );
  if (claimed.length === 0) return earlierReply(db, id, digest);
  return {
    keep: async ({ status, body }) => {
      await db.prepared(
        'idempotency keep',
        'update idempotency_keys set status = $4, reply = $5 where user_id = $1 and request = $2 and key = $3',
        [...id, status, body],
      );
    },
    forget: async () => {
      await db.prepared(
        'idempotency forget',
        'delete from idempotency_keys where user_id = $1 and request = $2 and key = $3',
        id,
      );
    },
  };
}

async function earlierReply(db: Database, id: string[], digest: string): Promise<KeptReply> {
  const [row] = await db.prepared<{ digest: string; status: number | null; reply: string | null }>(
    'idempotency read',
    'select digest, status, reply from idempotency_keys where user_id = $1 and request = $2 and key = $3',
    id,
  );
  if (row === undefined || (row.digest === digest && row.status === null))
    throw new AppError(409, 'A request with this Idempotency-Key is still under way; repeat it later');
  if (row.digest !== digest)
    throw new AppError(422, 'This Idempotency-Key was used with another body; use a new key for a new request');
  if (row.reply === null)
    throw new AppError(
      409,
      'A request with this Idempotency-Key was answered, and its reply is not kept; use a new key',
    );
  return { status: row.status ?? 200, body: row.reply };
}

/** Forgets what is older than it is kept. */
export async function forgetOldKeys(db: Database): Promise<void> {
  await db.prepared('idempotency clean', `delete from idempotency_keys where created_at < now() - ${keptFor}`, []);
}
