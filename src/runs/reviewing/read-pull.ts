import type { EntityManager } from 'typeorm';
import type { Answered, App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { Refused } from '../../domain/machine.ts';
import { mayHaveSeen } from '../../domain/waiting.ts';
import { AppError, notFound } from '../../errors.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { type Credential, credentialFor, noCredential, octokitFor } from '../../repositories/credentials.ts';
import type { PullRef } from './store.ts';

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

/** The head of a pull request, and when it became the head; null if the pull request was opened with it. */
interface PullHead {
  headSha: string;
  since: Date | null;
}

/** Remembers the head of a pull request. An older one does not take the place of a newer one. */
export async function noteHead(em: EntityManager, at: PullRef, { headSha, since }: PullHead): Promise<void> {
  await em.query(
    `insert into pull_heads (repository_id, number, head_sha, since) values ($1, $2, $3, coalesce($4::timestamptz, '-infinity'))
     on conflict (repository_id, number) do update set head_sha = excluded.head_sha, since = excluded.since
       where pull_heads.head_sha <> excluded.head_sha and pull_heads.since <= excluded.since`,
    [at.repositoryId, at.number, headSha, since],
  );
}

export async function forgetHead(em: EntityManager, { repositoryId, number }: PullRef): Promise<void> {
  await em.query('delete from pull_heads where repository_id = $1 and number = $2', [repositoryId, number]);
}

/**
 * Checks that a person who wrote a command about the pull request of a stranger may have seen its head. A push in the second
 * of the command counts as later, because nobody reads and answers that fast. If the stored head is another one, the event
 * of a push is still under way.
 * @throws Refused
 */
export async function assertHeadSeen(
  app: App,
  { id: repositoryId }: RepositoryRow,
  pull: Pick<PullOnGitHub, 'number' | 'head'> & { updated_at?: string },
  writtenAt: Date | undefined,
): Promise<void> {
  if (writtenAt === undefined) return;
  const em = app.db.manager;
  const at = { repositoryId, number: pull.number };
  const [known]: { headSha: string; isSeen: boolean }[] = await em.query(
    `select head_sha as "headSha", date_trunc('second', since) < date_trunc('second', $3::timestamptz) as "isSeen" /* not null */
     from pull_heads where repository_id = $1 and number = $2`,
    [repositoryId, pull.number, writtenAt],
  );
  // No head is stored of a pull request that is older than the installation. GitHub only says when it last changed.
  const latest = pull.updated_at === undefined ? writtenAt : new Date(pull.updated_at);
  if (known === undefined && mayHaveSeen(new Date(writtenAt.getTime() + toleranceMs), latest)) return;
  if (known?.headSha === pull.head.sha && known.isSeen) return;
  // A command that is written from now on is about this head.
  await noteHead(em, at, { headSha: pull.head.sha, since: new Date() });
  throw new Refused('The pull request got a newer commit after this was written. Look at it, then write it again.');
}

/** The comment updates its pull request, too, a moment after it was written. */
const toleranceMs = 1000;
