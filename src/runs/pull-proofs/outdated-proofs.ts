import type { EntityManager } from 'typeorm';
import { liveRun } from '../../db/tables/run.ts';
import type { PullRef } from '../reviewing/store.ts';

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

/** SQL: whether a proof has a result, or is being tried. */
const isTried = '(p.status is not null or p.run_id is not null)';

/** SQL: the same, for the latest head of a pull request as far as is known. */
const counts = `${isTried} and not exists (
  select from pull_proofs n where n.repository_id = p.repository_id and n.number = p.number and n.created_at > p.created_at)`;

/** The reason of a proof that is repeated only if somebody asks. */
export const askAgain = 'its base branch or the settings have changed since; ask again';

/** SQL: sets why a proof does not count. */
const outdate = 'update pull_proofs p set outdated_reason = $2, check_shown = null';

/**
 * Stores that what was proved about the heads of a pull request does not count, also if it is still being tried. The check run says so
 * from then on, or once the run ends. People read the reason.
 */
export async function outdateProof(
  em: EntityManager,
  { repositoryId, number }: PullRef,
  reason: string,
): Promise<void> {
  await em.query(`${outdate} where p.repository_id = $1 and p.number = $3 and ${isTried}`, [
    repositoryId,
    reason,
    number,
  ]);
}

/** Returns whether the latest proof of a pull request is outdated, and nobody has asked for it since. */
export async function isOutdated(em: EntityManager, { repositoryId, number }: PullRef): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from pull_proofs p where p.repository_id = $1 and p.number = $2 and p.outdated_reason is not null and ${counts}`,
    [repositoryId, number],
  );
  return rows.length > 0;
}

/** SQL: a proof about another base branch, or about this head while the pull request has had another one in between. */
const isElsewhere = `(p.base_branch <> $4 or p.head_sha = $3 and exists (select from pull_proofs n
  where n.repository_id = p.repository_id and n.number = p.number and n.created_at > p.created_at))`;

/**
 * Stores that a head was made by a run of a task, so that it is proved only if somebody asks. The check run says so if the proof is
 * outdated, is about another base branch, or was followed by one of another head: comparisons look at the latest proof only. A
 * proof that somebody asked for and that counts stays as it is.
 */
export async function leaveToPeople(
  em: EntityManager,
  { repositoryId, number }: PullRef,
  { headSha, base }: { headSha: string; base: string },
): Promise<void> {
  await em.query(
    `update pull_proofs p set own_head = $3, check_shown = null,
       outdated_reason = case when p.outdated_reason is not null or ${isElsewhere} then $5 end
     where p.repository_id = $1 and p.number = $2
       and (p.outdated_reason is not null or p.head_sha <> $3 or ${isElsewhere})
       and (p.own_head is distinct from $3 or p.outdated_reason <> $5 or p.outdated_reason is null and ${isElsewhere})`,
    [repositoryId, number, headSha, base, askAgain],
  );
}

/**
 * Stores that what was proved of pull requests into a branch does not count, also of those that are closed, because they may be reopened. Returns their
 * numbers.
 */
export async function outdateProofsInto(
  em: EntityManager,
  { repositoryId, branch }: { repositoryId: string; branch: string },
  reason: string,
): Promise<number[]> {
  const [rows]: [{ number: number }[]] = await em.query(
    `${outdate} where p.repository_id = $1 and p.base_branch = $3 and p.outdated_reason is null and ${counts}
     returning p.number`,
    [repositoryId, reason, branch],
  );
  return rows.map(({ number }) => number);
}

/**
 * Outdates the latest proofs that are about commits which their base branch has taken in now. If it has taken in the head, too, the pull
 * request is merged, and its proof stays. Returns the numbers of the pull requests, the newest first.
 */
export async function outdateTaken(
  em: EntityManager,
  { repositoryId, branch }: { repositoryId: string; branch: string },
  commits: string[],
  reason: string,
): Promise<number[]> {
  if (commits.length === 0) return [];
  // The operator && compares each commit with each other one: half a minute for a thousand proofs and a large push.
  const [rows]: [{ number: number }[]] = await em.query(
    `${outdate} where p.repository_id = $1 and p.base_branch = $3 and p.outdated_reason is null and p.commits <> '{}'
       and exists (select from unnest(p.commits) c where c = any($4)) and p.head_sha <> all($4) and ${counts}
     returning p.number`,
    [repositoryId, reason, branch, [anyCommit, ...commits]],
  );
  return rows.map(({ number }) => number).sort((a, b) => b - a);
}

/** A branch into which pull requests go that were proved, and a commit of it from which it is followed. */
export interface ProofBase {
  branch: string;
  head: string;
  /** When a run or a comparison saw it last. */
  seen?: string;
}

/** Stores a commit from which on pushes to a branch have proofs tried again. */
export async function followBaseFrom(
  em: EntityManager,
  repositoryId: string,
  { branch, head }: ProofBase,
): Promise<void> {
  await em.query(
    `insert into proof_bases (repository_id, branch, head_sha) values ($1, $2, $3)
     on conflict (repository_id, branch, head_sha) do update set looked_at = clock_timestamp()`,
    [repositoryId, branch, head],
  );
}

/** Returns the commits from which a branch is followed. */
export async function listProofBases(em: EntityManager, repositoryId: string, branch: string): Promise<ProofBase[]> {
  return em.query(
    `select branch, head_sha as head, looked_at::text as seen from proof_bases where repository_id = $1 and branch = $2
     order by looked_at, head_sha`,
    [repositoryId, branch],
  );
}

/** Returns some branches of a repository that are followed: the default branch, and those that were looked at longest ago. */
export async function listFollowedBranches(
  em: EntityManager,
  { id, defaultBranch }: { id: string; defaultBranch: string },
  most: number,
): Promise<string[]> {
  const rows: { branch: string }[] = await em.query(
    `select branch from proof_bases where repository_id = $1
     group by branch order by branch = $2 desc, min(looked_at), branch limit $3`,
    [id, defaultBranch, most],
  );
  return rows.map(({ branch }) => branch);
}

/** Returns whether a branch has pull requests whose proofs count, or may count once their runs end. */
export async function hasProofsInto(em: EntityManager, repositoryId: string, branch: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from pull_proofs p where p.repository_id = $1 and p.base_branch = $2 and p.outdated_reason is null and ${counts} limit 1`,
    [repositoryId, branch],
  );
  return rows.length > 0;
}

