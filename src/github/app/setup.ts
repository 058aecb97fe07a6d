import { readFile } from 'node:fs/promises';
import express, { type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { clearCookie, readCookie, setCookie } from '../../http/access/session.ts';
import { escaped, pagePolicy } from '../../http/documents/plain-page.ts';
import { fetchFromGitHub } from '../../outgoing/fetch-from.ts';
import { Login } from '../../projects/schemas.ts';
import { manifestFrom, webhookProblem } from './manifest.ts';
import { digest, insertSignIn, random, takeSignIn } from './one-time.ts';
import { badOrganizationPage, installedPage, problemPage, setupPage } from './pages.ts';
import { mintSetupCode, storeApp, takeSetupCode } from './stored-app.ts';

const setupCookie = 'deckhand_setup';
/** The code from GitHub with which we fetch a new App's keys is valid for an hour. */
const setupMs = 3_600_000;
const appFile = new URL('../../../app.yml', import.meta.url);

const newAddress =
  'To get a new address, run <code>npm run doctor</code> on the machine that runs the service, and open what it prints.';
const problems = {
  missingCode: `The address of this page needs the one-time code that the service printed. ${newAddress}`,
  wrongCode: `This set-up code is not valid. A code works once, and for one day. ${newAddress}`,
  hasApp: 'This service already has a GitHub App. <a href="/login">Sign in</a> to use it.',
  expired: `This set-up has expired, or it was started in another browser. ${newAddress}`,
};

/**
 * Serves the set-up, which creates the service's GitHub App by GitHub's manifest flow (docs.github.com, "Registering a
 * GitHub App from a manifest"). The routes are /setup, which requires a one-time code; /setup/callback; and /installed,
 * where GitHub sends people who have installed the App. Once an App exists, the first two respond with 404.
 */
export function setupRoutes(app: App): Router {
  const router = express.Router();
  router.get('/setup', (req, res) => begin(app, req, res));
  router.get('/setup/callback', (req, res) => finish(app, req, res));
  router.get('/installed', (_req, res) => send(app, res, 200, installedPage()));
  return router;
}

async function begin(app: App, req: Request, res: Response): Promise<void> {
  const { code, organization } = req.query;
  // Chat programs preview addresses that are pasted into them with a HEAD request. A preview must not use the code up.
  if (req.method === 'HEAD') return void res.status(204).end();
  if (app.github !== undefined) return send(app, res, 404, problemPage(problems.hasApp));
  if (typeof code !== 'string' || code === '') return send(app, res, 404, problemPage(problems.missingCode));
  if (!(await takeSetupCode(app.db.manager, code))) return send(app, res, 404, problemPage(problems.wrongCode));
  const nextCode = await mintSetupCode(app.db.manager);
  const name = typeof organization === 'string' ? organization.trim() : '';
  const checked = Login.or(z.literal('')).safeParse(name);
  if (!checked.success) return send(app, res, 400, badOrganizationPage(nextCode, name, impossibleName));
  const state = await rememberSetup(app, req, res);
  const account = name === '' ? '' : `organizations/${name}/`;
  const forms = {
    action: `${app.config.GITHUB_SERVER_URL}/${account}settings/apps/new?state=${state}`,
    manifest: JSON.stringify(manifestFrom(await readFile(appFile, 'utf8'), app.config.BASE_URL)),
    organization: name,
    nextCode,
    warning: webhookProblem(app.config),
  };
  send(app, res, 200, setupPage(forms));
}

const impossibleName = 'must be one that GitHub allows: letters, digits and dashes, at most 39 characters';

/** Binds the set-up to this browser. Returns the state by which the callback recognizes it. */
async function rememberSetup(app: App, req: Request, res: Response): Promise<string> {
  const state = random();
  // The cookie is reused, because a browser may open the page again for an organization and then return to the first
  // form.
  const browser = readCookie(req, app.config.BASE_URL, setupCookie) || random();
  const begun = { stateDigest: digest(state), browserDigest: digest(browser), verifier: 'setup', returnTo: '/' };
  await insertSignIn(app.db.manager, begun);
  setCookie(res, app.config.BASE_URL, setupCookie, browser, setupMs);
  return state;
}

async function finish(app: App, req: Request, res: Response): Promise<void> {
  if (app.github !== undefined) return send(app, res, 404, problemPage(problems.hasApp));
  const { code, state } = req.query;
  const browser = readCookie(req, app.config.BASE_URL, setupCookie);
  clearCookie(res, app.config.BASE_URL, setupCookie);
  const isComplete = typeof code === 'string' && typeof state === 'string' && browser !== undefined;
  const begun = isComplete ? await takeSignIn(app.db.manager, digest(state), setupMs) : undefined;
  if (!isComplete || begun?.verifier !== 'setup' || begun.browserDigest !== digest(browser))
    return send(app, res, 400, problemPage(problems.expired));
  const made = await fetchNewApp(app, code);
  if (typeof made === 'string') return send(app, res, 502, problemPage(`${escaped(made)} ${newAddress}`));
  if (!(await storeApp(app, made))) return send(app, res, 409, problemPage(problems.hasApp));
  app.log.info(`the GitHub App ${made.slug} is connected`);
  res.redirect(303, `${app.config.GITHUB_SERVER_URL}/apps/${made.slug}/installations/new`);
}

const ConversionReply = z.object({
  id: z.int(),
  slug: z.string(),
  html_url: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
  webhook_secret: z.string().min(1),
  pem: z.string(),
});

/**
 * Exchanges GitHub's code for the new App and its keys. When GitHub does not return them, returns a sentence for the
 * user.
 */
async function fetchNewApp(app: App, code: string): Promise<z.infer<typeof ConversionReply> | string> {
  const url = `${app.config.GITHUB_API_URL}/app-manifests/${encodeURIComponent(code)}/conversions`;
  const response = await fetchFromGitHub(app.config.proxies)(url, {
    method: 'POST',
    signal: AbortSignal.timeout(15_000),
  }).catch(() => undefined);
  const made = ConversionReply.safeParse(await response?.json().catch(() => undefined));
  if (response?.ok && made.success) return made.data;
  const answer = response === undefined ? 'did not respond' : `responded with HTTP ${response.status}`;
  return `GitHub ${answer} when asked for the keys of the new App, so it was not connected.`;
}

function send(app: App, res: Response, status: number, html: string): void {
  res.setHeader('Content-Security-Policy', pagePolicy([new URL(app.config.GITHUB_SERVER_URL).origin]));
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.status(status).type('html').send(html);
}
