import { parseCookie } from 'cookie';
import type { Request, Response } from 'express';
import { AppError } from '../../errors.ts';

/** How long a browser stays signed in. */
export const sessionMs = 12 * 3_600_000;

/**
 * Returns a cookie's full name. The prefix `__Host-` ties the cookie to this host and the path `/`. It requires https,
 * so it is omitted over plain http.
 */
function cookieName(baseUrl: string, name: string): string {
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

/** Returns the value of one of our cookies, or undefined if the browser did not send it. */
export function readCookie(req: Request, baseUrl: string, name: string): string | undefined {
  return parseCookie(req.headers.cookie ?? '')[cookieName(baseUrl, name)];
}

export const sessionCookie = 'deckhand_session';

/**
 * Refuses cross-site writes. Browsers send our cookie even with requests that another site triggers, so a request that
 * changes something and is authenticated by cookie must come from our own pages, according to its `Origin` and
 * `Sec-Fetch-Site` headers. Without these headers it is refused.
 * @throws AppError 403
 */
export function refuseCrossSite(req: Request, baseUrl: string): void {
  if (req.method === 'GET' || req.method === 'HEAD') return;
  const { origin, 'sec-fetch-site': site } = req.headers;
  const isOurs = origin === undefined ? site === 'same-origin' : origin === new URL(baseUrl).origin;
  if (!isOurs || (site !== undefined && site !== 'same-origin')) throw new AppError(403, 'Cross-site request refused');
}
