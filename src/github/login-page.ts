/** The sign-in page, until the dashboard takes it over. */
export function loginPage(isConfigured: boolean, returnTo: string): string {
  const href = `/login/github?return_to=${encodeURIComponent(returnTo)}`;
  const what = isConfigured
    ? `<p><a href="${href}">Sign in with GitHub</a></p>`
    : '<p>Sign-in is not configured: set <code>GITHUB_CLIENT_ID</code> and <code>GITHUB_CLIENT_SECRET</code>. Tokens come from <code>npm run --silent token -- --login NAME</code>.</p>';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Sign in to Deckhand</title>
  </head>
  <body>
    <main>
      <h1>Deckhand</h1>
      ${what}
    </main>
  </body>
</html>
`;
}
