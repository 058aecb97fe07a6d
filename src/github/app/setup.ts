import { readFile } from 'node:fs/promises';
import express, { type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { AppError, upstreamFailed } from '../../errors.ts';
import { clearCookie, readCookie, setCookie } from '../../http/access/session.ts';
import { fetchFromGitHub } from '../../outgoing/fetch-from.ts';
import { insertSignIn, takeSignIn } from '../sign-in/login-store.ts';
import { digest, random } from '../sign-in/one-time.ts';
import { manifestFrom } from './manifest.ts';
import { installedPage, setupPage } from './setup-page.ts';
import { storeApp, takeSetupCode } from './stored-app.ts';

const setupCookie = 'deckhand_setup';
/** GitHub's code is good for an hour. */
const setupMs = 3_600_000;
const appFile = new URL('../../../app.yml', import.meta.url);

/**
 * GitHub's manifest flow: /setup behind a one-time code, /setup/callback, and /installed, where GitHub sends whoever
 * has installed the App. Once an App is configured the first two are gone.
 */
export function setupRoutes(app: App): Router {
  const router = express.Router();
  router.get('/setup', (req, res) => begin(app, req, res));
  router.get('/setup/callback', (req, res) => finish(app, req, res));
  router.get('/installed', (_req, res) => {
    res.type('html').send(installedPage());
  });
  return router;
}

async function begin(app: App, req: Request, res: Response): Promise<void> {
  const { code, organization } = req.query;
  // A look at the address, as chat programs take one, must not use the code up.
  if (req.method === 'HEAD') return void res.status(204).end();
  if (app.github !== undefined || typeof code !== 'string') throw new AppError(404, 'No such address');
  if (!(await takeSetupCode(app, code)))
    throw new AppError(404, 'This code was used or is older than a day; npm run doctor prints a new one');
  const [state, browser] = [random(), random()];
  const begun = { stateDigest: digest(state), browserDigest: digest(browser), verifier: 'setup', returnTo: '/' };
  await insertSignIn(app.db.manager, begun);
  setCookie(res, app.config.BASE_URL, setupCookie, browser, setupMs);
  const account =
    typeof organization === 'string' && /^[A-Za-z0-9-]{1,39}$/.test(organization)
      ? `organizations/${organization}/`
      : '';
  const action = `${app.config.GITHUB_SERVER_URL}/${account}settings/apps/new?state=${state}`;
  const manifest = manifestFrom(await readFile(appFile, 'utf8'), app.config.BASE_URL);
  // The form goes to GitHub, which the page's policy has to allow.
  const policy = String(res.getHeader('Content-Security-Policy') ?? '');
  const origin = new URL(app.config.GITHUB_SERVER_URL).origin;
  res.setHeader('Content-Security-Policy', policy.replace(/form-action [^;]*/, `form-action 'self' ${origin}`));
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.type('html').send(setupPage(action, JSON.stringify(manifest)));
}

const MadeApp = z.object({
  id: z.int(),
  slug: z.string(),
  html_url: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
  webhook_secret: z.string().min(1),
  pem: z.string(),
});

async function finish(app: App, req: Request, res: Response): Promise<void> {
  if (app.github !== undefined) throw new AppError(404, 'No such address');
  const { code, state } = req.query;
  const browser = readCookie(req, app.config.BASE_URL, setupCookie);
  clearCookie(res, app.config.BASE_URL, setupCookie);
  const isWhole = typeof code === 'string' && typeof state === 'string' && browser !== undefined;
  const begun = isWhole ? await takeSignIn(app.db.manager, digest(state), setupMs) : undefined;
  if (!isWhole || begun?.verifier !== 'setup' || begun.browserDigest !== digest(browser))
    throw new AppError(400, 'This setup has expired or was begun in another browser; npm run doctor prints a new code');
  const made = await convert(app, code);
  if (!(await storeApp(app, made))) throw new AppError(409, 'requires a service without a GitHub App, found one');
  app.log.info(`the GitHub App ${made.slug} is connected`);
  res.redirect(303, `${app.config.GITHUB_SERVER_URL}/apps/${made.slug}/installations/new`);
}

async function convert(app: App, code: string) {
  const url = `${app.config.GITHUB_API_URL}/app-manifests/${encodeURIComponent(code)}/conversions`;
  const signal = AbortSignal.timeout(15_000);
  const response = await fetchFromGitHub(url, {
    method: 'POST',
    headers: { Accept: 'application/vnd.github+json' },
    signal,
  }).catch(() => undefined);
  const made = MadeApp.safeParse(await response?.json().catch(() => undefined));
  if (!response?.ok || !made.success)
    throw upstreamFailed('GitHub', `no App for this code (HTTP ${response?.status ?? 0})`);
  return made.data;
}
