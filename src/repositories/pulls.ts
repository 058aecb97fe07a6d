import type { Octokit } from '../app.ts';
import type { PullStatus } from '../db/tables/task.ts';
import { RunFailed } from '../domain/run.ts';

export interface OpenedPull {
  number: number;
  url: string;
  status: PullStatus;
  headSha: string;
}

/** A pull request as GitHub showed it at a time, by its own clock. */
interface EnsuredPull extends OpenedPull {
  seenAt: Date;
}

interface WantedPull {
  owner: string;
  repo: string;
  head: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
  /** Turns an open pull request back into a draft. Otherwise a person's decision that it is ready stays. */
  turnsDraft?: boolean;
  /** Aborted when the calling worker loses the lease of its run. */
  signal?: AbortSignal;
}

/**
 * Finds the open pull request of a branch, or creates one. Ignores pull requests from a fork's branch of the same name.
 * If GitHub's response to the creation is lost, calling this again finds the pull request.
 */
export async function ensurePull(
  octokit: Octokit,
  { signal, turnsDraft = false, ...wanted }: WantedPull,
): Promise<EnsuredPull> {
  const request = signal === undefined ? {} : { signal };
  const found = await findPull(octokit, wanted, request);
  if (found?.status === 'draft' && !wanted.draft) return setDraft(octokit, found, false);
  if (found?.status === 'open' && turnsDraft)
    try {
      return await setDraft(octokit, found, true);
    } catch (error) {
      if (!isDraftRefused(error)) throw error;
    }
  if (found !== undefined) return found;
  const answer = await create(octokit, wanted, request);
  const { number, html_url: url, draft, head } = answer.data;
  return { number, url, status: draft ? 'draft' : 'open', headSha: head.sha, seenAt: answeredAt(answer) };
}

const noDraft =
  '> [!WARNING]\n> **Not ready to merge.** This pull request should be a draft, but this repository does not support drafts.\n\n';

/** Creates a pull request. Private repositories on GitHub's free plans have no drafts, so a warning takes their place. */
async function create(octokit: Octokit, wanted: WantedPull, request: { signal?: AbortSignal }) {
  const path = 'POST /repos/{owner}/{repo}/pulls';
  try {
    return await octokit.request(path, { ...wanted, request });
  } catch (error) {
    if (!wanted.draft || !isDraftRefused(error)) throw error;
    return octokit.request(path, { ...wanted, draft: false, body: noDraft + wanted.body, request });
  }
}

/**
 * Returns whether GitHub has no drafts in a repository. Its words are "Draft pull requests are not supported in this
 * repository", over REST with status 422.
 */
export function isDraftRefused(error: unknown): boolean {
  return /draft pull requests are not supported/i.test((error as Error).message);
}

/**
 * Marks a draft as ready for review, or the reverse, which only GitHub's GraphQL API can do.
 * @throws RunFailed `repository` when GitHub's answer does not confirm it
 */
export async function setDraft(octokit: Octokit, pull: FoundPull, isDraft: boolean): Promise<EnsuredPull> {
  const act = isDraft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview';
  const mutation = `mutation ($id: ID!) { ${act}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`;
  type Answer = { [act]?: { pullRequest?: { isDraft?: boolean } | null } | null } | undefined;
  const answer = await octokit.graphql<Answer>(mutation, { id: pull.nodeId });
  if (answer?.[act]?.pullRequest?.isDraft !== isDraft)
    throw new RunFailed('repository', `GitHub did not confirm that pull request #${pull.number} changed (${act})`);
  const { number, url, headSha, seenAt } = pull;
  return { number, url, headSha, seenAt, status: isDraft ? 'draft' : 'open' };
}

export interface FoundPull extends EnsuredPull {
  nodeId: string;
  body: string;
}

/** Finds the open pull request of a branch. Ignores pull requests from a fork's branch of the same name. */
export async function findPull(
  octokit: Octokit,
  { owner, repo, head }: Pick<WantedPull, 'owner' | 'repo' | 'head'>,
  request: { signal?: AbortSignal },
): Promise<FoundPull | undefined> {
  const answer = await octokit.request('GET /repos/{owner}/{repo}/pulls', {
    request,
    owner,
    repo,
    state: 'open',
    head: `${owner}:${head}`,
  });
  const own = answer.data.find((p) => p.head.ref === head && p.head.repo?.id === p.base.repo.id);
  if (own === undefined) return undefined;
  return {
    number: own.number,
    url: own.html_url,
    status: pullStatus(own),
    headSha: own.head.sha,
    seenAt: answeredAt(answer),
    nodeId: own.node_id,
    body: own.body ?? '',
  };
}

/**
 * Returns when GitHub gave an answer, by the clock that also dates comments. Our clock may differ from it, and the dates of
 * commits are chosen by their authors.
 */
export function answeredAt({ headers }: { headers: { date?: string | undefined } }): Date {
  const at = new Date(headers.date ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? new Date() : at;
}

/** Converts the state of a pull request in GitHub's API to our status. */
export function pullStatus(pull: {
  state: string;
  draft?: boolean | undefined;
  merged?: boolean;
  merged_at?: string | null;
}): PullStatus {
  if (pull.merged || pull.merged_at) return 'merged';
  if (pull.state === 'closed') return 'closed';
  return pull.draft ? 'draft' : 'open';
}
