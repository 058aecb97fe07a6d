import type { EntityManager } from 'typeorm';
import type { PullRef } from './store.ts';

/** If a pull request has more commits than this, any push to its base branch counts as one of them. */
export const maxJudgedCommits = 500;

/** Stands for any commit. */
const anyCommit = '*';

/**
 * Stores which commits of a pull request a run judges, before it does, so that a push which brings one of them into the base
 * branch is noticed from then on.
 */
export async function storeCommits(em: EntityManager, runId: string, commits: string[]): Promise<void> {
  await em.query('update pull_proofs set commits = $2 where run_id = $1', [runId, boundedCommits(commits)]);
}

export const boundedCommits = (commits: string[]) => (commits.length > maxJudgedCommits ? [anyCommit] : commits);

/**
 * Stores that the latest proof of a pull request counts no longer, for a reason that people read. Its check run says so from then
 * on.
 */
export async function outdateProof(
  em: EntityManager,
  { repositoryId, number }: PullRef,
  reason: string,
): Promise<void> {
  await em.query(
    `update pull_proofs p set status = 'not_run', reason = $3, notes = '[]', check_shown = null
     where p.repository_id = $1 and p.number = $2 and p.status is not null and not exists (
       select from pull_proofs n where n.repository_id = p.repository_id and n.number = p.number
         and n.created_at > p.created_at)`,
    [repositoryId, number, reason],
  );
}

/** At most this many pull requests are tried again after a push to their base branch, the newest ones. */
const maxTaken = 1000;

/** Returns the pull requests into a branch whose latest proof was about commits that the branch has taken in now. */
export async function listTaken(
  em: EntityManager,
  repositoryId: string,
  branch: string,
  commits: string[],
): Promise<number[]> {
  if (commits.length === 0) return [];
  const rows: { number: number }[] = await em.query(
    `select p.number from pull_proofs p where p.repository_id = $1 and p.base_branch = $2 and p.commits <> '{}' and p.commits && $3
       and not exists (select from pull_proofs n where n.repository_id = p.repository_id and n.number = p.number
         and n.created_at > p.created_at)
     order by p.number desc limit ${maxTaken}`,
    [repositoryId, branch, [anyCommit, ...commits]],
  );
  return rows.map(({ number }) => number);
}

/** A branch into which pull requests go that were proved. */
export interface ProofBase {
  branch: string;
  /** Pushes up to this commit have had proofs tried again. */
  head: string;
}

/** Stores the commit from which on pushes to a branch have proofs tried again, unless an earlier one is stored. */
export async function followBaseFrom(
  em: EntityManager,
  repositoryId: string,
  { branch, head }: ProofBase,
): Promise<void> {
  await em.query(
    'insert into proof_bases (repository_id, branch, head_sha) values ($1, $2, $3) on conflict do nothing',
    [repositoryId, branch, head],
  );
}

export async function findProofBase(
  em: EntityManager,
  repositoryId: string,
  branch: string,
): Promise<ProofBase | undefined> {
  const rows: ProofBase[] = await em.query(
    'select branch, head_sha as head from proof_bases where repository_id = $1 and branch = $2',
    [repositoryId, branch],
  );
  return rows[0];
}

/** Returns some branches of a repository that are followed: those that were looked at longest ago. */
export async function listProofBases(em: EntityManager, repositoryId: string, most: number): Promise<ProofBase[]> {
  return em.query(
    'select branch, head_sha as head from proof_bases where repository_id = $1 order by looked_at, branch limit $2',
    [repositoryId, most],
  );
}

/** Stores up to which commit a branch was followed, or that it is gone. Returns false if somebody else has followed it since. */
export async function moveProofBase(
  em: EntityManager,
  repositoryId: string,
  { branch, head }: ProofBase,
  to: string | undefined,
): Promise<boolean> {
  const at = [repositoryId, branch, head];
  const same = 'repository_id = $1 and branch = $2 and head_sha = $3';
  const [, count]: [unknown, number] =
    to === undefined
      ? await em.query(`delete from proof_bases where ${same}`, at)
      : await em.query(`update proof_bases set head_sha = $4, looked_at = now() where ${same}`, [...at, to]);
  return count === 1;
}
