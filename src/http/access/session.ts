import type { Request, Response } from 'express';
import { AppError } from '../../errors.ts';

/** How long a browser stays signed in. */
export const sessionMs = 12 * 3_600_000;

/** `__Host-` binds a cookie to host and path and wants https; plain http, as on localhost, goes without. */
export function cookieName(baseUrl: string, name: string): string {
  return baseUrl.startsWith('https:') ? `__Host-${name}` : name;
}

const options = (baseUrl: string) => ({
  httpOnly: true,
  sameSite: 'lax' as const,
  secure: baseUrl.startsWith('https:'),
  path: '/',
});

export function setCookie(res: Response, baseUrl: string, name: string, value: string, maxAge: number): void {
  res.cookie(cookieName(baseUrl, name), value, { ...options(baseUrl), maxAge });
}

export function clearCookie(res: Response, baseUrl: string, name: string): void {
  res.clearCookie(cookieName(baseUrl, name), options(baseUrl));
}

/** The value of one of our cookies; undefined when it is not sent. */
export function readCookie(req: Request, baseUrl: string, name: string): string | undefined {
  const wanted = `${cookieName(baseUrl, name)}=`;
  const pair = (req.headers.cookie ?? '').split(/; */).find((part) => part.startsWith(wanted));
  return pair?.slice(wanted.length);
}

export const sessionCookie = 'deckhand_session';

/**
 * A browser sends our cookie with requests that other sites make it send. What changes something by cookie must come
 * from our own pages; a browser says so, and whoever says nothing is refused.
 * @throws AppError 403
 */
export function refuseCrossSite(req: Request, baseUrl: string): void {
  if (req.method === 'GET' || req.method === 'HEAD') return;
  const { origin, 'sec-fetch-site': site } = req.headers;
  const isOurs = origin === undefined ? site === 'same-origin' : origin === new URL(baseUrl).origin;
  if (!isOurs || (site !== undefined && site !== 'same-origin')) throw new AppError(403, 'Cross-site request refused');
}
