import type { Octokit } from '../../app.ts';
import type { PullRequestRow } from '../../db/tables/task.ts';
import type { PullCheck, PullReview } from '../../domain/merge-readiness.ts';
import { RunFailed } from '../../domain/run.ts';
import { type MergeMethod, mergeMethods } from '../../domain/settings.ts';
import type { OwnedFiles } from '../../domain/text/code-owners.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { rightOf } from '../../repositories/permission.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { settingsOnGitHub } from '../../repositories/settings/settings-on-github.ts';
import { missingOwners, type Requirements, readRequirements } from '../app/requirements.ts';
import { checkName } from '../mirror/sync-check.ts';
import { listCheckRuns, listPages, listStatuses } from '../paginate.ts';

/**
 * Returns the methods that a repository allows, the one of its settings file first. GitHub shows them only to admins, so
 * every method that is not known to be forbidden is returned.
 */
export function candidateMethods(
  repository: { allow_squash_merge?: boolean; allow_merge_commit?: boolean; allow_rebase_merge?: boolean },
  wanted: MergeMethod | undefined,
): MergeMethod[] {
  const allowed = {
    squash: repository.allow_squash_merge,
    merge: repository.allow_merge_commit,
    rebase: repository.allow_rebase_merge,
  };
  const inOrder = new Set([...(wanted === undefined ? [] : [wanted]), ...mergeMethods]);
  return [...inOrder].filter((method) => allowed[method] !== false);
}

/** What GitHub shows of a pull request. Null where it is unknown. */
export interface SeenPull {
  method: MergeMethod | null;
  baseBranch: string | null;
  mergeable: boolean | null;
  isBlocked: boolean;
  checks: PullCheck[] | null;
  reviews: PullReview[] | null;
  review: Requirements['review'];
  missingOwners: OwnedFiles[] | null;
  needsOwners: boolean;
}

/** GitHub lists more about a pull request than is read. What was not read may forbid a merge, so nothing is shown. */
export class TooMuch extends Error {}

/**
 * Returns what was listed.
 * @throws TooMuch if there may be more
 */
async function all<T>(what: string, listing: ReturnType<typeof listPages<T>>): Promise<T[]> {
  const { items, isCut } = await listing;
  if (isCut) throw new TooMuch(`it has ${items.length.toLocaleString('en')} ${what} or more, too many to read.`);
  return items;
}

/** Characters of the name of a check, which its service chooses. */
const maxName = 100;

/**
 * Reads from GitHub what decides whether a pull request can be merged, with at most 100 requests, usually eleven.
 * @throws TooMuch
 */
export async function lookAtPull(
  octokit: Octokit,
  name: RepoName,
  { number, headSha }: Pick<PullRequestRow, 'number' | 'headSha'>,
  signal: AbortSignal,
): Promise<SeenPull> {
  const at: At = { ...name, request: { signal } };
  const [repository, settings, pull, runs, statuses, reviews] = await Promise.all([
    octokit.request('GET /repos/{owner}/{repo}', at),
    unlessInvalid(settingsOnGitHub(octokit, at)),
    octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, pull_number: number }),
    unlessForbidden(checkRunsOf(octokit, at, headSha)),
    unlessForbidden(statusesOf(octokit, at, headSha)),
    unlessForbidden(reviewsOf(octokit, at, number)),
  ]);
  const { mergeable = null, mergeable_state: state, base } = pull.data;
  const approvers = (reviews ?? []).filter((each) => each.state === 'approved').map(({ login }) => login);
  const about = { number, base: base.ref, approvers };
  const [required, owners] = await Promise.all([
    readRequirements(octokit, at, about),
    unlessForbidden(missingOwners(octokit, at, about)),
  ]);
  const found = [...(runs ?? []), ...(statuses ?? [])].map((each) => ({
    ...each,
    required: required.checks.has(each.name),
  }));
  // What has not reported is known only where everything else was read. Our own check is left out like above.
  const unread = runs === null || statuses === null ? [] : required.named.filter((each) => each !== checkName);
  const expected = unread
    .filter((each) => !found.some(({ name: known }) => known === each))
    .map((each) => ({ name: each, outcome: 'running' as const, url: null, required: true }));
  return {
    method: candidateMethods(repository.data, settings?.merge.method)[0] ?? null,
    baseBranch: base.ref,
    mergeable,
    isBlocked: state === 'blocked' || state === 'behind',
    checks: runs === null && statuses === null ? null : [...found, ...expected],
    reviews,
    review: required.review,
    missingOwners: owners,
    needsOwners: required.needsOwners,
  };
}

