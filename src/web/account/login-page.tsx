import { MarkGithubIcon } from '@primer/octicons-react';
import { Heading, LinkButton } from '@primer/react';
import { useSearchParams } from 'react-router';
import { about } from '../frame/service-info.ts';

export function LoginPage() {
  const [query] = useSearchParams();
  const href = `/login/github?return_to=${encodeURIComponent(query.get('return_to') ?? '/')}`;
  return (
    <main className="login">
      <img src="/icon.svg" alt="" width="64" height="64" />
      <Heading as="h1" variant="medium">
        Deckhand
      </Heading>
      <p className="muted">AI agents do tasks on your repositories; people stay in command.</p>
      {about.signIn ? (
        <LinkButton href={href} variant="primary" size="large" leadingVisual={MarkGithubIcon} block>
          Sign in with GitHub
        </LinkButton>
      ) : (
        <FirstSteps />
      )}
    </main>
  );
}

/** A service without its GitHub App: the way to one is behind a code that only who runs the service sees. */
function FirstSteps() {
  return (
    <section className="box">
      <Heading as="h2" variant="small">
        One step to go: make the GitHub App
      </Heading>
      <ol>
        <li>
          Where the service runs, look for the line <code>no GitHub App is configured; make one in a click, once</code>{' '}
          in its log, or run <code>npm run doctor</code>.
        </li>
        <li>
          Open the address that stands there. GitHub shows the App and its permissions; confirm, and choose the
          repositories.
        </li>
        <li>Come back here and sign in.</li>
      </ol>
      <p className="muted">
        Or set <code>GITHUB_CLIENT_ID</code> and <code>GITHUB_CLIENT_SECRET</code>. For programs,{' '}
        <code>npm run --silent token -- --login NAME</code> prints an API token.
      </p>
    </section>
  );
}
