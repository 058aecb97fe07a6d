import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../app.ts';
import type { RepositoryRow, UserRow } from '../db/tables/project.ts';
import { hasRole } from '../domain/agent.ts';
import { mayName, mayReveal } from '../domain/settings.ts';
import { AppError } from '../errors.ts';
import type { RepoName } from '../git/remote-url.ts';
import { creatorOf } from '../projects/budgets.ts';
import { roleIn } from '../projects/member-store.ts';
import { findProject, findUser, upsertUser } from '../projects/store.ts';
import { credentialFor, installationOf, octokitFor } from './credentials.ts';
import { rightOf, unlessMissing } from './permission.ts';
import { findRepository, isPrivateElsewhere, listProjectRepositories, listRepositoriesById } from './store.ts';

/** What people need to be allowed in a repository. */
export type NeededRight = 'read' | 'write';

/**
 * Returns why people may not read or write in a repository now, as a sentence that names the first of them who may not;
 * undefined if all of them may. GitHub is asked each time. It cannot be asked about a repository that no installation
 * of the App covers; there the role in the project counts. Where nobody is known, nobody has the right.
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
  const place = await placeToAsk(app, repository);
  for (const id of new Set(userIds)) {
    const person = await findUser(app.db.manager, id);
    const mayDo = async (known: UserRow) =>
      place === undefined ? isMember(app, known, repository) : hasRight(app, known, place, needed);
    if (person === null || !(await mayDo(person)))
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
 * Returns whether a project may store what people write in a private repository now. A project that a person created without an
 * installation may while that person can read the repository: nobody else removes its members when they lose access. In other
 * projects, the owners of the account decide who is a member.
 * @throws the error of GitHub when it cannot be asked
 */
export async function mayStoreTexts(app: App, repositoryId: string): Promise<boolean> {
  const repository = await findRepository(app.db.manager, repositoryId);
  if (repository === null) return false;
  if (!repository.isPrivate && !(await isPrivateElsewhere(app.db.manager, repository))) return true;
  const creator = await creatorOf(app.db.manager, repository.projectId);
  return creator === null || (await lackOfRight(app, [creator], repository, 'read')) === undefined;
}

/**
 * Finds the repositories of the project that a run may open besides its own. A run can write to every repository that
 * it opens, so what it reads in one may become visible in another. Whether its directors may write there is asked when
 * it opens one.
 */
export async function openable(app: App, own: RepositoryRow): Promise<RepositoryRow[]> {
  const all = await listProjectRepositories(app.db.manager, own.projectId);
  const project = await findProject(app.db.manager, own.projectId);
  return all.filter((r) => r.id !== own.id && mayReveal(r, own, project) && mayReveal(own, r, project));
}

/**
 * Returns why a run may not know the content of these repositories; undefined if it could open all of them now. The settings of the
 * project, or the visibility of a repository, may have changed since that content was read.
 */
export async function whyNotBeside(
  app: App,
  ownId: string | null,
  repositoryIds: string[],
): Promise<string | undefined> {
  const others = repositoryIds.filter((id) => id !== ownId);
  if (others.length === 0) return undefined;
  const own = ownId === null ? null : await findRepository(app.db.manager, ownId);
  const allowed = new Set(own === null ? [] : (await openable(app, own)).map(({ id }) => id));
  if (others.every((id) => allowed.has(id))) return undefined;
  return `The conversation has the content of a private repository, which may not be shown in ${own?.name ?? 'another one'}.`;
}

/** Returns whether a repository may show what MCP servers answer. Its visibility, and what the project shares, are those of now. */
export async function mayShowMcp(
  em: EntityManager,
  { id, projectId }: Pick<RepositoryRow, 'id' | 'projectId'>,
): Promise<boolean> {
  const shownIn = (await findRepository(em, id)) ?? { isPrivate: false };
  return mayReveal({ isPrivate: true }, shownIn, await findProject(em, projectId));
}

/**
 * Returns a function that words refusals for the readers of a repository. In a public one, it removes the names of the
 * project's private repositories, the links to them and the paths of their files.
 */
export async function refusalsIn(
  em: EntityManager,
  shownIn: Pick<RepositoryRow, 'projectId' | 'isPrivate'>,
): Promise<(text: string) => string> {
  const all = shownIn.isPrivate ? [] : await listProjectRepositories(em, shownIn.projectId);
  const hidden = all.filter((each) => !mayName(each, shownIn));
  const end = '(?![\\w-]|\\.\\w)';
  const patterns = hidden.map(({ name, url }) => ({
    link: new RegExp(`${literal(url.replace(/(\.git)?\/?$/, ''))}(\\.git)?${end}[^\\n]*`, 'gi'),
    // What follows may be about its branches, checks and contents.
    told: new RegExp(`the repository ${literal(name)}: [^\\n]*`, 'gi'),
    named: new RegExp(`the repository ${literal(name)}${end}`, 'gi'),
    // A path may contain spaces, so whatever follows it on its line goes, too.
    file: new RegExp(`\\.\\./+${literal(name)}/[^\\n]*`, 'g'),
  }));
  return (text) =>
    patterns.reduce(
      (said, { link, told, named, file }) =>
        said
          .replace(file, 'a file in a private repository; the page of the task shows it')
          .replace(told, 'another repository of the project; the page of the task says more')
          .replace(link, '(in a private repository; the page of the task says more)')
          .replace(named, 'another repository of the project'),
      text,
    );
}

/** Returns a pattern that matches just this text. */
const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Where GitHub can be asked about people. `isOther` means that the connected repository no longer has this name. */
type Asked = { octokit: Octokit; name: RepoName; isOther: boolean };

/** Returns where GitHub can be asked about a repository; undefined if no installation covers it. */
async function placeToAsk(app: App, repository: RepositoryRow): Promise<Asked | undefined> {
  const own = await credentialFor(app, repository);
  const credential = own.kind === 'installation' ? own : await installationOf(app, repository);
  if (credential === undefined) return undefined;
  const octokit = await octokitFor(app, credential);
  const name = { owner: credential.owner, repo: credential.repo };
  if (repository.githubId === null) return { octokit, name, isOther: false };
  const found = await unlessMissing(octokit.request('GET /repos/{owner}/{repo}', name));
  return { octokit, name, isOther: Number(found?.id) !== repository.githubId };
}

async function hasRight(app: App, person: UserRow, place: Asked, needed: NeededRight): Promise<boolean> {
  // A user who was made while GitHub was off is known by the login only.
  const account =
    person.githubId === null ? await app.github?.findUser(person.login) : { ...person, id: person.githubId };
  if (account === undefined || place.isOther) return false;
  const { right, login } = await rightOf(place.octokit, place.name, account);
  if (login !== account.login) await upsertUser(app.db.manager, { id: account.id, login });
  return needed === 'write' ? right === 'write' : right !== 'none';
}

async function isMember(app: App, person: UserRow, { projectId }: RepositoryRow): Promise<boolean> {
  const role = await roleIn(app.db.manager, projectId, person.id);
  return role !== undefined && hasRole(role, 'member');
}
