import type { Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';

/** What a merge put onto its branch: everything from `before` to `commit`. */
export interface MergedCommits {
  /** The commit of the branch with the whole pull request. */
  commit: string;
  /** The commit of the branch before it. */
  before: string;
}

/** GitHub shows at most this many commits at once. A rebase of more is not looked at. */
const maxCommits = 100;

// The REST API no longer says which commit merged a pull request (since version 2026-03-10).
const query = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      mergeCommit {
        oid parents(first: 2) { nodes { oid } }
        history(first: ${maxCommits}) { nodes { oid message authoredDate parents(first: 2) { nodes { oid } } } }
      }
      commits(last: ${maxCommits}) { totalCount nodes { commit { message authoredDate } } }
    }
  }
}`;

interface Shown {
  message: string;
  authoredDate: string;
}

interface OnBranch extends Shown {
  oid: string;
  parents: { nodes: ({ oid: string } | null)[] | null };
}

interface Answer {
  repository: {
    pullRequest: {
      mergeCommit: (Pick<OnBranch, 'oid' | 'parents'> & { history: { nodes: (OnBranch | null)[] | null } }) | null;
      commits: { totalCount: number; nodes: ({ commit: Shown } | null)[] | null };
    } | null;
  } | null;
}

/**
 * Reads which commits the merge of a pull request put onto its branch. A merge commit and a squash are one commit each. A rebase
 * puts a copy of each commit there, with its message and its author's date, one after the other.
 * @throws Error when GitHub does not say it, or shows only a part of a rebase
 */
export async function readMergedCommits(octokit: Octokit, name: RepoName, number: number): Promise<MergedCommits> {
  const answer = await octokit.graphql<Answer | undefined>(query, { ...name, number });
  const pull = answer?.repository?.pullRequest;
  const found = pull?.mergeCommit == null ? undefined : mergedCommits(pull.mergeCommit, pull.commits);
  if (found === undefined) throw new UnknownMerge(`GitHub does not say which commits pull request #${number} became`);
  return found;
}

/** GitHub does not say which commits a merge put onto its branch. */
export class UnknownMerge extends Error {}

type Pull = NonNullable<NonNullable<Answer['repository']>['pullRequest']>;

/** Finds the commits of a merge in what GitHub shows; undefined if it does not show enough. */
export function mergedCommits(
  merge: NonNullable<Pull['mergeCommit']>,
  { totalCount, nodes }: Pull['commits'],
): MergedCommits | undefined {
  const parents = idsOf(merge);
  const [before] = parents;
  if (before === undefined) return undefined;
  const squashed = { commit: merge.oid, before };
  if (parents.length > 1 || totalCount < 2) return squashed;
  const own = (nodes ?? []).flatMap((each) => each?.commit ?? []).toReversed();
  const onBranch = (merge.history.nodes ?? []).filter((each) => each !== null);
  let next: string = merge.oid;
  let copies = 0;
  for (const commit of own) {
    const copy = onBranch.find(({ oid }) => oid === next);
    if (copy === undefined) return undefined;
    // A rebase leaves out commits that change nothing any more. A squash is not a copy of any commit.
    if (!isCopy(copy, commit)) continue;
    const [parent] = idsOf(copy);
    if (parent === undefined) return undefined;
    next = parent;
    copies++;
  }
  if (copies === 0) return squashed;
  return own.length < totalCount ? undefined : { commit: merge.oid, before: next };
}

const idsOf = ({ parents }: Pick<OnBranch, 'parents'>) => (parents.nodes ?? []).flatMap((each) => each?.oid ?? []);

const isCopy = (copy: Shown, commit: Shown) =>
  copy.message.trim() === commit.message.trim() && copy.authoredDate === commit.authoredDate;
