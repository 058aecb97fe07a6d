import express, { type Request, type Response, type Router } from 'express';
import type { App } from '../../app.ts';
import { idOrEmpty } from '../../http/access/access.ts';
import { escaped, page, pagePolicy } from '../../http/documents/plain-page.ts';
import { isGoodLink, type LinkKind } from './links.ts';
import { confirmAddress, findMailSettings, stopMail } from './store.ts';

const words = {
  confirm: { title: 'Confirm your address', button: 'Confirm', done: 'Your address is confirmed' },
  stop: { title: 'Stop mail from Deckhand', button: 'Stop', done: 'You get no more mail from Deckhand' },
} as const;

/**
 * Serves the pages of the links in mails, which need no sign-in. Opening one changes nothing, because programs that look
 * for viruses open the links of a mail. A mail program that stops mail with one click sends the POST itself (RFC 8058).
 */
export function mailPages(app: App): Router {
  const router = express.Router();
  for (const kind of ['confirm', 'stop'] as const) {
    router.get(`/mail/${kind}`, (req, res) => ask(app, kind, req, res));
    router.post(`/mail/${kind}`, (req, res) => act(app, kind, req, res));
  }
  return router;
}

/** Returns whose link it is and for which address; undefined for one that is not good any more. */
async function readLink(app: App, kind: LinkKind, { query }: Request) {
  const { user, end, key } = query;
  if (typeof user !== 'string' || typeof end !== 'string' || typeof key !== 'string') return undefined;
  const userId = idOrEmpty(user.slice(0, 255));
  const { address } = await findMailSettings(app.db.manager, userId);
  const link = { userId, address: address ?? '', end: Number(end), key };
  return address !== null && isGoodLink(app, kind, link) ? link : undefined;
}

async function ask(app: App, kind: LinkKind, req: Request, res: Response): Promise<void> {
  const link = await readLink(app, kind, req);
  if (link === undefined) return refuse(res);
  const { title, button } = words[kind];
  const action = `/mail/${kind}${new URL(req.originalUrl, app.config.BASE_URL).search}`;
  const form = `<form action="${escaped(action)}" method="post"><button class="primary">${button}</button></form>`;
  send(res, 200, page(title, `<p class="muted">${escaped(link.address)}</p>\n${form}`));
}

async function act(app: App, kind: LinkKind, req: Request, res: Response): Promise<void> {
  req.resume();
  const link = await readLink(app, kind, req);
  if (link === undefined) return refuse(res);
  if (kind === 'stop') await stopMail(app.db.manager, link.userId);
  else await confirmAddress(app.db.manager, link.userId, link.address);
  send(res, 200, page(words[kind].done, '<p>You can close this page.</p>'));
}

function refuse(res: Response): void {
  const says = 'This link has expired, or the address was changed since. Open your account in Deckhand to change mail.';
  send(res, 400, page('Link expired', `<p class="box">${says}</p>`));
}

function send(res: Response, status: number, html: string): void {
  res.setHeader('Content-Security-Policy', pagePolicy([]));
  res.setHeader('Cache-Control', 'no-store');
  res.status(status).type('html').send(html);
}
