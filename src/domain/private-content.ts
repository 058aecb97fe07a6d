/** The visibility of a repository. A disconnected repository counts as private if it was private when it was read. */
interface Visibility {
  isPrivate: boolean;
}

/**
 * Returns whether text shown in the repository `shownIn` may name `repository`, its pull requests and its issues. A
 * private repository may be named only in private ones.
 */
export function mayName(repository: Visibility, shownIn: Visibility): boolean {
  return !repository.isPrivate || shownIn.isPrivate;
}

/**
 * Returns whether what a model or an agent read in `source` may appear in `shownIn`. Everybody can read a public
 * repository, so private content may appear there only if the project allows it.
 */
export function mayReveal(source: Visibility, shownIn: Visibility, project: { sharePrivateContext: boolean }): boolean {
  return project.sharePrivateContext || mayName(source, shownIn);
}
