import type { Octokit, PacedRequest } from '../../app.ts';
import type { MergeMethod } from '../../domain/settings.ts';
import type { RepoName } from '../../git/remote-url.ts';
import type { Merging } from './store.ts';

// GitHub's auto-merge and its merge queue exist in its GraphQL API only.

/** What GitHub shows of a pull request that is to be merged when it is ready. */
export interface SeenMerge {
  id: string;
  headSha: string;
  /** The branch into which GitHub merges it. */
  base: string;
  /** Whether pull requests to its base branch are merged by the merge queue. */
  hasQueue: boolean;
  /** Whether nothing is missing that its base branch requires; GitHub calls it `CLEAN`, `BEHIND`, `BLOCKED` and so on. */
  mergeState: string;
  /** What GitHub does to merge it; null when it does nothing. */
  merging: Merging | null;
  /** When it was taken from the queue, or auto-merge was turned off, for the last time. */
  ended: Ended | null;
}

interface Ended {
  what: 'queue' | 'auto-merge';
  at: Date;
  /** GitHub's name for the reason, such as `CI_FAILURE`, or its words. */
  reason: string | null;
  /** The commit that the queue tested. */
  commit: string | null;
}

const query = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      id headRefOid baseRefName mergeStateStatus isMergeQueueEnabled
      autoMergeRequest { enabledAt }
      mergeQueueEntry { enqueuedAt state }
      timelineItems(itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT, AUTO_MERGE_DISABLED_EVENT], last: 1) {
        nodes {
          __typename
          ... on RemovedFromMergeQueueEvent { createdAt reason beforeCommit { oid } }
          ... on AutoMergeDisabledEvent { createdAt reason }
        }
      }
    }
  }
}`;

interface EndNode {
  __typename: string;
  createdAt: string;
  reason?: string | null;
  beforeCommit?: { oid: string } | null;
}

interface Answer {
  repository: {
    pullRequest: {
      id: string;
      headRefOid: string;
      baseRefName: string;
      mergeStateStatus: string;
      isMergeQueueEnabled: boolean;
      autoMergeRequest: { enabledAt: string | null } | null;
      mergeQueueEntry: { enqueuedAt: string; state: string } | null;
      timelineItems: { nodes: (EndNode | null)[] | null };
    } | null;
  } | null;
}

/** Reads what GitHub does to merge a pull request. */
export async function readMerge(octokit: Octokit, name: RepoName, number: number): Promise<SeenMerge> {
  const answer = await octokit.graphql<Answer | undefined>(query, { ...name, number });
  const pull = answer?.repository?.pullRequest;
  if (!pull) throw new Error(`GitHub shows no pull request #${number} of ${name.owner}/${name.repo}`);
  const {
    id,
    headRefOid: headSha,
    baseRefName: base,
    isMergeQueueEnabled: hasQueue,
    mergeStateStatus: mergeState,
  } = pull;
  const last = pull.timelineItems.nodes?.at(-1);
  return { id, headSha, base, hasQueue, mergeState, merging: mergingOf(pull), ended: last ? endOf(last) : null };
}

function endOf({ __typename, createdAt, reason = null, beforeCommit }: EndNode): Ended {
  const what = __typename === 'RemovedFromMergeQueueEvent' ? 'queue' : 'auto-merge';
  return { what, at: new Date(createdAt), reason, commit: beforeCommit?.oid ?? null };
}

type ShownPull = NonNullable<NonNullable<Answer['repository']>['pullRequest']>;

function mergingOf({ mergeQueueEntry: entry, autoMergeRequest, mergeStateStatus }: ShownPull): Merging | null {
  if (entry !== null) {
    const isTested = entry.state === 'AWAITING_CHECKS';
    const reason = `It is in GitHub's merge queue${isTested ? ', and its checks run there' : ''}.`;
    return { state: 'queued', since: new Date(entry.enqueuedAt), reason };
  }
  if (autoMergeRequest === null) return null;
  const since = new Date(autoMergeRequest.enabledAt ?? Number.NaN);
  const known = Number.isNaN(since.getTime()) ? new Date(0) : since;
  return { state: 'waiting', since: known, reason: waits[mergeStateStatus] ?? 'GitHub merges it when it is ready.' };
}

const waits: Record<string, string> = {
  BLOCKED: 'It waits for the checks and reviews that its base branch requires.',
  BEHIND: 'It is behind its base branch, which requires branches to be up to date.',
  DIRTY: 'It conflicts with its base branch.',
};

/**
 * Turns on GitHub's auto-merge for a commit. `request` is an option of the call. Title and message stay those that the
 * repository's settings give.
 */
export async function enableAutoMerge(
  octokit: Octokit,
  { id, headSha }: SeenMerge,
  method: MergeMethod,
  request: PacedRequest,
): Promise<void> {
  await octokit.graphql(
    `mutation ($id: ID!, $headSha: GitObjectID!, $mergeMethod: PullRequestMergeMethod!) {
      enablePullRequestAutoMerge(input: { pullRequestId: $id, expectedHeadOid: $headSha, mergeMethod: $mergeMethod }) {
        pullRequest { id }
      }
    }`,
    { id, headSha, mergeMethod: method.toUpperCase(), request },
  );
}

/** Adds a commit to GitHub's merge queue. `request` is an option of the call. */
export async function enqueue(octokit: Octokit, { id, headSha }: SeenMerge, request: PacedRequest): Promise<void> {
  await octokit.graphql(
    `mutation ($id: ID!, $headSha: GitObjectID!) {
      enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $headSha }) { mergeQueueEntry { id } }
    }`,
    { id, headSha, request },
  );
}

const ends = {
  queued: 'mutation ($id: ID!) { dequeuePullRequest(input: { id: $id }) { clientMutationId } }',
  waiting: 'mutation ($id: ID!) { disablePullRequestAutoMerge(input: { pullRequestId: $id }) { clientMutationId } }',
};

/**
 * Takes a pull request from the merge queue and turns its auto-merge off. GitHub may report that this failed although it did
 * not, so what it shows afterwards counts. Returns whether there was anything to stop.
 * @throws the error of GitHub when it still merges the pull request
 */
export async function stopMerging(octokit: Octokit, name: RepoName, number: number): Promise<boolean> {
  let seen = await readMerge(octokit, name, number);
  const isMerging = seen.merging !== null;
  // A pull request that leaves the queue may keep its auto-merge.
  for (let tries = 0; seen.merging !== null; tries++) {
    let problem: unknown;
    const { id, merging } = seen;
    await octokit.graphql(ends[merging.state], { id, request: { isAhead: true } }).catch((error) => {
      problem = error;
    });
    seen = await readMerge(octokit, name, number);
    if (seen.merging?.state === merging.state || tries > 2)
      throw problem ?? new Error('GitHub did not confirm that it no longer merges the pull request');
  }
  return isMerging;
}