/** Stores that a branch is followed from a later commit on than from one, unless a run has seen that one since. */
export async function moveProofBase(
  em: EntityManager,
  repositoryId: string,
  { branch, head, seen }: ProofBase,
  to: string,
): Promise<void> {
  await em.query(
    `with moved as (
       insert into proof_bases (repository_id, branch, head_sha) values ($1, $2, $4)
       on conflict (repository_id, branch, head_sha) do update set looked_at = clock_timestamp())
     delete from proof_bases
     where repository_id = $1 and branch = $2 and head_sha = $3 and head_sha <> $4 and looked_at::text = $5`,
    [repositoryId, branch, head, to, seen],
  );
}

/**
 * Stops following a branch that is gone. What was proved for it counts no longer, so nothing depends on that. Returns the pull
 * requests that went into it.
 */
export async function forgetProofBase(
  em: EntityManager,
  { repositoryId, branch }: { repositoryId: string; branch: string },
): Promise<number[]> {
  const numbers = await outdateProofsInto(em, { repositoryId, branch }, 'its base branch is gone');
  await em.query('delete from proof_bases where repository_id = $1 and branch = $2', [repositoryId, branch]);
  return numbers;
}

/** A pull request as it is on GitHub. */
export interface OpenPull {
  number: number;
  headSha: string;
  base: string;
}

/** SQL: open pull requests, given by their columns as the second to fourth parameters, each with the proof that is its latest. */
const withLatest = `unnest($2::integer[], $3::text[], $4::text[]) as o (number, head, base)
  cross join lateral (select * from pull_proofs where repository_id = $1 and number = o.number order by created_at desc limit 1) p`;

const columnsOf = (pulls: OpenPull[]) => [
  pulls.map(({ number }) => number),
  pulls.map(({ headSha }) => headSha),
  pulls.map(({ base }) => base),
];

/**
 * Returns those of some open pull requests whose latest proof is about another head or base branch, or is outdated. That includes
 * those whose base branch nobody follows, or whose settings are not known, such as what an earlier release proved.
 */
