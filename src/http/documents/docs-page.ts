import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type Router } from 'express';
import { filesInMemory } from '../pages.ts';
import type { Route } from '../route.ts';
import { escaped, iconLink } from './plain-page.ts';

const files = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

/** Serves Swagger UI for our OpenAPI document from this process. The page loads nothing from other servers. */
export function docsPage(documentUrl: string, routes: Route[]): Router {
  const router = express.Router();
  // Swagger UI sets style attributes, so inline styles are allowed. Scripts must come from this server.
  const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";
  router.use((_req, res, next) => {
    res.setHeader('Content-Security-Policy', policy);
    next();
  });
  const html = page(routes);
  router.get('/', (req, res) => {
    if (!req.originalUrl.split('?')[0]?.endsWith('/')) return res.redirect(301, 'docs/');
    return res.type('html').send(html);
  });
  router.get('/start.js', (_req, res) => res.type('js').send(start(documentUrl)));
  router.use(filesInMemory(files, ['swagger-ui.css', 'swagger-ui-bundle.js'], 'public, max-age=3600'));
  return router;
}

/**
 * Lists all operations, because Swagger UI has only those in the page that are in sight, so that nobody finds the others by searching
 * in the page. A link loads the page again, because Swagger UI reads the fragment only then.
 */
const listOf = (routes: Route[]) => `<details style="margin: 8px 20px; font-family: sans-serif">
      <summary>All ${routes.length} operations</summary>
      <ul>${routes
        .map(({ operationId, method, path, summary, tag }) => {
          const name = `${method.toUpperCase()} ${path.replace(/:(\w+)/g, '{$1}')}`;
          const link = `?${operationId}#/${encodeURIComponent(tag)}/${operationId}`;
          return `<li><a href="${link}"><code>${escaped(name)}</code></a> ${escaped(summary)}</li>`;
        })
        .join('')}</ul>
    </details>`;

const page = (routes: Route[]) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    ${iconLink}
    <title>Deckhand API</title>
    <link rel="stylesheet" href="swagger-ui.css" />
  </head>
  <body>
    <p style="margin: 16px 20px 0; font-family: sans-serif"><a href="/">Back to the dashboard</a></p>
    ${listOf(routes)}
    <main id="docs"><p>Loading…</p></main>
    <script src="swagger-ui-bundle.js"></script>
    <script src="start.js"></script>
  </body>
</html>
`;

const start = (url: string) =>
  `SwaggerUIBundle({ url: ${JSON.stringify(url)}, dom_id: '#docs', deepLinking: true, persistAuthorization: false });\n`;
