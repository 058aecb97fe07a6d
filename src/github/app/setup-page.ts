/** The page that hands the manifest to GitHub; the form is the button, so it needs no script. */
export function setupPage(action: string, manifest: string): string {
  return page(
    'Set up Deckhand',
    `<p>GitHub will show you the new App and its permissions; confirm there.</p>
      <form action="${escaped(action)}" method="post">
        <input type="hidden" name="manifest" value="${escaped(manifest)}" />
        <button>Create the GitHub App</button>
      </form>
      <p>For an organization add <code>&amp;organization=NAME</code> to the address of this page, with a new code of <code>npm run doctor</code>.</p>`,
  );
}

/** Where GitHub leads after an installation. */
export function installedPage(): string {
  return page(
    'Deckhand is installed',
    `<p>The account is a project now, with its repositories connected.</p>
      <p>Comment <code>/agent help</code> on an issue, or <a href="/login">sign in</a>.</p>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>${title}</title>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
      ${body}
    </main>
  </body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
