/** A repository as far as it matters who can read it. One that is no longer connected counts as it did when it was read. */
interface Visibility {
  isPrivate: boolean;
}

/** Whether a text in `shownIn` may name `repository`, its pull requests and its issues: private ones only where nobody else reads. */
export function mayName(repository: Visibility, shownIn: Visibility): boolean {
  return !repository.isPrivate || shownIn.isPrivate;
}

/**
 * Whether what a model or an agent read in `source` may show in `shownIn`. Everybody can read a public repository, so
 * private content shows there only if the project allows it.
 */
export function mayReveal(source: Visibility, shownIn: Visibility, project: { sharePrivateContext: boolean }): boolean {
  return project.sharePrivateContext || mayName(source, shownIn);
}
