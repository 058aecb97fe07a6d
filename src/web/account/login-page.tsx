import { MarkGithubIcon } from '@primer/octicons-react';
import { Heading, LinkButton } from '@primer/react';
import { useSearchParams } from 'react-router';
import { serviceInfo } from '../frame/service-info.ts';

export function LoginPage() {
  const [searchParams] = useSearchParams();
  const href = `/login/github?return_to=${encodeURIComponent(searchParams.get('return_to') ?? '/')}`;
  return (
    <main className="login">
      <img src="/icon.svg" alt="" width="64" height="64" />
      <Heading as="h1" variant="medium">
        Deckhand
      </Heading>
      <p className="muted">AI agents work on your repositories. People stay in control.</p>
      {serviceInfo.signIn ? (
        <LinkButton href={href} variant="primary" size="large" leadingVisual={MarkGithubIcon} block>
          Sign in with GitHub
        </LinkButton>
      ) : (
        <SetUpInstructions />
      )}
    </main>
  );
}

/**
 * Explains the setup. Shown while the service has no GitHub App; only its operator can see the address for creating
 * one.
 */
function SetUpInstructions() {
  return (
    <section className="box">
      <Heading as="h2" variant="small">
        Create the GitHub App to sign in
      </Heading>
      <ol>
        <li>
          On the machine that runs the service, run <code>npm run doctor</code>, or look in the service's log. Both show
          the address of the set-up page.
        </li>
        <li>
          Open that address. GitHub shows the App and its permissions. Create it and select the repositories to install
          it on.
        </li>
        <li>Return to this page and sign in.</li>
      </ol>
      <p className="muted">
        If you already have a GitHub App, set <code>GITHUB_CLIENT_ID</code> and <code>GITHUB_CLIENT_SECRET</code>{' '}
        instead. To use the API without signing in, create a token with{' '}
        <code>npm run --silent token -- --login NAME</code>.
      </p>
    </section>
  );
}
