import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type Request, type Response, type Router } from 'express';
import type { App } from '../../app.ts';
import { readCookie, sessionCookie } from '../access/session.ts';
import { filesInMemory } from './files.ts';
import { type Manifest, preloadsOf } from './preloads.ts';

/** The output folder of `npm run build`. */
const built = fileURLToPath(new URL('../../../dist/web/', import.meta.url));
const root = '<div id="root"></div>';

/** Facts about the service that are embedded in the pages of the dashboard. They are public. */
export interface About {
  /** Whether people can sign in with GitHub. */
  signIn: boolean;
  /** The address at which people install the App on further accounts; null without an App. */
  installUrl: string | null;
}

/**
 * Serves the dashboard: its files and, for every other address, its one HTML document, whose script reads the address.
 * Requests that do not accept HTML are passed to the next handler.
 */
export function dashboard(app: Pick<App, 'config'>, about: () => Promise<About>): Router {
  const router = express.Router();
  router.use(ours().files);
  router.get(/^\/(?!api\/|assets\/|healthz|readyz)/, async (req, res, next) => {
    if (req.accepts(['json', 'html']) !== 'html') return next();
    sendPage(app, req, res, await about(), '<p>This page needs JavaScript.</p>');
  });
  return router;
}

/**
 * Sends the dashboard's HTML document for the requested page. Browsers without scripts show `without`, and so does every
 * browser if the dashboard was not built.
 */
export function sendPage(app: Pick<App, 'config'>, req: Request, res: Response, about: About, without: string): void {
  const { document: text, manifest } = ours();
  res.setHeader('Content-Security-Policy', policyOf(app));
  // The document names script files that the next release removes, so it must not be cached.
  res.setHeader('Cache-Control', 'no-cache');
  if (text === undefined) {
    res
      .type('html')
      .send(
        bare(`${without}<p>The dashboard is not built. Run <code>npm run build</code>, then restart the service.</p>`),
      );
    return;
  }
  // Without it, the page would first ask who the person is, and the browser would log the refusal to its console.
  const hasSession = readCookie(req, app.config.BASE_URL, sessionCookie) !== undefined;
  const told = JSON.stringify({ ...about, hasSession }).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const page = text
    .replace('<meta name="deckhand" />', `<meta name="deckhand" content="${told}" />`)
    .replace('</head>', `${preloadsOf(manifest, req.path)}</head>`)
    .replace(root, `<div id="root"><noscript>${without}</noscript></div>`);
  res.type('html').send(page);
}

/** What the build has made. */
interface Build {
  files: Router;
  /** Undefined if the dashboard was not built. */
  document: string | undefined;
  manifest: Manifest;
}

/**
 * Reads a build at once and completely. The document names files that another build removes, so a service goes on with the
 * build that it has read.
 */
export function readBuild(folder: string): Build {
  const assets = join(folder, 'assets');
  const files = express.Router();
  // File names contain a hash of the content, so browsers may cache them. The build stores a compressed copy beside
  // each file.
  const names = existsSync(assets) ? readdirSync(assets) : [];
  files.use('/assets', filesInMemory(assets, names, 'public, max-age=31536000, immutable'));
  files.use(filesInMemory(folder, ['icon.svg', 'icon-working.svg'], 'public, max-age=3600'));
  const textOf = (name: string) => {
    const file = join(folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  return { files, document: textOf('index.html'), manifest: JSON.parse(textOf('.vite/manifest.json') ?? '{}') };
}

let read: Build | undefined;

/** Returns the build of this service, which is read when the service starts. */
function ours(): Build {
  read ??= readBuild(built);
  return read;
}

/**
 * Returns the Content-Security-Policy. It allows only our own scripts, connections and fonts. Inline styles are allowed
 * because Primer's components use them. Images may also come from GitHub's avatar server.
 */
function policyOf({ config }: Pick<App, 'config'>): string {
  const images = [...new Set(['https://avatars.githubusercontent.com', new URL(config.GITHUB_SERVER_URL).origin])];
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: ${images.join(' ')}`,
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const bare = (body: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Deckhand</title>
  </head>
  <body><main><h1>Deckhand</h1>${body}</main></body>
</html>
`;