export async function listDoubtful(em: EntityManager, repositoryId: string, pulls: OpenPull[]): Promise<number[]> {
  const rows: { number: number }[] = await em.query(
    `select p.number from ${withLatest}
     where p.own_head is distinct from o.head and (
       p.outdated_reason is not null or p.head_sha <> o.head or p.base_branch <> o.base
       -- A stranger's was closed, and then it waited no longer.
       or p.is_foreign and p.hold is null and p.status is null and p.run_id is null
       or p.status <> 'not_run' and (p.rules is null or not exists (
         select from proof_bases b where b.repository_id = $1 and b.branch = p.base_branch)))
     order by p.number`,
    [repositoryId, ...columnsOf(pulls)],
  );
  return rows.map(({ number }) => number);
}

/**
 * Returns those of some open pull requests whose latest proof was made, is being made or waits with other settings. `rules` is empty for
 * settings that cannot be used: nothing that waits has to be told.
 */
export async function listWithOtherRules(
  em: EntityManager,
  repositoryId: string,
  pulls: OpenPull[],
  rules: string,
): Promise<number[]> {
  const rows: { number: number }[] = await em.query(
    `select p.number from ${withLatest} left join runs r on r.id = p.run_id
     where p.outdated_reason is null and p.head_sha = o.head and p.rules is distinct from $5
       and p.own_head is distinct from o.head
       and (p.status is not null or r.status in ${liveRun} or $5 <> '' and p.hold is not null)
     order by p.number`,
    [repositoryId, ...columnsOf(pulls), rules],
  );
  return rows.map(({ number }) => number);
}

/**
 * Returns those of some open pull requests of which nothing is known, and which have changed since a time, or whose head was proved for
 * another one: its check run counts for them, too.
 */
export async function listUnknown(
  em: EntityManager,
  repositoryId: string,
  pulls: OpenPull[],
  changed: number[],
): Promise<number[]> {
  const rows: { number: number }[] = await em.query(
    `select o.number as number /* not null */ from unnest($2::integer[], $3::text[]) as o (number, head)
     where not exists (select from pull_proofs p where p.repository_id = $1 and p.number = o.number)
       and (o.number = any($4) or exists (select from pull_proofs p where p.repository_id = $1 and p.head_sha = o.head))
     order by o.number`,
    [repositoryId, pulls.map(({ number }) => number), pulls.map(({ headSha }) => headSha), changed],
  );
  return rows.map(({ number }) => number);
}

/** Stores whether weakened tests make the check runs of open pull requests fail. Returns those for which that is new. */
export async function requireProofs(
  em: EntityManager,
  repositoryId: string,
  pulls: OpenPull[],
  isRequired: boolean,
): Promise<number[]> {
  const [rows]: [{ number: number }[]] = await em.query(
    `update pull_proofs set is_required = $3, check_shown = null
     where repository_id = $1 and number = any($2) and is_required <> $3 returning number`,
    [repositoryId, pulls.map(({ number }) => number), isRequired],
  );
  return rows.map(({ number }) => number);
}

/** Stores what the settings say last, for when they cannot be used; see `wasRequired`. */
export async function rememberRequired(em: EntityManager, repositoryId: string, isRequired: boolean): Promise<void> {
  await em.query(
    `update pull_proofs set is_required = $2 where is_required <> $2 and id = (
       select id from pull_proofs where repository_id = $1 order by created_at desc, id desc limit 1)`,
    [repositoryId, isRequired],
  );
}

/** Returns whether something was wanted to be proved of a head, in whatever pull request. */
export async function hasProofsOfHead(
  em: EntityManager,
  { repositoryId, headSha }: { repositoryId: string; headSha: string },
): Promise<boolean> {
  const rows: unknown[] = await em.query('select from pull_proofs where repository_id = $1 and head_sha = $2 limit 1', [
    repositoryId,
    headSha,
  ]);
  return rows.length > 0;
}

/** Stores that nothing is known yet about a head in a pull request, which will be proved. */
export async function markUnproved(
  em: EntityManager,
  { repositoryId, number }: PullRef,
  headSha: string,
): Promise<void> {
  await em.query(
    `update pull_proofs set status = 'not_run', at = now(), reason = $4, outdated_reason = $4
     where repository_id = $1 and number = $2 and head_sha = $3`,
    [repositoryId, number, headSha, 'it has not been proved in this pull request yet'],
  );
}
