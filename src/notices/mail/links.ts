import { createHmac, timingSafeEqual } from 'node:crypto';
import type { App } from '../../app.ts';

/** What a link in a mail does. */
export type LinkKind = 'confirm' | 'stop';

/** How long an address can be confirmed. Mail can be stopped at any time. */
const confirmMs = 24 * 3_600_000;

/**
 * Returns the address of a link that needs no sign-in: whoever reads the mail may follow it. It is good for this person
 * and this address only.
 */
export function mailLink(app: App, kind: LinkKind, userId: string, address: string, now = Date.now()): string {
  const end = kind === 'confirm' ? now + confirmMs : 0;
  const query = new URLSearchParams({
    user: userId,
    end: String(end),
    key: keyOf(app, kind, { userId, address, end }),
  });
  return `${app.config.BASE_URL}/mail/${kind}?${query}`;
}

/** Returns whether a link is ours, for this address, and has not expired. */
export function isGoodLink(
  app: App,
  kind: LinkKind,
  { userId, address, end, key }: { userId: string; address: string; end: number; key: string },
  now = Date.now(),
): boolean {
  const [given, wanted] = [Buffer.from(key), Buffer.from(keyOf(app, kind, { userId, address, end }))];
  const isOurs = given.length === wanted.length && timingSafeEqual(given, wanted);
  return isOurs && (kind === 'stop' || now < end);
}

function keyOf(
  { config, keys }: App,
  kind: LinkKind,
  { userId, address, end }: { userId: string; address: string; end: number },
): string {
  const signed = JSON.stringify(['mail link', config.BASE_URL, kind, userId, address, end]);
  return createHmac('sha256', keys.jwtSecret).update(signed).digest('base64url');
}