type SeenCheck = Omit<PullCheck, 'required'>;

type At = RepoName & { request: { signal: AbortSignal } };

/** Returns null for what the credential may not read. */
async function unlessForbidden<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (isRefusedWith(error, 403, 404)) return null;
    throw error;
  }
}

/** Returns null for a settings file that cannot be used. A merge is refused with the reason. */
async function unlessInvalid(read: Promise<RepositorySettings>): Promise<RepositorySettings | null> {
  try {
    return await unlessForbidden(read);
  } catch (error) {
    if (error instanceof RunFailed) return null;
    throw error;
  }
}

/** Returns the check runs of a commit, without our own, which shows the status of the task. */
async function checkRunsOf(octokit: Octokit, at: At, ref: string): Promise<SeenCheck[]> {
  const runs = await all('check runs', listCheckRuns(octokit, { ...at, ref }));
  return runs
    .filter((run) => !(run.name === checkName && run.external_id?.startsWith('task_')))
    .map((run) => ({
      name: oneLine(run.name, maxName),
      outcome: run.status === 'completed' ? outcomeOf(run.conclusion) : 'running',
      url: webUrl(run.html_url),
    }));
}

function outcomeOf(conclusion: string | null): PullCheck['outcome'] {
  if (conclusion === 'success') return 'passed';
  return conclusion === 'neutral' || conclusion === 'skipped' ? 'skipped' : 'failed';
}

/** Returns the statuses of a commit, which services without check runs report. */
async function statusesOf(octokit: Octokit, at: At, ref: string): Promise<SeenCheck[]> {
  const outcomes: Record<string, PullCheck['outcome']> = { success: 'passed', pending: 'running' };
  return (await all('statuses', listStatuses(octokit, { ...at, ref }))).map(({ context, state, target_url }) => ({
    name: oneLine(context, maxName),
    outcome: outcomes[state] ?? 'failed',
    url: webUrl(target_url),
  }));
}

/** Services choose the addresses of their checks, which people click on. */
function webUrl(url: string | null | undefined): string | null {
  return url && /^https?:\/\//.test(url) ? url : null;
}

/** Reviewers who request changes and whose permission is read. */
const maxReviewers = 5;

interface GivenReview {
  user: { login: string; id?: number | bigint } | null;
  state: string;
}

async function reviewsOf(octokit: Octokit, at: At, number: number): Promise<PullReview[]> {
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  const read = (page: object) => octokit.request(path, { ...at, pull_number: number, ...page });
  const given = await all<GivenReview>(
    'reviews',
    listPages(async (page) => (await read(page)).data),
  );
  const latest = latestReviews(given);
  for (const review of latest.filter(({ state }) => state === 'changes_requested').slice(0, maxReviewers)) {
    const user = given.find((each) => each.user?.login === review.login)?.user;
    if (user?.id === undefined) continue;
    const { id, login } = user;
    const right = await unlessForbidden(rightOf(octokit, at, { id, login }));
    if (right !== null) review.isTold = right.right === 'write';
  }
  return latest;
}

/** Returns the latest decision of each reviewer. A comment decides nothing, and a dismissed review no longer counts. */
export function latestReviews(given: GivenReview[]): PullReview[] {
  const latest = new Map<string, PullReview['state']>();
  for (const { user, state } of given) {
    if (user === null) continue;
    if (state === 'APPROVED') latest.set(user.login, 'approved');
    if (state === 'CHANGES_REQUESTED') latest.set(user.login, 'changes_requested');
    if (state === 'DISMISSED') latest.delete(user.login);
  }
  return [...latest].map(([login, state]) => ({ login, state }));
}
