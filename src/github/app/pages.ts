import { escaped, page } from '../../http/documents/plain-page.ts';

interface SetupForms {
  /** The address at GitHub that the form sends the manifest to. */
  action: string;
  manifest: string;
  /** The organization that will own the App; empty for the user's own account. */
  organization: string;
  /** A one-time code that opens the set-up page again for another organization. */
  nextCode: string;
  /** Why GitHub will not accept the service's address. */
  warning: string | undefined;
}

/** Renders the page that sends the manifest to GitHub. Each step is a form, so the page needs no script. */
export function setupPage({ action, manifest, organization, nextCode, warning }: SetupForms): string {
  const owner = organization === '' ? 'your own account' : `the organization ${organization}`;
  return page(
    'Set up Deckhand',
    `<p class="muted">Deckhand works through a GitHub App. GitHub shows you the App and its permissions before it creates it.</p>
      ${warning === undefined ? '' : `<p class="box warning" role="alert">${escaped(warning)}</p>`}
      <form action="${escaped(action)}" method="post">
        <input type="hidden" name="manifest" value="${escaped(manifest)}" />
        <button class="primary">Create the GitHub App for ${escaped(owner)}</button>
      </form>
      ${organizationForm(nextCode, organization)}
      <p class="muted">Afterwards GitHub asks which repositories Deckhand may work on.</p>`,
  );
}

/**
 * Renders the error for an organization name that GitHub does not allow. `problem` completes the sentence "The name …".
 */
export function badOrganizationPage(nextCode: string, organization: string, problem: string): string {
  return page('Set up Deckhand', organizationForm(nextCode, organization, problem));
}

function organizationForm(nextCode: string, organization: string, problem?: string): string {
  return `<section class="box">
        <h2>Create it for an organization</h2>
        <form action="/setup" method="get">
          <input type="hidden" name="code" value="${escaped(nextCode)}" />
          <label for="organization">Organization</label>
          <div class="row">
            <input id="organization" name="organization" value="${escaped(organization)}" maxlength="39" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="acme" aria-describedby="hint" />
            <button>Continue</button>
          </div>
          ${problem === undefined ? '' : `<p class="problem" role="alert">The name ${escaped(problem)}.</p>`}
        </form>
        <p class="muted" id="hint">Its name as in the address of its page on GitHub. Leave it empty for your own account.</p>
      </section>`;
}

/**
 * Renders a page that says why the set-up cannot continue and what to do. `html` is not escaped here, so callers must
 * escape input from users.
 */
export function problemPage(html: string): string {
  return page('Set up Deckhand', `<p class="box">${html}</p>`);
}

/** Renders the page that GitHub redirects to after an installation. */
export function installedPage(): string {
  return page(
    'Deckhand is installed',
    `<p>The account is now a project, and its repositories are connected.</p>
      <p>Comment <code>/agent help</code> on an issue, or <a href="/login">sign in</a>.</p>`,
  );
}
