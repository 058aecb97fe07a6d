import type { App } from '../../app.ts';
import { type Changes, changesBetween } from '../../domain/audit.ts';
import { AppError, badField, notConfigured } from '../../errors.ts';
import { nextDigest } from './deliver.ts';
import {
  countConfirmations,
  findMailSettings,
  insertConfirmation,
  type MailMode,
  type MailSettings,
  upsertMailSettings,
} from './store.ts';

/** Confirmations in a day, so that nobody can have the service write to strangers again and again. */
const [maxOfPerson, maxOfAddress] = [5, 3];

function shown(app: App, { mode, address, confirmedAt }: MailSettings) {
  return { mail: mode, address, confirmed: confirmedAt !== null, available: app.mail !== undefined };
}

export async function getNotices(app: App, userId: string) {
  return shown(app, await findMailSettings(app.db.manager, userId));
}

function assertAvailable(app: App): void {
  if (app.mail === undefined)
    throw notConfigured('Mail is not configured. The operator of the service has to set SMTP_URL.');
}

interface Choice {
  mail?: MailMode | undefined;
  address?: string | null | undefined;
}

/**
 * Stores what a person has chosen. A new address gets a mail with a link, and nothing else before the person has opened it.
 * @throws AppError 400 without an address, 429 after too many confirmations, 503 while mail is not configured
 */
export async function chooseNotices(app: App, userId: string, { mail, address }: Choice) {
  return app.db.transaction(async (em) => {
    const before = await findMailSettings(em, userId);
    const after = { mode: mail ?? before.mode, address: address === undefined ? before.address : address };
    const changes = changesOf(before, after);
    assertPossible(app, before, after);
    const nextDigestAt = after.mode === 'daily' ? (before.nextDigestAt ?? nextDigest()) : null;
    await upsertMailSettings(em, userId, { ...after, nextDigestAt });
    app.audit.note(changes);
    if (changes.address !== undefined && after.address !== null) await askToConfirm(app, em, userId, after.address);
    return shown(app, await findMailSettings(em, userId));
  });
}

type Chosen = Pick<MailSettings, 'mode' | 'address'>;

/** Returns what the audit log says. Addresses are nobody else's business. */
function changesOf(before: Chosen, after: Chosen): Changes {
  const shownAddress = ({ address }: Chosen) => address && 'set';
  return {
    ...changesBetween(before, after, ['mode']),
    ...(after.address === before.address ? {} : { address: [shownAddress(before), shownAddress(after)] }),
  };
}

/** @throws AppError 400 without an address, 503 for what needs mail while it is not configured */
function assertPossible(app: App, before: Chosen, after: Chosen): void {
  if (after.mode !== 'off' && after.address === null)
    throw badField('address', 'address is required, because mail is not off');
  const isNewAddress = after.address !== null && after.address !== before.address;
  if (isNewAddress || (after.mode !== 'off' && before.mode === 'off')) assertAvailable(app);
}

/** Sends the confirmation of an address again. @throws AppError 400 when there is nothing to confirm, 429, 503 */
export async function confirmAgain(app: App, userId: string) {
  assertAvailable(app);
  return app.db.transaction(async (em) => {
    const settings = await findMailSettings(em, userId);
    if (settings.address === null) throw badField('address', 'address is required; set it first');
    if (settings.confirmedAt === null) await askToConfirm(app, em, userId, settings.address);
    app.audit.note({ confirmation: [null, 'sent'] });
    return shown(app, settings);
  });
}

async function askToConfirm(
  app: App,
  em: Parameters<typeof insertConfirmation>[0],
  userId: string,
  address: string,
): Promise<void> {
  const { ofPerson, ofAddress } = await countConfirmations(em, userId, address);
  if (ofPerson >= maxOfPerson || ofAddress >= maxOfAddress)
    throw new AppError(
      429,
      `At most ${maxOfPerson} confirmations a day are sent for one person, and ${maxOfAddress} to one address. Try again tomorrow.`,
    );
  await insertConfirmation(em, userId, address);
  await app.queue.send(em, 'mail', { userId }, { key: userId });
}
