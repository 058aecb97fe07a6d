import type { Answered, App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { AppError, notFound } from '../../errors.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { type Credential, credentialFor, noCredential, octokitFor } from '../../repositories/credentials.ts';

export type PullOnGitHub = Answered<'GET /repos/{owner}/{repo}/pulls/{pull_number}'>;

/** A pull request as GitHub shows it now, and how to ask about it. */
export interface ReadPull {
  octokit: Octokit;
  credential: Exclude<Credential, { kind: 'none' }>;
  name: RepoName;
  pull: PullOnGitHub;
}

/**
 * Reads a pull request of a connected repository.
 * @throws AppError 404 for an unknown one, 502 when GitHub cannot be asked, 503 without a credential
 */
export async function readPull(app: App, repository: RepositoryRow, number: number): Promise<ReadPull> {
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none' || credential.owner === '') throw noCredential();
  const octokit = await octokitFor(app, credential);
  const name = { owner: credential.owner, repo: credential.repo };
  try {
    const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
    const { data: pull } = await octokit.request(path, { ...name, pull_number: number });
    return { octokit, credential, name, pull };
  } catch (error) {
    if (isRefusedWith(error, 404)) throw notFound(`Pull request of repository ${repository.name}`, String(number));
    if ((error as { status?: number }).status === undefined) throw error;
    app.log.info({ err: error, repositoryId: repository.id }, 'a pull request could not be read');
    throw new AppError(502, `GitHub could not be asked about pull request ${number}. Try again later.`);
  }
}

/** Returns whether the branch of a pull request is in another repository, or in one that was deleted. */
export function isFork({ head, base }: Pick<PullOnGitHub, 'head' | 'base'>): boolean {
  return head.repo === null || head.repo === undefined || Number(head.repo.id) !== Number(base.repo.id);
}
