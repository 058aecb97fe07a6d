// Which submodules are fetched with a token: those that are private, connected to the project, and allowed to everybody
// whose words a run follows.

import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import type { AppError } from '../../errors.ts';
import { GitFailed, type Remote } from '../../git/engine.ts';
import { isSameAddress } from '../../git/remote-url.ts';
import { credentialFor, githubUrl, nameOnGitHub, remoteFor } from '../../repositories/credentials.ts';
import { openable, rightProblem } from '../../repositories/rights.ts';

/** On whose behalf private submodules are fetched, and what was fetched. */
export interface Readers {
  /** The repository of the task or trial. What is read in a submodule may become visible there. */
  own: RepositoryRow;
  /**
   * Returns why they may not use the content of a repository now, or undefined. A run also records that it has this content,
   * so that nobody without the right can direct it later.
   */
  enter(repository: RepositoryRow): Promise<AppError | undefined>;
  /** Called with each token, so that it is searched for in what the run writes. */
  onToken(token: string): void;
  /** The ids of the repositories whose content was fetched with a token. */
  entered: Set<string>;
}

/** Makes the readers for something that is no run, on behalf of some people. */
export function readersOf(app: App, own: RepositoryRow, userIds: string[]): Readers {
  return {
    own,
    enter: (repository) => rightProblem(app, userIds, repository, 'write'),
    onToken: () => {},
    entered: new Set(),
  };
}

/** Finds the repository of the project that has this address on GitHub, and that a run of `own` may open. */
export async function connectedAt(app: App, own: RepositoryRow, url: string): Promise<RepositoryRow | undefined> {
  if (nameOnGitHub(app, url) === undefined) return undefined;
  const known = [own, ...(await openable(app, own))];
  return known.find((each) => isSameAddress(url, each.url, githubUrl(app)));
}

/** A private submodule must not be fetched. The message follows its address. */
export class NotAllowed extends Error {}

/**
 * Checks that the App is installed on a connected repository. Other credentials open more than one repository.
 * @throws NotAllowed
 */
export async function assertInstalled(app: App, repository: RepositoryRow) {
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'installation') return credential;
  throw new NotAllowed('is private: install the GitHub App on it, because submodules are not fetched with git tokens');
}

/**
 * Returns where to fetch a private submodule from, with a token that can only read this repository.
 * @throws NotAllowed; GitFailed `unreachable` when GitHub could not be asked
 */
export async function privateRemote(app: App, readers: Readers, repository: RepositoryRow): Promise<Remote> {
  const credential = await assertInstalled(app, repository);
  const problem = await readers.enter(repository);
  if (problem?.status === 403)
    throw new NotAllowed(`is private: ${problem.message} Everybody whose words a run follows needs it there.`);
  if (problem !== undefined) throw new GitFailed('unreachable', problem.message);
  const remote = await remoteFor(app, repository, credential, { contents: 'read' }).catch((error) => {
    const { status = 0 } = error as { status?: number };
    if (![403, 404, 422].includes(status)) throw error;
    throw new NotAllowed('is private: the GitHub App may not read it; add it to the repositories of the installation');
  });
  readers.entered.add(repository.id);
  if (remote.token !== undefined) readers.onToken(remote.token);
  // Nothing is cached: the cache belongs to the runs of that repository.
  return { ...remote, scope: undefined };
}

/**
 * Asks on behalf of these readers whether they may use what others have fetched.
 * @throws GitFailed `unreachable` when GitHub could not be asked
 */
export async function mayUse(app: App, readers: Readers | undefined, repositoryIds: string[]): Promise<boolean> {
  if (repositoryIds.length === 0) return true;
  if (readers === undefined) return false;
  const known = [readers.own, ...(await openable(app, readers.own))];
  for (const id of repositoryIds) {
    const repository = known.find((each) => each.id === id);
    const problem = repository && (await readers.enter(repository));
    if (problem !== undefined && problem.status !== 403) throw new GitFailed('unreachable', problem.message);
    if (repository === undefined || problem !== undefined) return false;
  }
  for (const id of repositoryIds) readers.entered.add(id);
  return true;
}
