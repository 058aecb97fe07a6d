import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import type { App } from '../app.ts';
import { readCookie, sessionCookie } from './access/session.ts';

/** Compressed copies that may lie beside a file, the best first. */
const copies = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/**
 * Serves those of the named files that a folder has. They are read now and kept in memory: a reply that is streamed from the
 * disk holds an open file for as long as its client does not read, and each of its parts takes a turn of the event loop. And
 * a file that is replaced later, by another build, does not fit the others.
 */
export function filesInMemory(folder: string, names: string[], cacheControl: string): RequestHandler {
  const existingNames = names.filter((name) => existsSync(join(folder, name)));
  const kept = new Map(existingNames.map((name) => [name, readFileSync(join(folder, name))]));
  return (req, res, next) => {
    const name = req.path.slice(1);
    if (!kept.has(name) || !['GET', 'HEAD'].includes(req.method)) return next();
    const existing = copies.filter(([, suffix]) => kept.has(name + suffix));
    const [encoding, suffix] = existing.find(([each]) => req.acceptsEncodings(each)) ?? [undefined, ''];
    if (existing.length > 0) res.vary('Accept-Encoding');
    if (encoding !== undefined) res.setHeader('Content-Encoding', encoding);
    res.setHeader('Cache-Control', cacheControl);
    res.type(extname(name)).send(kept.get(name + suffix));
  };
}

/** What the build's manifest says about a script. */
export interface Chunk {
  name?: string;
  file: string;
  css?: string[];
  /** Keys of the scripts that it imports at its start. */
  imports?: string[];
}

export type Manifest = Record<string, Chunk>;

/** The pages that people open from links and bookmarks, and the names of their scripts. */
const pages: [RegExp, string][] = [
  [/^\/(inbox\/?)?$/, 'inbox-page'],
  [/^\/projects\/[^/]+\/?$/, 'board-page'],
  [/^\/tasks\/[^/]+\/?$/, 'task-page'],
  [/^\/tasks\/[^/]+\/runs\/[^/]+\/?$/, 'run-page'],
];

/**
 * Returns the elements that let a browser load the scripts and styles of a page together with the main script. Otherwise it
 * would find out about them only when the main script runs.
 */
export function preloadsOf(manifest: Manifest, path: string): string {
  const name = pages.find(([pattern]) => pattern.test(path))?.[1];
  const page = Object.keys(manifest).find((key) => manifest[key]?.name === name);
  if (name === undefined || page === undefined) return '';
  const inDocument = new Set(filesOf(manifest, 'index.html'));
  const files = filesOf(manifest, page).filter((file) => !inDocument.has(file));
  return [...new Set(files)].map(elementOf).join('');
}

/** Returns the files of a script and of everything that it imports at its start, imported ones first. */
function filesOf(manifest: Manifest, key: string, seen = new Set<string>()): string[] {
  const chunk = manifest[key];
  if (chunk === undefined || seen.has(key)) return [];
  seen.add(key);
  const { file, css = [], imports = [] } = chunk;
  return [...imports.flatMap((each) => filesOf(manifest, each, seen)), ...css, file];
}

/** The attributes are those that Vite gives its own elements, so that it recognizes these and does not add them again. */
function elementOf(file: string): string {
  const rel = file.endsWith('.css') ? 'stylesheet' : 'modulepreload';
  return `<link rel="${rel}" crossorigin href="/${file}">`;
}

/** The output folder of `npm run build`. */
const built = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const root = '<div id="root">';

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
    .replace(root, `${root}<noscript>${without}<style>.first { display: none }</style></noscript>`);
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
