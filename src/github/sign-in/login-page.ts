/** Renders the sign-in page for browsers without scripts. */
export function loginPage(isConfigured: boolean, returnTo: string): string {
  if (isConfigured)
    return `<p><a href="/login/github?return_to=${encodeURIComponent(returnTo)}">Sign in with GitHub</a></p>`;
  return '<p>Sign-in is not configured. Set <code>GITHUB_CLIENT_ID</code> and <code>GITHUB_CLIENT_SECRET</code>, or create a token with <code>npm run --silent token -- --login NAME</code>.</p>';
}
