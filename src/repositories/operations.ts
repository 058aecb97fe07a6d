import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { changesBetween } from '../domain/audit.ts';
import { Refused } from '../domain/machine.ts';
import { badField } from '../errors.ts';
import { isSameAddress, normalUrl, urlProblem } from '../git/remote-url.ts';
import { credentialFor, githubUrl, hostRules, octokitFor } from './credentials.ts';
import type { ConnectRepository, UpdateRepository } from './schemas.ts';
import {
  clearFlags,
  deleteRepositoryRow,
  findUses,
  forgetSecretsOf,
  getRepository,
  hasRepositories,
  insertRepository,
  lockProjectRow,
  lockRepository,
  updateRepositoryRow,
} from './store.ts';

/**
 * Connects a repository. The first repository of a project becomes its primary one unless the request says otherwise.
 */
export async function connectRepository(app: App, userId: string, input: z.output<typeof ConnectRepository>) {
  const problem = urlProblem(input.url, hostRules(app));
  if (problem !== undefined) throw badField('url', `url ${problem}`);
  const row = {
    ...input,
    id: newId('repo'),
    url: normalUrl(input.url),
    isPrivate: true,
    isInstalled: false,
    isArchived: false,
    githubId: null,
    connectedBy: userId,
    isPrimary: false,
  };
  const seen = await lookUp(app, { ...row, createdAt: new Date() });
  return app.db.transaction(async (em) => {
    await lockProjectRow(em, input.projectId);
    const isPrimary = input.isPrimary ?? !(await hasRepositories(em, input.projectId));
    await clearFlags(em, input.projectId, { primary: isPrimary, docs: input.isDocsRepo });
    try {
      const connected = await insertRepository(em, { ...row, ...seen, isPrimary });
      app.audit.note({ name: [null, row.name], url: [null, row.url] });
      return connected;
    } catch (error) {
      throw alreadyConnected(error, input) ?? error;
    }
  });
}

/**
 * Changes the given fields. A new URL counts as a new connection: the same rules apply, and the caller becomes the
 * person who connected the repository. If another repository is there, no environment secret belongs to it: values are
 * never shown, and its writers could read them.
 * @throws Refused for a new URL while a task has a branch in the repository, or that of another one once a run has read it
 */
export async function updateRepository(
  app: App,
  repository: RepositoryRow,
  userId: string,
  input: z.output<typeof UpdateRepository>,
) {
  const { isPrimary, isDocsRepo, url, ...fields } = input;
  const problem = url === undefined ? undefined : urlProblem(url, hostRules(app));
  if (problem !== undefined) throw badField('url', `url ${problem}`);
  const address = url === undefined ? {} : { url: normalUrl(url) };
  const isMove = (from: RepositoryRow) => !isSameAddress(address.url ?? from.url, from.url, githubUrl(app));
  const fresh = { ...address, connectedBy: userId, isInstalled: false };
  const seen = isMove(repository) ? await lookUp(app, { ...repository, ...fresh, githubId: null }) : undefined;
  return app.db.transaction(async (em) => {
    const before = await lockRepository(em, repository);
    await clearFlags(em, repository.projectId, { primary: isPrimary === true, docs: isDocsRepo === true });
    const given = { ...fields, isPrimary, isDocsRepo, ...address };
    if (isMove(before)) await assertMayMove(em, before, seen);
    const moved = isMove(before) ? { ...fresh, isArchived: false, ...seen } : {};
    const changes = Object.fromEntries(
      Object.entries({ ...given, ...moved }).filter(([, value]) => value !== undefined),
    );
    try {
      await updateRepositoryRow(em, repository.id, changes);
    } catch (error) {
      throw alreadyConnected(error, { name: input.name ?? before.name, url: address.url ?? before.url }) ?? error;
    }
    const updated = await getRepository(em, repository.id);
    app.audit.note(changesBetween(before, updated, Object.keys(input) as (keyof typeof input)[]));
    return updated;
  });
}

/**
 * Checks that the URL of a repository may change to that of one that was `seen` there, and takes its secrets away if that is
 * another one.
 */
async function assertMayMove(em: EntityManager, before: RepositoryRow, seen: Seen | undefined): Promise<void> {
  const { branch, live, read } = await findUses(em, before.id);
  const advice = 'Connect the new address as another repository.';
  if (branch !== null)
    throw new Refused(`The URL cannot change while a task has a branch in the repository (${branch}). ${advice}`);
  if (seen === undefined) throw new Refused('Somebody else changed the URL of this repository. Reload to see it.');
  if (isSame(before.githubId, seen.githubId)) return;
  // Text read from this repository would count as text of the other one, and be shown to the people who can read that one.
  if (live || read) throw new Refused(`The URL cannot change, because a run has read the repository. ${advice}`);
  await forgetSecretsOf(em, before);
}

/** Returns whether two numbers are those of one repository on GitHub, which may have been renamed. */
function isSame(before: number | null, after: number | null): boolean {
  return before !== null && before === after;
}

/**
 * Disconnects a repository. Nothing changes on its host.
 * @throws Refused while a task has a live run or an open pull request
 */
export async function disconnectRepository(app: App, repository: RepositoryRow): Promise<void> {
  await app.db.transaction(async (em) => {
    const { live, open } = await findUses(em, repository.id);
    if (live) throw new Refused('A task of this repository has an unfinished run. Cancel it before you disconnect.');
    if (open)
      throw new Refused('A task of this repository has an open pull request. Merge or close it before you disconnect.');
    await deleteRepositoryRow(em, repository.id);
    app.audit.note({ name: [repository.name, null], url: [repository.url, null] });
  });
}

type Seen = Pick<RepositoryRow, 'isPrivate' | 'githubId'>;

/**
 * Reads the repository's number on GitHub and whether it is private. A repository that cannot be read counts as
 * private.
 */
async function lookUp(app: App, row: RepositoryRow): Promise<Seen> {
  try {
    const credential = await credentialFor(app, row);
    if (credential.kind === 'none' || credential.owner === '') return { isPrivate: true, githubId: null };
    const octokit = await octokitFor(app, credential);
    const { owner, repo } = credential;
    const { data } = await octokit.request('GET /repos/{owner}/{repo}', { owner, repo });
    return { isPrivate: data.private, githubId: Number(data.id) };
  } catch (error) {
    app.log.info({ err: error, url: row.url }, 'a repository was connected without reading it on GitHub');
    return { isPrivate: true, githubId: null };
  }
}

function alreadyConnected(error: unknown, { name, url }: { name: string; url: string }): Refused | undefined {
  const index = violatedUnique(error);
  if (index === 'repositories_name')
    return new Refused(`The project already has a repository named ${name}. Choose another name.`);
  if (index === 'repositories_url') return new Refused(`The repository ${url} is already connected to the project.`);
  return undefined;
}
