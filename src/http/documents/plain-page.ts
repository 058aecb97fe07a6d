/**
 * Renders a page that needs neither scripts nor the built dashboard, but looks like the dashboard. The colours, sizes
 * and fonts are those of Primer's light and dark themes (@primer/primitives), which the dashboard uses.
 */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    ${iconLink}
    <title>${escaped(title)} · Deckhand</title>
    <style>${style}</style>
  </head>
  <body>
    <main>
      ${icon}
      <h1>${escaped(title)}</h1>
      ${body}
    </main>
  </body>
</html>
`;
}

/** Escapes text for HTML, including quoted attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Returns the Content-Security-Policy of a page without scripts. Its forms may submit to `formOrigins`. */
export function pagePolicy(formOrigins: string[]): string {
  return [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    `form-action ${["'self'", ...formOrigins].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The same drawing as src/web/public/icon.svg. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="64" height="64" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#0969da"/><path d="M9 8h7a8 8 0 0 1 0 16H9zm4 4v8h3a4 4 0 0 0 0-8z" fill="#fff"/></svg>';

/** Without it, browsers ask for /favicon.ico, which there is not. */
export const iconLink = `<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}" />`;

const style = `
  :root {
    color-scheme: light dark;
    --bg: #ffffff; --fg: #1f2328; --muted: #59636e; --border: #d1d9e0; --code: #818b981f; --link: #0969da;
    --primary: #1f883d; --primary-hover: #1c8139; --button: #f6f8fa; --button-hover: #eff2f5; --focus: #0969da;
    --warning: #fff8c5; --warning-border: #d4a72c66; --danger: #d1242f;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --bg: #0d1117; --fg: #f0f6fc; --muted: #9198a1; --border: #3d444d; --code: #656c7633; --link: #4493f8;
      --primary: #238636; --primary-hover: #29903b; --button: #212830; --button-hover: #262c36; --focus: #1f6feb;
      --warning: #bb800926; --warning-border: #bb800966; --danger: #f85149;
    }
  }
  * { box-sizing: border-box; }
  body {
    margin: 0; background: var(--bg); color: var(--fg);
    font: 400 14px/1.5 -apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif;
  }
  main {
    max-width: 420px; margin: 12vh auto 0; padding: 16px;
    display: grid; gap: 16px; justify-items: center; text-align: center;
  }
  h1, h2, p { margin: 0; }
  h1 { font-size: 20px; font-weight: 600; line-height: 1.6; }
  h2 { font-size: 16px; font-weight: 600; margin-block-end: 12px; }
  a { color: var(--link); }
  code {
    font: 85% ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
    background: var(--code); border-radius: 3px; padding: 0 4px; overflow-wrap: anywhere;
  }
  .muted { color: var(--muted); }
  .box { width: 100%; border: 1px solid var(--border); border-radius: 6px; padding: 16px; text-align: start; }
  .warning { background: var(--warning); border-color: var(--warning-border); overflow-wrap: anywhere; }
  .problem { color: var(--danger); margin-block-start: 8px; font-size: 12px; }
  .row { display: flex; gap: 8px; }
  form { width: 100%; }
  form + p { margin-block-start: 8px; }
  label { display: block; font-weight: 600; margin-block-end: 4px; }
  input, button { font: inherit; border: 1px solid var(--border); border-radius: 6px; padding: 5px 12px; }
  input { flex: 1; min-width: 0; background: var(--bg); color: var(--fg); }
  button { background: var(--button); color: var(--fg); font-weight: 500; cursor: pointer; }
  button:hover { background: var(--button-hover); }
  .primary {
    width: 100%; padding: 8px 16px; background: var(--primary); color: #ffffff; border-color: #1f232826;
  }
  .primary:hover { background: var(--primary-hover); }
  :focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
`;
