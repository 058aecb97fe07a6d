import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { AppError, badRequest, type Problem } from '../errors.ts';
import { GitFailed } from '../git/engine.ts';
import { fewAtOnce } from '../git/few-at-once.ts';
import { HostClosed } from '../git/remote-url.ts';
import { tenantOfProject } from '../projects/budgets.ts';
import { credentialFor, octokitFor, remoteFor } from './credentials.ts';
import { unlessMissing } from './permission.ts';

/** A branch that a request names, and the path of the field that names it. */
export interface NamedBranch {
  repository: RepositoryRow | null;
  branch: string;
  path: string;
}

/** How long the hosts of all repositories of a request may take together. */
const listMs = 10_000;

/**
 * Checks that repositories have the branches that a request names. Their hosts are asked.
 * @throws AppError 400 naming each field that is wrong; 502 when a host cannot be asked
 */
export async function assertBranches(app: App, named: NamedBranch[]): Promise<void> {
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(listMs)]);
  const known = new Map<string, boolean>();
  const problems: Problem[] = [];
  for (const { repository, branch, path } of named) {
    if (repository === null) {
      problems.push({ path, message: `${path} needs a repository: connect one to the project first` });
      continue;
    }
    const key = `${repository.id} ${branch}`;
    const exists = known.get(key) ?? (await askHost(app, repository, () => hasBranch(app, repository, branch, signal)));
    known.set(key, exists);
    if (!exists)
      problems.push({ path, message: `${path} must be a branch of the repository ${repository.name}, not ${branch}` });
  }
  if (problems.length > 0) throw badRequest(problems);
}

async function hasBranch(app: App, repository: RepositoryRow, branch: string, signal: AbortSignal): Promise<boolean> {
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none' || credential.owner === '')
    return (await listBranches(app, repository, signal)).has(branch);
  const octokit = await octokitFor(app, credential);
  const at = { owner: credential.owner, repo: credential.repo, request: { signal } };
  // GitHub redirects the name of a renamed branch.
  const found = await unlessMissing(octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch }));
  // GitHub answers 404 also to all about a repository that it does not show us.
  if (found === undefined) await octokit.request('GET /repos/{owner}/{repo}', at);
  return found?.name === branch;
}

/** The most branches that a search returns. */
const maxFound = 100;

/**
 * Returns branches of a repository whose names contain a text, ignoring case: the default branch first, then by name, at
 * most 100.
 * @throws AppError 502 when the host cannot be asked
 */
export async function searchBranches(app: App, repository: RepositoryRow, search: string): Promise<string[]> {
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(listMs)]);
  const branches = await askHost(app, repository, () => listBranches(app, repository, signal));
  const { defaultBranch } = repository;
  const wanted = search.toLowerCase();
  const isWanted = (name: string) => name.toLowerCase().includes(wanted);
  const found = branches.has(defaultBranch) && isWanted(defaultBranch) ? [defaultBranch] : [];
  // Hosts list them by name. Sorting what a hostile one sends in another order would take long.
  for (const name of branches.keys()) {
    if (found.length === maxFound) break;
    if (name !== defaultBranch && isWanted(name)) found.push(name);
  }
  return found;
}

/** A host may list 100,000 branches, which a web process reads while others wait: four lists at once, two of them of one tenant. */
const listFew = fewAtOnce(4, 2);

async function listBranches(
  app: App,
  repository: RepositoryRow,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
  const tenant = await tenantOfProject(app.db.manager, repository.projectId);
  return listFew(tenant, signal, () => app.git.listBranches(remote, signal));
}

/** @throws AppError 502 when the host of a repository cannot be asked */
async function askHost<T>(app: App, repository: RepositoryRow, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const { name, status } = error as { name?: string; status?: number };
    const isExpected = error instanceof GitFailed || error instanceof HostClosed || status !== undefined;
    if (!isExpected && name !== 'TimeoutError' && name !== 'AbortError') throw error;
    app.log.info({ err: error, repositoryId: repository.id }, 'the branches of a repository could not be read');
    throw new AppError(
      502,
      `The host of the repository ${repository.name} could not be asked for its branches. Try again later.`,
    );
  }
}
