import type { EntityManager } from 'typeorm';

export const mailModes = ['off', 'now', 'daily'] as const;
export type MailMode = (typeof mailModes)[number];

export interface MailSettings {
  mode: MailMode;
  address: string | null;
  confirmedAt: Date | null;
  /** Older entries of the inbox are not mailed. */
  since: Date;
  nextDigestAt: Date | null;
}

const none: MailSettings = { mode: 'off', address: null, confirmedAt: null, since: new Date(0), nextDigestAt: null };

export async function findMailSettings(em: EntityManager, userId: string): Promise<MailSettings> {
  const [row]: MailSettings[] = await em.query(
    `select mode, address, confirmed_at as "confirmedAt", since, next_digest_at as "nextDigestAt"
     from mail_settings where user_id = $1`,
    [userId],
  );
  return row ?? none;
}

/** Stores a choice. Another address has to be confirmed. What is in the inbox when mail is switched on is not mailed. */
export async function upsertMailSettings(
  em: EntityManager,
  userId: string,
  { mode, address, nextDigestAt }: Pick<MailSettings, 'mode' | 'address' | 'nextDigestAt'>,
): Promise<void> {
  await em.query(
    `insert into mail_settings as s (user_id, mode, address, next_digest_at) values ($1, $2, $3, $4)
     on conflict (user_id) do update set mode = excluded.mode, address = excluded.address,
       next_digest_at = excluded.next_digest_at,
       since = case when s.mode = 'off' or s.address is distinct from excluded.address then now() else s.since end,
       confirmed_at = case when s.address is not distinct from excluded.address then s.confirmed_at end`,
    [userId, mode, address, nextDigestAt],
  );
}

/** Confirms an address, if it is still the one of this person. Returns whether it is. */
export async function confirmAddress(em: EntityManager, userId: string, address: string): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update mail_settings set confirmed_at = coalesce(confirmed_at, now()),
       since = case when confirmed_at is null then now() else since end
     where user_id = $1 and address = $2`,
    [userId, address],
  );
  return count === 1;
}

/** Stops all mail to a person. */
export async function stopMail(em: EntityManager, userId: string): Promise<void> {
  await em.query(`update mail_settings set mode = 'off' where user_id = $1`, [userId]);
}

/** Returns how many confirmations a person, and an address in upper or lower case, got in the last day. */
export async function countConfirmations(em: EntityManager, userId: string, address: string) {
  const [row]: [{ ofPerson: number; ofAddress: number }] = await em.query(
    `select count(*) filter (where user_id = $1)::int as "ofPerson",
       count(*) filter (where lower(address) = lower($2))::int as "ofAddress"
     from mail_confirmations where (user_id = $1 or lower(address) = lower($2)) and at > now() - interval '1 day'`,
    [userId, address],
  );
  return row;
}

export async function insertConfirmation(em: EntityManager, userId: string, address: string): Promise<void> {
  await em.query('insert into mail_confirmations (user_id, address) values ($1, $2)', [userId, address]);
}

/** Returns the confirmations that were not sent. */
export async function listConfirmations(em: EntityManager, userId: string): Promise<{ id: string; address: string }[]> {
  return em.query(
    `select c.id::text as id, c.address from mail_confirmations c
     join mail_settings s on s.user_id = c.user_id and s.address = c.address
     where c.user_id = $1 and c.sent_at is null and s.confirmed_at is null order by c.id`,
    [userId],
  );
}

export async function markConfirmationSent(em: EntityManager, id: string): Promise<void> {
  await em.query('update mail_confirmations set sent_at = now() where id = $1', [id]);
}

/** Deletes what is only needed for a day. */
export async function forgetOldMail(em: EntityManager): Promise<void> {
  await em.query(`delete from mail_confirmations where at < now() - interval '1 day'`);
}

/** Forgets that the inbox of a person has changed, because it is looked at now. */
export async function takeWanted(em: EntityManager, userId: string): Promise<void> {
  await em.query('delete from mail_wanted where user_id = $1', [userId]);
}

/** Returns the people whose inbox has changed or who are to get their digest now. */
export async function listMailDue(em: EntityManager): Promise<{ userId: string }[]> {
  return em.query(
    `select user_id as "userId" /* not null */ from mail_wanted
     union select user_id from mail_settings
     where mode = 'daily' and confirmed_at is not null and next_digest_at <= now()`,
  );
}

/** Returns the entries of the inbox about which a person got a mail. */
export async function listTold(em: EntityManager, userId: string): Promise<Set<string>> {
  const rows: { entry: string }[] = await em.query('select entry from mail_told where user_id = $1', [userId]);
  return new Set(rows.map(({ entry }) => entry));
}

export async function insertTold(em: EntityManager, userId: string, entries: string[]): Promise<void> {
  await em.query(
    `insert into mail_told (user_id, entry) select $1, entry from unnest($2::text[]) entry on conflict do nothing`,
    [userId, entries],
  );
}

/** Forgets the entries that are not in the inbox any more. */
export async function forgetTold(em: EntityManager, userId: string, left: string[]): Promise<void> {
  await em.query('delete from mail_told where user_id = $1 and entry <> all($2::text[])', [userId, left]);
}

export async function setNextDigest(em: EntityManager, userId: string, at: Date): Promise<void> {
  await em.query('update mail_settings set next_digest_at = $2 where user_id = $1', [userId, at]);
}

/** Returns the names of projects by their ids. */
export async function namesOfProjects(em: EntityManager, ids: string[]): Promise<Map<string, string>> {
  const rows: { id: string; name: string }[] = await em.query(
    'select id, name from projects where id = any($1::text[])',
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
