import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import type { RepositoryRow, UserRow } from '../db/tables/project.ts';
import { hasRole } from '../domain/agent.ts';
import { mayName } from '../domain/settings.ts';
import { AppError } from '../errors.ts';
import { roleIn } from '../projects/member-store.ts';
import { findUser, upsertUser } from '../projects/store.ts';
import { credentialFor, octokitFor } from './credentials.ts';
import { rightOf } from './permission.ts';
import { listProjectRepositories, listRepositoriesById } from './store.ts';

/** What people need to be allowed in a repository. */
export type NeededRight = 'read' | 'write';

/**
 * Returns why people may not read or write in a repository now, as a sentence that names the first of them who may not;
 * undefined if all of them may. GitHub is asked each time. It cannot be asked about a repository that the App's
 * installation does not serve; there the role in the project counts. Where nobody is known, nobody has the right.
 * @throws the error of GitHub when it cannot be asked; never counts that as a right
 */
export async function lackOfRight(
  app: App,
  userIds: string[],
  repository: RepositoryRow,
  needed: NeededRight,
): Promise<string | undefined> {
  if (userIds.length === 0)
    return `Nobody is known who could be asked about ${needed} permission in the repository ${repository.name}. Somebody who has it there can start the task.`;
  for (const id of new Set(userIds)) {
    const person = await findUser(app.db.manager, id);
    if (person === null || !(await hasRight(app, person, repository, needed)))
      return `${person?.login ?? 'A deleted account'} has no ${needed} permission in the repository ${repository.name}.`;
  }
  return undefined;
}

/**
 * Returns an error that says why people may not read or write in a repository now: 403, or 502 if GitHub could not be
 * asked. Returns undefined if all of them may.
 */
export async function rightProblem(
  app: App,
  userIds: string[],
  repository: RepositoryRow,
  needed: NeededRight,
): Promise<AppError | undefined> {
  try {
    const lack = await lackOfRight(app, userIds, repository, needed);
    return lack === undefined ? undefined : new AppError(403, lack);
  } catch (error) {
    app.log.warn({ err: error, repositoryId: repository.id }, 'GitHub could not be asked about a permission');
    const { status } = error as { status?: number };
    const why = status === undefined ? 'it could not be reached' : `HTTP ${status}`;
    return new AppError(
      502,
      `GitHub could not be asked about ${needed} permission in the repository ${repository.name} (${why}). Try again later.`,
    );
  }
}

const disconnected =
  'One of the repositories is no longer connected to the project, so nobody can be asked who may read or write there.';

/**
 * Like `rightProblem`, for several repositories. Nobody has a right in one that is no longer connected: what a run has
 * read there may still be in its conversation.
 */
export async function rightProblemIn(
  app: App,
  userIds: string[],
  repositoryIds: string[],
  needed: NeededRight,
): Promise<AppError | undefined> {
  const ids = [...new Set(repositoryIds)];
  const known = await listRepositoriesById(app.db.manager, ids);
  if (known.length < ids.length) return new AppError(403, disconnected);
  for (const repository of known) {
    const problem = await rightProblem(app, userIds, repository, needed);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Like `lackOfRight`, for several repositories, under the rules of `rightProblemIn`. */
export async function lackOfRightIn(
  app: App,
  userIds: string[],
  repositoryIds: string[],
  needed: NeededRight,
): Promise<string | undefined> {
  const ids = [...new Set(repositoryIds)];
  const known = await listRepositoriesById(app.db.manager, ids);
  if (known.length < ids.length) return disconnected;
  for (const repository of known) {
    const lack = await lackOfRight(app, userIds, repository, needed);
    if (lack !== undefined) return lack;
  }
  return undefined;
}

/**
 * Returns a function that words refusals for the readers of a repository. In a public one, it removes the names of the
 * project's private repositories and the links to them.
 */
export async function refusalsIn(
  em: EntityManager,
  shownIn: Pick<RepositoryRow, 'projectId' | 'isPrivate'>,
): Promise<(text: string) => string> {
  const all = shownIn.isPrivate ? [] : await listProjectRepositories(em, shownIn.projectId);
  const hidden = all.filter((each) => !mayName(each, shownIn));
  const end = '(?![\\w-]|\\.\\w)';
  const patterns = hidden.map(({ name, url }) => ({
    link: new RegExp(`${literal(url.replace(/(\.git)?\/?$/, ''))}(\\.git)?${end}[^\\s)]*`, 'gi'),
    named: new RegExp(`the repository ${literal(name)}${end}`, 'g'),
  }));
  return (text) =>
    patterns.reduce(
      (told, { link, named }) =>
        told.replace(link, '(in a private repository)').replace(named, 'another repository of the project'),
      text,
    );
}

/** Returns a pattern that matches just this text. */
const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

async function hasRight(app: App, person: UserRow, repository: RepositoryRow, needed: NeededRight): Promise<boolean> {
  const credential = await credentialFor(app, repository);
  if (credential.kind !== 'installation') {
    const role = await roleIn(app.db.manager, repository.projectId, person.id);
    return role !== undefined && hasRole(role, 'member');
  }
  // A user who was made while GitHub was off is known by the login only.
  const account =
    person.githubId === null ? await app.github?.findUser(person.login) : { ...person, id: person.githubId };
  if (account === undefined) return false;
  const octokit = await octokitFor(app, credential);
  const { owner, repo } = credential;
  const { right, login } = await rightOf(octokit, { owner, repo }, account);
  if (login !== account.login) await upsertUser(app.db.manager, { id: account.id, login });
  return needed === 'write' ? right === 'write' : right !== 'none';
}
