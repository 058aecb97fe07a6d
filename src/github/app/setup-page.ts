import { escaped, page } from './page.ts';

interface SetupForms {
  /** Where the manifest goes at GitHub. */
  action: string;
  manifest: string;
  /** The organization that the App is for; empty for the own account. */
  organization: string;
  /** Opens the set-up page once more, for another organization. */
  nextCode: string;
  /** What GitHub will not accept about the service's address. */
  warning: string | undefined;
}

/** The page that sends the manifest to GitHub. Each step is a form, so it needs no script. */
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

/** What is shown when the name in the organization field cannot be one. `problem` ends the sentence "The name …". */
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

/** A page that says in a sentence why set-up cannot go on, and what to do. `html` must not hold text from outside. */
export function problemPage(html: string): string {
  return page('Set up Deckhand', `<p class="box">${html}</p>`);
}

/** Where GitHub leads after an installation. */
export function installedPage(): string {
  return page(
    'Deckhand is installed',
    `<p>The account is now a project, and its repositories are connected.</p>
      <p>Comment <code>/agent help</code> on an issue, or <a href="/login">sign in</a>.</p>`,
  );
}
