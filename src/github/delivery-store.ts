import type { EntityManager } from 'typeorm';
import { databaseTime } from '../db/clock.ts';
import { isUnfinished } from '../queue/turns.ts';

/** Stores a delivery. Returns false when a delivery with this GUID is stored already. */
export async function insertDelivery(
  em: EntityManager,
  delivery: {
    guid: string;
    event: string;
    signature: string;
    payload: string;
    account?: string | undefined;
    traceparent?: string | undefined;
  },
): Promise<boolean> {
  const { guid, event, signature, payload, account, traceparent } = delivery;
  const rows: unknown[] = await em.query(
    `insert into deliveries (guid, event, signature, payload, account, traceparent) values ($1, $2, $3, $4, $5, $6)
     on conflict do nothing returning guid`,
    [guid, event, signature, payload, account ?? null, traceparent ?? null],
  );
  return rows.length === 1;
}

export async function wasDelivered(em: EntityManager, guid: string): Promise<boolean> {
  return (await em.query<unknown[]>('select 1 from deliveries where guid = $1', [guid])).length > 0;
}

/** Counts a request to GitHub to repeat a delivery. Returns the number of such requests so far. */
export async function countRedelivery(em: EntityManager, guid: string): Promise<number> {
  const rows: { mark: string }[] = await em.query(
    `insert into read_marks (name, mark) values ('redelivered ' || $1, '1')
     on conflict (name) do update set mark = (read_marks.mark::int + 1)::text returning mark`,
    [guid],
  );
  return Number(rows[0]?.mark);
}

/** Deletes the counts of deliveries that GitHub no longer has. It keeps them for three days. */
export async function forgetOldRedeliveries(em: EntityManager): Promise<void> {
  await em.query(`delete from read_marks where starts_with(name, 'redelivered ') and at < now() - interval '3 days'`);
}

export async function findUnhandledDelivery(em: EntityManager, guid: string) {
  const rows: { event: string; payload: string; traceparent: string | null }[] = await em.query(
    'select event, payload as payload /* not null */, traceparent from deliveries where guid = $1 and handled_at is null',
    [guid],
  );
  return rows[0];
}

/** SQL: the digest of the payload that a handled delivery keeps. */
const digest = `coalesce(digest, sha256(convert_to(payload, 'UTF8')))`;

/** Notes that a delivery is handled. Payloads would be the largest part of the database, so few are kept; see `forgetPayloads`. */
export async function markHandled(em: EntityManager, guid: string, { keepsPayload }: { keepsPayload: boolean }) {
  await em.query(
    `update deliveries set handled_at = now(), digest = ${digest}, payload = case when $2 then payload end where guid = $1`,
    [guid, keepsPayload],
  );
}

/** Counts all stored deliveries as handled. Returns how many were not. */
export async function skipUnhandled(em: EntityManager): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `update deliveries set handled_at = now(), digest = ${digest}, payload = null where handled_at is null`,
  );
  return count;
}

/** Deletes up to `limit` payloads of handled deliveries that are older than `days`. Returns the number deleted. */
export async function forgetPayloads(em: EntityManager, days: number, limit: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `update deliveries set digest = ${digest}, payload = null where guid in (
       select guid from deliveries where payload is not null and handled_at is not null
         and received_at < now() - make_interval(days => $1) order by received_at limit $2)`,
    [days, limit],
  );
  return count;
}

/** Deletes up to `limit` keys of handled commands that are older than `days`, and that no catch-up can read again. */
export async function forgetHandledCommands(em: EntityManager, days: number, limit: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `delete from handled_commands where key in (
       select key from handled_commands where at < least(now() - make_interval(days => $1),
         (select min(mark)::timestamptz from read_marks where starts_with(name, 'heard '))) order by at limit $2)`,
    [days, limit],
  );
  return count;
}

/**
 * Finds deliveries that were stored over ten minutes ago, are not handled and have no job, because it was lost or has
 * failed. All accounts have the same share of the list, and the oldest deliveries of each come first.
 */
export async function listForgottenDeliveries(em: EntityManager): Promise<{ guid: string; account?: string }[]> {
  const rows: { guid: string; account: string | null }[] = await em.query(
    `select guid, account from deliveries d where handled_at is null
       and received_at between now() - interval '3 days' and now() - interval '10 minutes'
       and not ${isUnfinished('delivery', 'd.guid')}
     order by row_number() over (partition by account order by received_at), received_at limit 500`,
  );
  return rows.map(({ guid, account }) => ({ guid, ...(account === null ? {} : { account }) }));
}

/** Deletes up to `limit` handled deliveries that are older than `days`, oldest first. Returns the number deleted. */
export async function deleteOldDeliveries(em: EntityManager, days: number, limit: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `delete from deliveries where guid in (
       select guid from deliveries where received_at < now() - make_interval(days => $1) and handled_at is not null
       order by received_at limit $2)`,
    [days, limit],
  );
  return count;
}

const heard = (repositoryId: string) => `heard ${repositoryId}`;
/** GitHub's clock may differ from the database's, so each catch-up also reads the minute before. */
const clocksDifferMs = 60_000;

/**
 * Returns the time up to which a repository's comments have been read; undefined before the App was installed there.
 */
export function heardUntil(em: EntityManager, repositoryId: string): Promise<string | undefined> {
  return readMark(em, heard(repositoryId));
}

/**
 * Sets the time up to which a repository's comments count as read. Older commands are not executed. `exactly` leaves out
 * the minute for the difference of clocks: commands in it are not known as handled, so they would be executed again. The time does
 * not go back, so that the next reading does not bring back that minute, unless the clock of the database did.
 */
export async function listenFromNow(
  em: EntityManager,
  repositoryId: string,
  until?: number,
  precision: 'exactly' | 'with a minute' = 'with a minute',
): Promise<void> {
  const earlierMs = precision === 'exactly' ? 0 : clocksDifferMs;
  const now = until ?? (await databaseTime(em)).getTime();
  await em.query(
    `insert into read_marks as m (name, mark) values ($1, $2)
     on conflict (name) do update set at = now(),
       mark = case when m.mark > $3 then excluded.mark else greatest(m.mark, excluded.mark) end`,
    [heard(repositoryId), ...[now - earlierMs, now].map((ms) => new Date(ms).toISOString())],
  );
}

export async function readMark(em: EntityManager, name: string): Promise<string | undefined> {
  const rows: { mark: string }[] = await em.query('select mark from read_marks where name = $1', [name]);
  return rows[0]?.mark;
}

export async function setMark(em: EntityManager, name: string, mark: string): Promise<void> {
  await em.query(
    `insert into read_marks (name, mark) values ($1, $2) on conflict (name) do update set mark = excluded.mark, at = now()`,
    [name, mark],
  );
}
