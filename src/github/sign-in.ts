import express, { type Request, type Response, type Router } from 'express';
import type { App } from '../app.ts';
import type { UserRow } from '../db/tables/project.ts';
import { AppError, notAdmitted, notConfigured, upstreamFailed } from '../errors.ts';
import {
  clearCookie,
  readCookie,
  refuseCrossSite,
  sessionCookie,
  sessionMs,
  setCookie,
} from '../http/access/session.ts';
import { escaped, page, pagePolicy } from '../http/documents/plain-page.ts';
import { type About, sendPage } from '../http/pages.ts';
import { fetchFromGitHub } from '../outgoing/fetch-from.ts';
import { admit, endAdmission, forgetAsked, isAdmitted, noteAsked } from '../projects/admission.ts';
import { type GitHubUser, upsertUser } from '../projects/store.ts';
import { endSession, mintSession } from '../projects/tokens.ts';
import { forPerson } from '../threads/tenant.ts';
import { claimOwnerships } from './app/installation.ts';
import { digest, insertSignIn, random, takeSignIn } from './app/one-time.ts';

/** Renders the sign-in page for browsers without scripts. */
function loginPage(isConfigured: boolean, returnTo: string): string {
  if (isConfigured)
    return `<p><a href="/login/github?return_to=${encodeURIComponent(returnTo)}">Sign in with GitHub</a></p>`;
  return '<p>Sign-in is not configured. Set <code>GITHUB_CLIENT_ID</code> and <code>GITHUB_CLIENT_SECRET</code>, or create a token with <code>npm run --silent token -- --login NAME</code>.</p>';
}

/**
 * Decides whether somebody who signed in to GitHub may use this service, and makes them owner of the projects whose accounts
 * they administer. Members of projects may always use it, even while GitHub does not answer.
 * @throws AppError 403 for strangers, 503 if GitHub does not say whether somebody is one
 */
async function enter(app: App, user: UserRow): Promise<void> {
  const em = app.db.manager;
  const isOpen = app.config.SIGN_IN === 'anyone';
  const mayAsk = (await noteAsked(em, user.id)) || isOpen || (await isAdmitted(em, user.id));
  if (!mayAsk) throw notAdmitted();
  const { isMember, problem } = await forPerson(user.id, () => claimOwnerships(app, user));
  if (isMember) await admit(em, user.id, 'account');
  else if (problem === undefined) await endAdmission(em, user.id);
  if (isOpen || (await isAdmitted(em, user.id))) return;
  if (problem === undefined) throw notAdmitted();
  await forgetAsked(em, user.id);
  throw new AppError(
    503,
    'GitHub did not answer whether you are a member of an account that uses this service. Try again in a minute.',
  );
}

const signInCookie = 'deckhand_sign_in';
const signInMs = 600_000;

/** Serves GitHub's OAuth web flow for Apps, with state and PKCE: /login, /login/github, /login/callback, /logout. */
export function loginRoutes(app: App): Router {
  const router = express.Router();
  router.get('/login', async (req, res) => {
    const about = await aboutApp(app);
    const without = loginPage(about.signIn, returnPath(req.query.return_to));
    sendPage(app, req, res, about, without);
  });
  router.get('/login/github', (req, res) => begin(app, req, res));
  router.get('/login/callback', (req, res) => finish(app, req, res));
  router.post('/logout', async (req, res) => {
    const token = readCookie(req, app.config.BASE_URL, sessionCookie);
    // Checked even without a cookie. A form on another site is sent without our cookie, but our response would delete
    // it.
    refuseCrossSite(req, app.config.BASE_URL);
    if (token !== undefined) await endSession(app, token);
    clearCookie(res, app.config.BASE_URL, sessionCookie);
    res.redirect(303, '/login');
  });
  return router;
}

/** Returns what anybody may know about this service: how to sign in, and where to install its App. */
export async function aboutApp(app: App): Promise<About> {
  const bot = await app.github?.bot().catch(() => undefined);
  const slug = bot?.login.replace(/\[bot\]$/, '');
  return {
    signIn: credentials(app) !== undefined,
    installUrl: slug === undefined ? null : `${app.config.GITHUB_SERVER_URL}/apps/${slug}/installations/new`,
  };
}

