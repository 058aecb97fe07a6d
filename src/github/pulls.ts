import { setTimeout as sleep } from 'node:timers/promises';
import type { Octokit } from '../app.ts';
import type { PullStatus } from '../db/work-tables.ts';

export interface OpenedPull {
  number: number;
  url: string;
  status: PullStatus;
  headSha: string;
}

/** Between the tries to open a pull request when GitHub stumbles; each looks first whether it is there by now. */
const retriesMs = [500, 2000, 8000];

interface WantedPull {
  owner: string;
  repo: string;
  head: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
}

/**
 * The open pull request of a branch: the one that is there (only from the same repository, never a fork's), else a new
 * one. When the answer to its creation got lost it is looked up again before it is tried again.
 */
export async function ensurePull(octokit: Octokit, wanted: WantedPull): Promise<OpenedPull> {
  for (let tries = 0; ; tries++) {
    const found = await findPull(octokit, wanted);
    if (found !== undefined) return found.status === 'draft' && !wanted.draft ? markReady(octokit, found) : found;
    try {
      const { data } = await octokit.request('POST /repos/{owner}/{repo}/pulls', { ...wanted });
      return { number: data.number, url: data.html_url, status: data.draft ? 'draft' : 'open', headSha: data.head.sha };
    } catch (error) {
      const pauseMs = retriesMs[tries];
      const isTheirs = ((error as { status?: number }).status ?? 500) >= 500;
      if (!isTheirs || pauseMs === undefined) throw error;
      await sleep(pauseMs);
    }
  }
}

/** Only GitHub's GraphQL interface can end a draft. */
async function markReady(octokit: Octokit, pull: FoundPull): Promise<OpenedPull> {
  await octokit.graphql(
    'mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { clientMutationId } }',
    { id: pull.nodeId },
  );
  return { ...pull, status: 'open' };
}

interface FoundPull extends OpenedPull {
  nodeId: string;
}

async function findPull(octokit: Octokit, { owner, repo, head }: WantedPull): Promise<FoundPull | undefined> {
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls', {
    owner,
    repo,
    state: 'open',
    head: `${owner}:${head}`,
  });
  const own = data.find((p) => p.head.ref === head && p.head.repo?.id === p.base.repo.id);
  if (own === undefined) return undefined;
  return { number: own.number, url: own.html_url, status: pullStatus(own), headSha: own.head.sha, nodeId: own.node_id };
}

/** The status of a pull request as we name it. */
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
