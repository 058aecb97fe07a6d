import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { Repositories, type RepositoryRow } from '../db/tables.ts';
import { Refused } from '../domain/machine.ts';
import { badField } from '../errors.ts';
import { GitFailed, type GitFault } from '../git/engine.ts';
import { HostClosed, normalUrl, urlProblem } from '../git/remote-url.ts';
import { credentialFor, hostRules, octokitFor, remoteFor } from './credentials.ts';
import type { ConnectRepository, UpdateRepository } from './schemas.ts';
import { clearFlags, hasRepositories, holdsOn, insertRepository, lockProject } from './store.ts';

/** An unreachable host is an answer too; nobody should wait longer for it. */
const validationMs = 10_000;

export async function connectRepository(app: App, userId: string, input: z.output<typeof ConnectRepository>) {
  const problem = urlProblem(input.url, hostRules(app));
  if (problem !== undefined) throw badField('url', `url: ${problem}`);
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
    await lockProject(em, input.projectId);
    const isPrimary = input.isPrimary ?? !(await hasRepositories(em, input.projectId));
    await clearFlags(em, input.projectId, { primary: isPrimary, docs: input.isDocsRepo });
    try {
      return await insertRepository(em, { ...row, ...seen, isPrimary });
    } catch (error) {
      throw nameTaken(error, input) ?? error;
    }
  });
}

/**
 * Changes what was given. A new URL counts as a new connection: the same rules apply, and the caller becomes the person
 * who connected it.
 */
export async function updateRepository(
  app: App,
  repository: RepositoryRow,
  userId: string,
  input: z.output<typeof UpdateRepository>,
) {
  const { isPrimary, isDocsRepo, url, ...fields } = input;
  const problem = url === undefined ? undefined : urlProblem(url, hostRules(app));
  if (problem !== undefined) throw badField('url', `url: ${problem}`);
  const isMoved = url !== undefined && normalUrl(url) !== repository.url;
  const moved = isMoved
    ? { ...repository, url: normalUrl(url), connectedBy: userId, isInstalled: false, githubId: null }
    : repository;
  const seen = isMoved ? await lookUp(app, moved) : {};
  return app.db.transaction(async (em) => {
    const { branch } = await holdsOn(em, repository.id);
    if (isMoved && branch !== null)
      throw new Refused(`changing url requires that no task has a branch there, found ${branch}`);
    await clearFlags(em, repository.projectId, { primary: isPrimary === true, docs: isDocsRepo === true });
    const given = {
      ...fields,
      ...(isPrimary === undefined ? {} : { isPrimary }),
      ...(isDocsRepo === undefined ? {} : { isDocsRepo }),
    };
    const place = isMoved
      ? { url: moved.url, connectedBy: userId, isInstalled: false, isArchived: false, ...seen }
      : {};
    const changes = Object.fromEntries(
      Object.entries({ ...given, ...place }).filter(([, value]) => value !== undefined),
    );
    try {
      if (Object.keys(changes).length > 0) await em.update(Repositories, { id: repository.id }, changes);
    } catch (error) {
      throw nameTaken(error, { name: input.name ?? repository.name, url: moved.url }) ?? error;
    }
    return em.findOneByOrFail(Repositories, { id: repository.id });
  });
}

/** Disconnects a repository; on its host it stays as it is. @throws Refused while work there is under way */
export async function disconnectRepository(app: App, repository: RepositoryRow): Promise<void> {
  await app.db.transaction(async (em) => {
    const { live, open } = await holdsOn(em, repository.id);
    if (live)
      throw new Refused(
        'disconnecting requires no task with a queued or running run there, found one; cancel it first',
      );
    if (open)
      throw new Refused(
        'disconnecting requires no open pull request of a task there, found one; merge or close it first',
      );
    await em.delete(Repositories, { id: repository.id });
  });
}

/** What GitHub says of the repository: its number, and whether it is public. Unreachable means private. */
async function lookUp(app: App, row: RepositoryRow): Promise<Pick<RepositoryRow, 'isPrivate' | 'githubId'>> {
  try {
    const credential = await credentialFor(app, row);
    if (credential.kind === 'none' || credential.owner === '') return { isPrivate: true, githubId: null };
    const octokit = await octokitFor(app, credential);
    const { owner, repo } = credential;
    const { data } = await octokit.request('GET /repos/{owner}/{repo}', { owner, repo });
    return { isPrivate: data.private, githubId: Number(data.id) };
  } catch (error) {
    app.log.info({ err: error, url: row.url }, 'repository connected unseen');
    return { isPrivate: true, githubId: null };
  }
}

function nameTaken(error: unknown, { name, url }: { name: string; url: string }): Refused | undefined {
  const index = violatedUnique(error);
  if (index === 'repositories_name') return new Refused(`requires a name that is new in the project, found ${name}`);
  if (index === 'repositories_url')
    return new Refused(`requires a repository that is new in the project, found ${url}`);
  return undefined;
}

const explanations: Record<GitFault, string> = {
  auth: 'The host refused the credentials; check the installation or the git token',
  missing: 'The host knows no such repository, or not for these credentials',
  unreachable: 'The host could not be reached; check the address and that it is up',
  not_git: 'What answered is not a git server',
  slow: 'The host took too long to answer',
  rejected: 'The host refused',
  broken: 'git failed',
};

/** Asks the remote for its branches. Every way to fail is a result. */
export async function validateRepository(app: App, repository: RepositoryRow) {
  try {
    const credential = await credentialFor(app, repository);
    const remote = await remoteFor(app, repository, credential, { contents: 'read' });
    const branches = await app.git.listBranches(remote, AbortSignal.timeout(validationMs));
    const names = [...branches.keys()].sort();
    const message = names.length === 0 ? 'Reached; the repository is empty' : `Reached; ${names.length} branches`;
    return { valid: true, message, branches: names };
  } catch (error) {
    return { valid: false, message: 'The repository could not be reached', error: whyNot(app, error) };
  }
}

function whyNot(app: App, error: unknown): string {
  if (error instanceof GitFailed) return `${explanations[error.fault]} (${error.message})`;
  if (error instanceof HostClosed) return `${error.message}; set ALLOW_PRIVATE_HOSTS to allow it`;
  const { name, status } = error as { name?: string; status?: number };
  if (name === 'TimeoutError' || name === 'AbortError') return 'No answer within 10 s';
  if (status !== undefined) return `GitHub answered with HTTP ${status} when asked for a token`;
  app.log.error({ err: error }, 'validation failed');
  return 'The check failed; the log has the details';
}