function credentials({ config, githubApp }: App): { id: string; secret: string } | undefined {
  if (githubApp?.client !== undefined) return githubApp.client;
  const { GITHUB_CLIENT_ID: id, GITHUB_CLIENT_SECRET: secret } = config;
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/**
 * Returns the path to return to after signing in. Replaces anything that a browser could read as another site's address
 * by `/`.
 */
function returnPath(given: unknown): string {
  const isPath =
    typeof given === 'string' &&
    given.length < 2000 &&
    /^\/(?![/\\])[\x21-\x7e]*$/.test(given) &&
    !given.includes('\\');
  return isPath ? given : '/';
}

function callbackUrl({ config }: App): string {
  return `${config.BASE_URL}/login/callback`;
}

async function begin(app: App, req: Request, res: Response): Promise<void> {
  const client = credentials(app);
  if (client === undefined)
    throw notConfigured('Sign-in is not configured: set GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET');
  const [state, browser, verifier] = [random(), random(), random()];
  await insertSignIn(app.db.manager, {
    stateDigest: digest(state),
    browserDigest: digest(browser),
    verifier,
    returnTo: returnPath(req.query.return_to),
  });
  setCookie(res, app.config.BASE_URL, signInCookie, browser, signInMs);
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: callbackUrl(app),
    state,
    code_challenge: digest(verifier),
    code_challenge_method: 'S256',
  });
  res.redirect(302, `${app.config.GITHUB_SERVER_URL}/login/oauth/authorize?${query}`);
}

async function finish(app: App, req: Request, res: Response): Promise<void> {
  const { code, state, error } = req.query;
  // The person cancelled at GitHub.
  if (error === 'access_denied') return res.redirect(303, '/login');
  const browser = readCookie(req, app.config.BASE_URL, signInCookie);
  clearCookie(res, app.config.BASE_URL, signInCookie);
  const isComplete = typeof code === 'string' && typeof state === 'string' && browser !== undefined;
  // The state is deleted before it is checked, because it is valid for one attempt.
  const begun = isComplete ? await takeSignIn(app.db.manager, digest(state), signInMs) : undefined;
  if (!isComplete || begun === undefined || begun.browserDigest !== digest(browser))
    throw new AppError(
      400,
      'This sign-in has expired, or it was started in another browser. Go to /login and try again.',
    );
  const user = await upsertUser(app.db.manager, await whoSignedIn(app, code, begun.verifier));
  try {
    await enter(app, user);
  } catch (error) {
    if (!(error instanceof AppError) || req.accepts(['html', 'json']) === 'json') throw error;
    return refuse(res, error);
  }
  const { token, expiresAt } = await mintSession(app, user.id, sessionMs);
  if (req.accepts(['html', 'json']) === 'json') {
    res.setHeader('Cache-Control', 'no-store');
    res.json({ token, expiresAt: expiresAt.toISOString() });
    return;
  }
  setCookie(res, app.config.BASE_URL, sessionCookie, token, sessionMs);
  res.redirect(303, begun.returnTo);
}

/** Tells a person in a browser why they may not use the service. */
function refuse(res: Response, { status, message }: AppError): void {
  res.setHeader('Content-Security-Policy', pagePolicy([]));
  res.setHeader('Cache-Control', 'no-store');
  const again = '<p><a href="/login">Back to the sign-in</a></p>';
  res
    .status(status)
    .type('html')
    .send(page('You cannot sign in', `<p class="box">${escaped(message)}</p>${again}`));
}

/** Exchanges the code for a token and asks GitHub whose it is. The token is not stored. */
async function whoSignedIn(app: App, code: string, verifier: string): Promise<GitHubUser> {
  const client = credentials(app);
  const response = await fetchFromGitHub(app.config.proxies)(
    `${app.config.GITHUB_SERVER_URL}/login/oauth/access_token`,
    {
      method: 'POST',
      headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
      body: JSON.stringify({
        client_id: client?.id,
        client_secret: client?.secret,
        code,
        redirect_uri: callbackUrl(app),
        code_verifier: verifier,
      }),
      signal: AbortSignal.timeout(15_000),
    },
  ).catch(() => undefined);
  const answer = (await response?.json().catch(() => undefined)) as
    | { access_token?: string; error?: string }
    | undefined;
  if (answer?.access_token === undefined)
    throw upstreamFailed('GitHub', answer?.error ?? 'it gave no token for this sign-in');
  const { data } = await app.githubWithToken(answer.access_token).request('GET /user');
  return data;
}
