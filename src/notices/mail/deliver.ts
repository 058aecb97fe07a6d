import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import { type InboxEntry, listInbox } from '../../tasks/inbox.ts';
import { mailLink } from './links.ts';
import {
  findMailSettings,
  forgetTold,
  insertTold,
  listConfirmations,
  listMailDue,
  listTold,
  type MailSettings,
  markConfirmationSent,
  namesOfProjects,
  setNextDigest,
  takeWanted,
} from './store.ts';
import { confirmation, type MailText, mailAbout, mailAboutAll } from './text.ts';

/** If more entries than this arrive together, one mail counts them, as in the browser. */
const maxAtOnce = 3;
/** The hour (UTC) at which digests are sent. */
const digestHour = 7;

/** Returns when the next digest is sent. */
export function nextDigest(now = new Date()): Date {
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), digestHour);
  return new Date(today > now.getTime() ? today : today + 24 * 3_600_000);
}

/** Queues a job for each person who may have to get a mail. */
export async function wakeMail(app: App): Promise<void> {
  if (app.mail === undefined) return;
  for (const { userId } of await listMailDue(app.db.manager))
    await app.queue.send(undefined, 'mail', { userId }, { key: userId });
}

/**
 * Sends a person what they have to get now: the confirmation of their address, and mail about what is in the inbox and was
 * not mailed. A failure is retried with the job. A worker that is killed after sending sends again, with the same id.
 */
export async function sendMail(app: App, userId: string): Promise<void> {
  const em = app.db.manager;
  // Before the inbox is read, so that a change in the meantime leads to another job.
  await takeWanted(em, userId);
  if (app.mail === undefined) return;
  const settings = await findMailSettings(em, userId);
  await sendConfirmations(app, userId);
  const { mode, address, confirmedAt, nextDigestAt } = settings;
  if (mode === 'off' || address === null || confirmedAt === null) return;
  const isDigest = mode === 'daily';
  if (isDigest && nextDigestAt !== null && nextDigestAt > new Date()) return;
  await sendEntries(app, userId, { ...settings, address }, isDigest);
  if (isDigest) await setNextDigest(em, userId, nextDigest());
}

async function sendConfirmations(app: App, userId: string): Promise<void> {
  const em = app.db.manager;
  const pending = await listConfirmations(em, userId);
  if (pending.length === 0) return;
  const [user]: { login: string }[] = await em.query('select login from users where id = $1', [userId]);
  for (const { id, address } of pending) {
    const mail = confirmation(user?.login ?? '', mailLink(app, 'confirm', userId, address));
    await app.mail?.send({ ...mail, to: address, id: idOf('confirm', id), headers: {} });
    await markConfirmationSent(em, id);
  }
}

/** Identifies what an entry says. A second plan of the same task is another one. */
function keyOf({ taskId, projectId, title, reason, since }: InboxEntry): string {
  return `${taskId ?? `${projectId} ${title}`} ${reason} ${since.toISOString()}`;
}

async function sendEntries(
  app: App,
  userId: string,
  { address, since }: Pick<MailSettings, 'since'> & { address: string },
  isDigest: boolean,
): Promise<void> {
  const em = app.db.manager;
  const entries = await listInbox(em, userId, 'mine');
  await forgetTold(em, userId, entries.map(keyOf));
  const told = await listTold(em, userId);
  const isNew = (entry: InboxEntry) => entry.since >= since && !told.has(keyOf(entry));
  // Oldest first, as they happened.
  const fresh = entries.filter(isNew).reverse();
  if (fresh.length === 0) return;
  const stop = mailLink(app, 'stop', userId, address);
  const projects = await namesOfProjects(em, [...new Set(fresh.map(({ projectId }) => projectId))]);
  const around = { baseUrl: app.config.BASE_URL, stop, projects };
  const send = async (about: InboxEntry[], mail: MailText) => {
    const id = idOf(userId, about.map(keyOf).join('\n'));
    await app.mail?.send({ ...mail, to: address, id, headers: stoppedBy(stop) });
    await insertTold(em, userId, about.map(keyOf));
  };
  if (isDigest || fresh.length > maxAtOnce) return send(fresh, mailAboutAll(fresh, around));
  for (const entry of fresh) await send([entry], mailAbout(entry, around));
}

/** The headers by which a mail program stops the mail with one click (RFC 8058). */
function stoppedBy(link: string): Record<string, string> {
  return { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

function idOf(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
}
